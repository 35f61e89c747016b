from auditor.report import formats


def test_the_formats_of_this_version_are_found_by_their_presence():
    assert {name: item.suffix for name, item in formats().items()} == {"text": ".txt", "json": ".json", "junit": ".xml"}
