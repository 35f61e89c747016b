import pytest
from pydantic import TypeAdapter, ValidationError

from auditor.checks.lossless import BufferIntent, buffer_mode
from tests.golden.rulecases import judge

ROCE = {"planes": {"compute": {"classes": [{"name": "roce", "dscp": [26], "priority": 3}]}}}


def test_buffer_intent_knows_its_words():
    adapter = TypeAdapter(buffer_mode.params_type)
    assert adapter.validate_python({"model": "dynamic"}) == BufferIntent(mode=None, model="dynamic", why="")
    for bad in ({"model": "traditional"}, {"mode": "roce"}, {"modell": "dynamic"}):
        with pytest.raises(ValidationError):
            adapter.validate_python(bad)


def test_ports_that_fail_alike_say_the_same_so_that_they_fold_into_one_cause():
    ports = [f"Ethernet{n}" for n in range(0, 64, 8)]
    said = judge(
        "lossless.watchdog_missing",
        {
            "role": "leaf",
            "fabric": ROCE,
            "groups": {"compute": ports},
            "facts": {
                "qos_port@configured": {
                    "columns": ["pfc_priorities", "pfc_to_queue"],
                    "rows": [{"port": port, "pfc_priorities": [3, 4]} for port in ports],
                },
                "queue@configured": {"columns": ["watchdog_enabled"], "rows": []},
            },
        },
    )
    assert len(said) == 8
    assert {(item["verdict"], item["expected"], item["observed"]) for item in said.values()} == {
        ("fail", "PFC watchdog on every queue with PFC", "no watchdog on queue 3")
    }
