"""The layer rules on a switch's own words: CONFIG_DB, the saved file and APPL_DB, read by the platform."""

import json
from copy import deepcopy
from datetime import UTC, datetime

import pytest

from auditor.checks import rules
from auditor.model import RawOutput, RuleContext, digest
from auditor.parse import parse_device
from auditor.platforms import platforms

AT = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
FILE = "config_file[/etc/sonic/config_db.json]"
CONFIG = {
    "DEVICE_METADATA": {"localhost": {"hostname": "leaf-09", "hwsku": "Model-9"}},
    "PORT": {
        "Ethernet0": {"lanes": "0,1,2,3", "alias": "etp1", "speed": "100000", "mtu": "9100", "admin_status": "up", "fec": "rs"},
        "Ethernet4": {"lanes": "4,5,6,7", "alias": "etp2", "speed": "100000", "mtu": "9100", "admin_status": "down"},
    },
    "CABLE_LENGTH": {"AZURE": {"Ethernet0": "5m", "Ethernet4": "5m"}},
    "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3"}},
    "BUFFER_POOL": {"ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "30000000"}},
    "BUFFER_PROFILE": {
        "roce": {"pool": "ingress_lossless_pool", "size": "20000", "xoff": "40000", "xon": "18000", "static_th": "8000000"},
        "pg_lossless_100000_5m_profile": {
            "pool": "ingress_lossless_pool", "size": "20000", "xoff": "40000", "xon": "18000", "dynamic_th": "0",
        },
    },
    "BUFFER_PG": {"Ethernet0|3": {"profile": "roce"}, "Ethernet4|3": {"profile": "pg_lossless_100000_5m_profile"}},
}  # fmt: skip


def applied(config):
    """APPL_DB dumps of a switch that took everything over, but for the groups of ports that are down."""
    down = {port for port, fields in config["PORT"].items() if fields["admin_status"] == "down"}
    ports = {f"PORT_TABLE:{name}": fields for name, fields in config["PORT"].items()}
    buffers = {
        f"{table}_TABLE:{key.replace('|', ':')}": fields
        for table in ("BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG")
        for key, fields in config[table].items()
        if table != "BUFFER_PG" or key.split("|")[0] not in down
    }
    return {"appl_db_ports": dump(ports), "appl_db_buffers": dump(buffers)}


def dump(rows):
    return {key: {"expireat": 1772330400.0, "ttl": -0.001, "type": "hash", "value": fields} for key, fields in rows.items()}


def judge(rule, outputs):
    texts = {key: body if isinstance(body, str) else json.dumps(body, indent=4) for key, body in outputs.items()}
    raw = [RawOutput("leaf-09", "sonic", key, key, body, digest(body), AT) for key, body in texts.items()]
    state = parse_device("leaf-09", raw, platforms(), names=("sonic",))
    return {str(item.object): item for item in rules()[f"lifecycle.{rule}"].function(state, RuleContext(role="leaf"))}


def verdicts(rule, outputs):
    return {name: str(item.verdict) for name, item in judge(rule, outputs).items()}


@pytest.fixture
def config():
    return deepcopy(CONFIG)


def test_a_switch_that_took_everything_over(config):
    said = verdicts("unapplied", {"config_db": config, **applied(config)})
    assert {name: verdict for name, verdict in said.items() if verdict == "pass"}.keys() == {
        "interface[Ethernet0]",
        "interface[Ethernet4]",
        "priority_group[Ethernet0,3]",
        "buffer_pool[ingress_lossless_pool]",
    }
    assert "fail" not in said.values()


def test_tables_that_go_straight_to_the_asic_say_which_layer_was_read(config):
    said = judge("unapplied", {"config_db": config, **applied(config)})
    gap = said["qos_port"].gap
    assert str(gap.reason) == "unsupported"
    assert gap.detail.startswith("read: configured; applied not collected")


