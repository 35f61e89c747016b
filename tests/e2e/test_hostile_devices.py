"""What a device says is hostile: its secrets stay out of everything that is kept, its escapes out of every screen."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Auditor, Pod

SECRETS = {
    "community": "c0mmunity-Zq81",
    "tacacs": "t4cacs-Kx55",
    "password": "Passw0rd-Ww19",
    "hash": "$6$rounds=5000$saltsalt$Hq7Vn2mPzzzzzzzzzzzzz",
    "key": "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj",
    "snmp_user": "Auth-Pass-Ty77",
    "bgp": "bgp-Pw-Ux31",
}


def planted(pod: Pod, kind: str = "faulty") -> str:
    """A capture with a secret of every sort in it, on a device with a finding, whose outputs are cited and kept."""
    capture = pod.capture(kind, 1)
    for command in ("show runningconfiguration all", "cat /etc/sonic/config_db.json"):
        file = pod.output(capture, "leaf-05", command)
        document = json.loads(file.read_text())
        document["SNMP_COMMUNITY"] = {SECRETS["community"]: {"TYPE": "RO"}}
        document["SNMP_USER"] = {"watcher": {"SNMP_USER_AUTH_PASSWORD": SECRETS["snmp_user"]}}
        document["TACPLUS"] = {"global": {"passkey": SECRETS["tacacs"], "auth_type": "pap"}}
        document["LOCAL_USERS"] = {"ops": {"password": SECRETS["password"], "hash": SECRETS["hash"]}}
        document["CERT"] = {"pem": f"-----BEGIN PRIVATE KEY-----\n{SECRETS['key']}\n-----END PRIVATE KEY-----\n"}
        document["bgpraw"] = f"router bgp 65001\n neighbor 10.0.0.1 password {SECRETS['bgp']}\n"
        file.write_text(json.dumps(document, indent=4) + "\n")
    links = pod.output(capture, "gpu-01", "ip -j -d link")
    alias = f'"ifname":"eno1","ifalias":"password={SECRETS["password"]}"'
    links.write_text(links.read_text().replace('"ifname":"eno1"', alias, 1))
    return capture


def kept(folder: Path) -> Iterator[bytes]:
    """Everything below a project that is no capture, with compressed files as they were before."""
    import zstandard

    for file in folder.rglob("*"):
        if file.is_file() and "captures" not in file.relative_to(folder).parts:
            body = file.read_bytes()
            yield body
            if body.startswith(b"\x28\xb5\x2f\xfd"):
                yield zstandard.ZstdDecompressor().decompressobj().decompress(body)


@pytest.mark.parametrize("form", ["text", "json", "junit"])
def test_no_secret_reaches_the_database_the_raw_store_or_a_report(auditor: Auditor, pod: Pod, form: str) -> None:
    capture = planted(pod)
    answer = auditor("-C", str(pod.folder), "--log-json", "check", "--from", capture, "--format", form)
    assert answer.code == 1
    everything = list(kept(pod.folder))
    assert sum(map(len, everything)) > 100_000
    assert any(b"<redacted>" in body for body in everything), "the raw store is what is searched"
    for name, secret in SECRETS.items():
        assert secret not in answer.out + answer.err, name
        assert not any(secret.encode() in body for body in everything), name
    assert "lossless.roce_map" in answer.out, "the fault in the same output is still found"


def test_a_secret_that_is_a_key_or_a_value_hides_nothing_else(auditor: Auditor, pod: Pod) -> None:
    assert auditor("-C", str(pod.folder), "check", "--from", planted(pod, "clean")).code == 0


ESCAPE = "\x1b]0;owned\x07\x1b[2J\x1b[31m"
FORMULA = '=HYPERLINK("http://evil","x")'
MARKUP = "<script>alert(1)</script>&<![CDATA["


def hostile(pod: Pod) -> str:
    """A capture whose names and descriptions are attacks, on links with findings."""
    capture = pod.capture("faulty", 1)
    lldp = pod.output(capture, "gpu-02", "lldpctl -f json")
    text = lldp.read_text()
    at = text.index("leaf-03")
    lldp.write_text(text[:at] + json.dumps(ESCAPE + FORMULA + MARKUP)[1:-1] + text[at + len("leaf-03") :])
    running = pod.output(capture, "leaf-03", "show runningconfiguration all")
    document = json.loads(running.read_text())
    document["PORT"]["Ethernet4"]["description"] = ESCAPE + FORMULA + MARKUP + "\n# leaf-03: all is well\n"
    document["PORT"]["Ethernet4"]["alias"] = ESCAPE
    document["DEVICE_METADATA"]["localhost"]["hostname"] = ESCAPE + "leaf-03"
    running.write_text(json.dumps(document, indent=4) + "\n")
    version = pod.output(capture, "leaf-03", "show version")
    version.write_text(version.read_text().replace("202411.3", "202411.3" + ESCAPE))
    return capture


CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.mark.parametrize("form", ["text", "json", "junit"])
def test_no_report_carries_an_escape_of_a_device_to_the_screen(auditor: Auditor, pod: Pod, form: str) -> None:
    folder = str(pod.folder)
    auditor("-C", folder, "check", "--from", pod.capture("clean", 0))
    answer = auditor("-C", folder, "check", "--from", hostile(pod), "--format", form)
    assert answer.code == 1
    assert not CONTROL.search(answer.out)
    assert not CONTROL.search(answer.err)
    assert "firmware.os" in answer.out, "the hostile version is no allowed one"
    if form == "junit":
        from xml.etree import ElementTree

        assert ElementTree.fromstring(answer.out).tag == "testsuites"
        assert "<script>" not in answer.out
    for words in (["findings", "list"], ["runs", "list"]):
        assert not CONTROL.search(auditor("-C", folder, *words).out)


def test_a_name_of_a_file_or_folder_is_no_escape_either(auditor: Auditor, pod: Pod) -> None:
    capture = Path(pod.capture("clean", 1))
    shutil.copytree(capture / "leaf-01", capture / f"x{ESCAPE}")
    answer = auditor("-C", str(pod.folder), "check", "--from", str(capture))
    assert answer.code == 2
    assert "is no device name" in answer.err
    assert not CONTROL.search(answer.err)


def test_parse_shows_escapes_as_text(auditor: Auditor, pod: Pod, tmp_path: Path) -> None:
    file = pod.output(hostile(pod), "leaf-03", "show runningconfiguration all")
    answer = auditor("parse", "sonic", "show runningconfiguration all", str(file))
    assert answer.code == 0
    assert not CONTROL.search(answer.out)
