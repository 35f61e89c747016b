from tests.golden.rulecases import judge


def test_many_gaps_are_listed_up_to_a_bound():
    gaps = [{"table": "qos_port", "reason": "unparsed", "key": [f"Ethernet{n}"], "source": "x"} for n in range(300)]
    message = judge("collection.partial", {"gaps": gaps})["system"]["message"]
    assert message.endswith("and 288 more")
    assert len(message) < 1000


def test_the_same_gap_is_told_once():
    gaps = [{"table": "queue", "reason": "timeout", "source": "pfcwd"}] * 3
    assert judge("collection.partial", {"gaps": gaps})["system"]["message"] == (
        "not everything could be seen: queue from pfcwd: timeout"
    )
