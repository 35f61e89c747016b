"""The NetBox client against a real HTTP server on loopback: certificates are checked, and the whole way to a plan works."""

from __future__ import annotations

import datetime
import ipaddress
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from auditor.cli import app
from auditor.collect.netbox import TOKEN, NetBox
from auditor.errors import SetupError
from auditor.workflows import netbox as story

POD = json.loads((Path(__file__).resolve().parents[2] / "fixtures" / "plans" / "netbox" / "pod.json").read_text("utf-8"))
SECRET = "0123456789abcdef0123456789abcdef01234567"


class Api(BaseHTTPRequestHandler):
    """Pages of three objects; `next` names a host that nobody can reach."""

    def do_GET(self) -> None:
        target = urlsplit(self.path)
        kind, query = target.path.removeprefix("/api/").strip("/"), parse_qs(target.query)
        if self.headers.get("Authorization") != f"Token {SECRET}":
            return self.reply(403, {"detail": "Invalid token"})
        if kind not in POD:
            return self.reply(404, {"detail": "Not found."})
        items, offset = POD[kind]["results"], int(query.get("offset", ["0"])[0])
        following = (
            f"http://netbox.internal.invalid:8001{target.path}?limit=3&offset={offset + 3}" if offset + 3 < len(items) else None
        )
        return self.reply(200, {"count": len(items), "next": following, "previous": None, "results": items[offset : offset + 3]})

    def reply(self, status: int, body: object) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        """Nothing to the screen."""


@contextmanager
def serving(context: ssl.SSLContext | None = None) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"{'https' if context else 'http'}://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate of 127.0.0.1, signed by itself, and its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "netbox test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "server.pem"
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM) + private)
    (tmp_path / "ca.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture(autouse=True)
def direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, SECRET)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def tls(file: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def test_a_certificate_that_nobody_vouches_for_is_refused_and_one_that_is_trusted_is_not(certificate: Path) -> None:
    with serving(tls(certificate)) as url:
        with NetBox(url) as server, pytest.raises(SetupError, match="--ca-file") as caught:
            server.devices()
        assert SECRET not in str(caught.value)
        with NetBox(url, ca_file=certificate.with_name("ca.pem")) as server:
            assert len(server.devices()) == 9


def test_a_file_without_certificates_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("nothing")
    with pytest.raises(SetupError, match="holds no certificates"):
        NetBox("https://127.0.0.1", ca_file=tmp_path / "ca.pem")


def test_nobody_there_is_one_clear_error() -> None:
    with serving() as url:
        pass
    with NetBox(url, sleep=lambda _: None) as server, pytest.raises(SetupError, match="cannot be asked: ConnectError"):
        server.devices()


def test_a_wrong_token_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, "f" * 40)
    with serving() as url, NetBox(url) as server, pytest.raises(SetupError, match="refuses the token") as caught:
        server.devices()
    assert "f" * 40 not in str(caught.value)


def test_cables_by_rest_are_the_plan_that_the_file_is() -> None:
    from auditor.plan.formats.netbox import read

    with serving() as url:
        fetched = story.cables(url, {})
    assert fetched.links == read(json.dumps(POD).encode(), "pod.json", {}).links


def test_from_netbox_to_an_inventory_and_a_plan_by_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "auditor.yaml").touch()
    run = CliRunner()
    with serving() as url:
        done = run.invoke(app, ["-C", str(tmp_path), "inventory", "import", "netbox", url, "--platform", "gpu-*=linux"])
        assert done.exit_code == 3, done.output
        assert (
            "new\tleaf-n1\tsonic role=leaf site=dc1 rack=R20 position=40 hardware_model=EX-64O status=accepted 192.0.2.1"
            in done.stdout
        )
        assert "left out: pp-n1: no platform is known" in done.stderr
        assert "7 new, 0 filled in, 0 as they were, 2 left out; written" in done.stderr
        again = run.invoke(app, ["-C", str(tmp_path), "inventory", "import", "netbox", url, "--platform", "gpu-*=linux"])
        assert "0 new, 0 filled in, 7 as they were, 2 left out; not changed" in again.stderr
        kept = run.invoke(app, ["inventory", "fetch", url, "-o", str(tmp_path / "netbox.json")])
    assert kept.exit_code == 0, kept.output
    assert "10 cables, 24 cable-terminations, 18 interfaces, 9 devices, 24 front-ports, 2 rear-ports" in kept.stderr
    assert SECRET not in done.output + again.output + kept.output + (tmp_path / "netbox.json").read_text()
    monkeypatch.delenv(TOKEN)
    offline = run.invoke(
        app, ["-C", str(tmp_path), "inventory", "import", "netbox", str(tmp_path / "netbox.json"), "--platform", "gpu-*=linux"]
    )
    assert "7 as they were" in offline.stderr
