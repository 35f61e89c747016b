import pytest

from auditor import yamldoc
from auditor.errors import BaselineError, FileError

TEXT = """\
profile: roce-leaf
expect:
  - id: mtu.compute
    eq: 9100
  - {id: mtu.spine, eq: 9100}
"""


def parse(text):
    return yamldoc.parse(text, "x.yaml", BaselineError)


def test_plain_data_with_the_line_of_every_value():
    document = parse(TEXT)
    assert document.data["expect"][0] == {"id": "mtu.compute", "eq": 9100}
    assert document.line("profile") == 1
    assert document.line("expect", 0, "eq") == 4
    assert document.line("expect", 1, "id") == 5


def test_a_path_that_is_not_there_has_the_line_of_its_parent():
    assert parse(TEXT).line("expect", 0, "severity") == 3
    assert parse(TEXT).line("nothing") == 1


def test_an_error_of_a_document_points_at_its_line():
    error = parse(TEXT).error(BaselineError, "must be below 9000", "expect", 0, "eq")
    assert isinstance(error, BaselineError)
    assert str(error) == "x.yaml:4: must be below 9000"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\na: 2\n", 2, "key 'a' stands twice"),
        ("a: &x 1\nb: *x\n", 2, "aliases"),
        ("a: [1, 2\nb: 3\n", 2, "not YAML"),
        ("a: !!python/object:os.system x\n", 1, "not YAML"),
        ("a: 2026-13-45\n", 1, "not YAML"),
        ("base: {b: 1}\n<<: {c: 1}\n", 2, "keys must be plain words"),
        ("? [a, b]\n: 1\n", 1, "keys must be plain words"),
        ("a: 1\n---\nb: 2\n", 2, "not YAML"),
    ],
)
def test_what_is_not_strict_yaml_is_refused_with_file_and_line(text, line, words):
    with pytest.raises(BaselineError) as caught:
        parse(text)
    assert (caught.value.file, caught.value.line) == ("x.yaml", line)
    assert words in str(caught.value)


def test_control_characters_are_refused_with_the_file():
    with pytest.raises(BaselineError, match=r"x\.yaml.*not YAML"):
        parse("a: \x01\n")


def test_deep_nesting_is_refused():
    with pytest.raises(BaselineError, match="nested deeper than 40 levels"):
        parse("[" * 41 + "]" * 41)
    with pytest.raises(BaselineError, match="nest"):
        parse("[" * 100_000)


def test_keys_are_texts_even_when_they_look_like_numbers():
    assert parse("1: a\nyes: b\n").data == {"1": "a", "yes": "b"}


def test_an_empty_document_is_nothing():
    assert parse("").data is None
    assert parse("# only words\n").data is None


def test_reading_names_the_file_and_the_reason(tmp_path):
    with pytest.raises(FileError, match="cannot be read: No such file"):
        yamldoc.read(tmp_path / "none.yaml")
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"a: \xff\xfe\n")
    with pytest.raises(FileError, match=r"binary.yaml: is not UTF-8 text \(byte 3\)"):
        yamldoc.read(binary)
    large = tmp_path / "large.yaml"
    large.write_bytes(b"#" * (yamldoc.MAX_BYTES + 1))
    with pytest.raises(FileError, match="is larger than"):
        yamldoc.read(large)
    with pytest.raises(FileError, match="cannot be read"):
        yamldoc.read(tmp_path)


def test_what_is_dumped_reads_back_in_order():
    data = {"b": [1, "two", None, True], "a": {"umlaut": "ü", "long": "x" * 300}}
    text = yamldoc.dump(data)
    assert parse(text).data == data
    assert text.index("b:") < text.index("a:")
    assert "ü" in text
