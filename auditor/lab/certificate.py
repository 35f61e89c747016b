"""Certificates for replayed devices: an authority made on the spot, and what it signs for 127.0.0.1."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_SIGNS = x509.KeyUsage(
    digital_signature=True, content_commitment=False, key_encipherment=False, data_encipherment=False, key_agreement=False,
    key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False,
)  # fmt: skip


class Authority:
    """A fresh authority whose certificate stands in `file`, and servers that it vouches for. Files go to `folder`."""

    def __init__(self, folder: Path, name: str = "lab authority") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(name)
        self._made = 0
        self.file = folder / f"{name.replace(' ', '-')}.pem"
        self.file.write_bytes(self._sign(self._name, self._key, authority=True).public_bytes(serialization.Encoding.PEM))

    def context(self) -> ssl.SSLContext:
        """The server side of TLS, with a certificate for 127.0.0.1 of its own."""
        key = ec.generate_private_key(ec.SECP256R1())
        self._made += 1
        file = self._folder / f"{self.file.stem}-{self._made}.pem"
        secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        file.touch(mode=0o600)
        file.write_bytes(secret + self._sign(_named("device"), key).public_bytes(serialization.Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _sign(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, *, authority: bool = False) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=7))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        )
        # Python 3.13 refuses certificates that lack these.
        own, signer = (x509.SubjectKeyIdentifier.from_public_key(one.public_key()) for one in (key, self._key))
        builder = builder.add_extension(own, critical=False).add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(signer), critical=False
        )
        if authority:
            builder = builder.add_extension(_SIGNS, critical=True)
        else:
            address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
            builder = builder.add_extension(x509.SubjectAlternativeName([address]), critical=False)
        return builder.sign(self._key, hashes.SHA256())


def _named(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