def test_a_static_threshold_that_was_passed_on_as_a_dynamic_one(config):
    dumps = applied(config)
    profile = dumps["appl_db_buffers"]["BUFFER_PROFILE_TABLE:roce"]
    profile["value"] = {"dynamic_th" if name == "static_th" else name: value for name, value in profile["value"].items()}
    deviation = judge("unapplied", {"config_db": config, **dumps})["priority_group[Ethernet0,3]"].deviation
    assert "the applied threshold type differs from the configured one" in deviation.message
    assert str(deviation.shared) == "buffer_profile[roce]"


def test_what_the_dynamic_model_computes_is_no_difference(config):
    dumps = applied(config)
    config["DEVICE_METADATA"]["localhost"]["buffer_model"] = "dynamic"
    config["BUFFER_PG"]["Ethernet0|3"] = {"profile": "NULL"}
    del config["BUFFER_POOL"]["ingress_lossless_pool"]["size"]
    dumps["appl_db_buffers"]["BUFFER_PG_TABLE:Ethernet0:3"]["value"] = {"profile": "pg_lossless_100000_5m_profile"}
    said = verdicts("unapplied", {"config_db": config, **dumps})
    assert said["priority_group[Ethernet0,3]"] == said["buffer_pool[ingress_lossless_pool]"] == "pass"
    assert "fail" not in said.values()


def test_a_group_of_the_dynamic_model_that_was_never_made(config):
    dumps = applied(config)
    config["DEVICE_METADATA"]["localhost"]["buffer_model"] = "dynamic"
    config["BUFFER_PG"]["Ethernet0|3"] = {"profile": "NULL"}
    del dumps["appl_db_buffers"]["BUFFER_PG_TABLE:Ethernet0:3"]
    assert verdicts("unapplied", {"config_db": config, **dumps})["priority_group[Ethernet0,3]"] == "fail"


def test_the_saved_file_that_is_the_running_configuration(config):
    assert verdicts("unsaved", {"config_db": config, "config_db_saved": config}) == {FILE: "pass"}


def test_a_change_that_was_not_saved(config):
    saved = deepcopy(config)
    saved["PORT_QOS_MAP"]["Ethernet0"] = {}
    (said,) = judge("unsaved", {"config_db": config, "config_db_saved": saved}).values()
    assert "qos_port[Ethernet0].pfc_priorities: 3 running, none saved" in said.deviation.message
    assert said.deviation.severity is None


def test_groups_that_the_switch_made_since_the_last_save(config):
    saved = deepcopy(config)
    del saved["BUFFER_PG"]["Ethernet4|3"]
    del saved["BUFFER_PROFILE"]["pg_lossless_100000_5m_profile"]
    assert verdicts("unsaved", {"config_db": config, "config_db_saved": saved}) == {FILE: "pass"}


@pytest.mark.parametrize(
    "text",
    [
        "cat: /etc/sonic/config_db.json: No such file or directory\n",
        '{"PORT": {"Ethernet0": {"mtu" "9100"}},\n "BUFFER_PG": {}}\n',
    ],
)
def test_a_file_that_cannot_be_loaded_is_an_error(config, text):
    said = judge("unsaved", {"config_db": config, "config_db_saved": text})
    assert {str(item.deviation.severity) for item in said.values()} == {"error"}


def test_a_file_that_stops_in_the_middle_may_be_the_answers_fault(config):
    text = json.dumps(config, indent=4)
    assert "fail" not in verdicts("unsaved", {"config_db": config, "config_db_saved": text[: len(text) // 2]}).values()


def test_several_asics_save_their_own_files(config):
    running = {"localhost": config, "asic0": {**config, "PORT": {"Ethernet-BP0": {"mtu": "9100", "admin_status": "up"}}}}
    (said,) = judge("unsaved", {"config_db": running, "config_db_saved": config}).values()
    assert str(said.gap.reason) == "unsupported"
    assert "asic0" in said.gap.detail
