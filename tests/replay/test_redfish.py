"""The BMC client against an HTTPS server on loopback: links followed, TLS checked, refusals not repeated, sizes bounded."""

from __future__ import annotations

import base64
import datetime
import ipaddress
import json
import ssl
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from auditor.collect import https
from auditor.collect.live import LiveCollector
from auditor.model import GapReason
from auditor.settings import Bmc
from auditor.workflows.project import load_project

ROOT = "/redfish/v1/UpdateService/FirmwareInventory"
PARTS = {"BMC_0": "7.1", "BIOS": "2.4", "CPLD_0": "9"}
SYSTEM = "/redfish/v1/Systems/X1"


class Board:
    """A made-up BMC: its resources by path, whether it knows `$expand`, the account it takes, and what it was asked."""

    def __init__(self) -> None:
        self.expands, self.account, self.delay = True, "audit:secret", 0.0
        self.asked: list[str] = []
        self.resources: dict[str, Any] = {
            "/redfish/v1/Systems": {"Members": [{"@odata.id": SYSTEM}]},
            SYSTEM: {"@odata.id": SYSTEM, "Manufacturer": "Example", "SerialNumber": "SN1"},
            f"{SYSTEM}/Bios": {"Attributes": {"NumaNodesPerSocket": "NPS1"}},
        }
        for name, version in PARTS.items():
            self.resources[f"{ROOT}/{name}"] = {"@odata.id": f"{ROOT}/{name}", "Id": name, "Name": name, "Version": version}
        self.resources[ROOT] = {"Members": [{"@odata.id": f"{ROOT}/{name}"} for name in PARTS]}

    def answer(self, path: str, login: str) -> tuple[int, bytes]:
        self.asked.append(path)
        time.sleep(self.delay)
        plain, _, query = path.partition("?")
        if login != self.account:
            return 401, b"{}"
        if plain not in self.resources or (query and not self.expands):
            return 404, b"{}"
        found = self.resources[plain]
        if query and "Members" in found:
            found = {**found, "Members": [self.resources.get(item["@odata.id"], item) for item in found["Members"]]}
        return 200, json.dumps(found).encode()


@pytest.fixture
def board(tmp_path: Path) -> Iterator[tuple[Board, str, Path]]:
    """The board, its address, and the certificate that signs for it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "bmc")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    authority, secret = tmp_path / "ca.pem", tmp_path / "key.pem"
    authority.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    secret.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    made = Board()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            login = base64.b64decode(self.headers.get("Authorization", "Basic ").partition(" ")[2]).decode()
            status, body = made.answer(self.path, login)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority, secret)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield made, f"127.0.0.1:{server.server_address[1]}", authority
    server.shutdown()
    server.server_close()


def collect(folder: Path, address: str, authority: Path | None, monkeypatch: pytest.MonkeyPatch, **more: Any) -> Any:
    """What a run gets from the one device of a project."""
    monkeypatch.setenv("AUDITOR_BMC_PASSWORD", "secret")
    (folder / "inventory").mkdir(exist_ok=True)
    (folder / "inventory" / "hosts.yaml").write_text(
        f"bmc-01: {{hostname: 127.0.0.1, platform: redfish, data: {{role: bmc, bmc_address: '{address}'}}}}\n"
    )
    trust = f", ca_file: {authority}" if authority else ""
    limits = "".join(f"  {name}: {value}\n" for name, value in more.items())
    (folder / "auditor.yaml").write_text(f"collection:\n  ssh_config: null\n  bmc: {{username: audit{trust}}}\n{limits}")
    project = load_project(folder)
    (collected,) = LiveCollector(project.inventory, project.settings.collection).collect(tuple(project.devices.values()), None)
    return collected


@pytest.mark.parametrize("expands", [True, False])
def test_the_inventory_comes_whole_whether_the_board_expands_or_not(
    board: tuple[Board, str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expands: bool
) -> None:
    made, address, authority = board
    made.expands = expands
    collected = collect(tmp_path, address, authority, monkeypatch)
    outputs = {output.command: output for output in collected.outputs}
    assert not any(output.failure for output in outputs.values())
    listed = json.loads(outputs[f"GET {ROOT}"].body)["Members"]
    assert {item["Id"]: item["Version"] for item in listed} == PARTS
    assert f"GET {SYSTEM}/Bios" in outputs
    assert "secret" not in repr(collected)


def test_a_certificate_that_nobody_vouches_for_is_a_gap_that_says_what_to_do(
    board: tuple[Board, str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, address, _ = board
    collected = collect(tmp_path, address, None, monkeypatch)
    assert not made.asked
    (gap,) = collected.gaps
    assert gap.reason is GapReason.UNREACHABLE
    assert "collection.bmc.ca_file" in gap.detail


def test_a_refused_account_is_tried_once(board: tuple[Board, str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, address, authority = board
    made.account = "audit:other"
    collected = collect(tmp_path, address, authority, monkeypatch)
    assert len(made.asked) == 1
    assert {gap.reason for gap in collected.gaps} == {GapReason.AUTH}


def test_an_answer_that_is_too_long_is_cut_and_said(
    board: tuple[Board, str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, address, authority = board
    made.resources[ROOT] = {"Members": [], "Padding": "x" * 200_000}
    collected = collect(tmp_path, address, authority, monkeypatch, max_output=10_000)
    (output,) = [output for output in collected.outputs if output.command == f"GET {ROOT}"]
    assert output.failure is GapReason.TRUNCATED


def test_a_slow_board_costs_its_deadline(board: tuple[Board, str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, address, authority = board
    made.delay = 3.0
    begin = time.monotonic()
    collected = collect(tmp_path, address, authority, monkeypatch, command_deadline=0.5, device_deadline=2)
    assert time.monotonic() - begin < 30
    assert GapReason.TIMEOUT in {*(gap.reason for gap in collected.gaps), *(output.failure for output in collected.outputs)}


def test_members_that_lead_elsewhere_are_not_followed() -> None:
    links = ["https://elsewhere/redfish/v1/x", "//elsewhere/x", "/other", "/redfish/v1/../../etc", "/redfish/v1/ok"]
    assert list(https._links({"Members": [{"@odata.id": link} for link in links]})) == ["/redfish/v1/ok"]


def test_a_password_stays_out_of_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDITOR_BMC_PASSWORD", "hunter2")
    assert "hunter2" not in repr(https.Login(Bmc(username="audit")))
