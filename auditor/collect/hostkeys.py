"""known_hosts files, indexed: is this the key of the device we meant? Nothing is ever added to them."""

from __future__ import annotations

import base64
import binascii
import hmac
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import paramiko
from paramiko.hostkeys import HostKeyEntry, InvalidHostKey


class KnownHosts:
    """The keys of all files together. Plain, hashed and wildcard names and `@revoked` count; `@cert-authority` does not.

    Paramiko's own loader compares every line with every other: half a minute for 2,000 devices. A hashed line costs every
    device a computation (1 µs), a plain one nothing.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        self.files = tuple(files)
        self._plain: dict[str, list[paramiko.PKey]] = defaultdict(list)
        self._hashed: list[tuple[bytes, bytes, paramiko.PKey]] = []
        self._patterns: list[tuple[tuple[str, ...], paramiko.PKey]] = []
        self._revoked: set[bytes] = set()
        for file in self.files:
            if file.is_file():
                for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
                    self._take(line.strip())

    def _take(self, line: str) -> None:
        revoked = line.startswith("@revoked")
        if not line or line.startswith("#") or (line.startswith("@") and not revoked):
            return
        try:
            entry = HostKeyEntry.from_line(re.sub(r"[ \t]+", " ", line.removeprefix("@revoked").strip()))
        except (InvalidHostKey, paramiko.SSHException, ValueError):
            return
        if entry is None or entry.key is None:
            return
        names = [name for name in entry.hostnames or () if name]
        if revoked:
            self._revoked.add(entry.key.asbytes())
        elif any(re.search(r"[*?!]", name) for name in names):
            self._patterns.append((tuple(names), entry.key))
        else:
            for name in names:
                if name.startswith("|1|"):
                    self._hashed += [(*parts, entry.key) for parts in _hash_parts(name)]
                else:
                    self._plain[name].append(entry.key)

    def keys_of(self, names: Iterable[str]) -> list[paramiko.PKey]:
        """The keys known under any of these names (`host`, or `[host]:port` where the port is not 22)."""
        found: list[paramiko.PKey] = []
        for name in names:
            found += self._plain.get(name, ())
            word = name.encode()
            found += [key for salt, hashed, key in self._hashed if hmac.digest(salt, word, "sha1") == hashed]
            found += [key for patterns, key in self._patterns if _matches(name, patterns)]
        return found

    def problem(self, names: Iterable[str], key: paramiko.PKey) -> str | None:
        """Why this key is not accepted for these names, in words; None when it is the known one."""
        names = tuple(names)
        shown = f"{key.get_name()} {key.fingerprint}"
        if key.asbytes() in self._revoked:
            return f"the host key {shown} is revoked in known_hosts"
        known = self.keys_of(names)
        if not known:
            return f"unknown host key {shown}: no known_hosts file has {' or '.join(names)}"
        if all(one.asbytes() != key.asbytes() for one in known):
            have = ", ".join(f"{one.get_name()} {one.fingerprint}" for one in known[:3])
            return f"the host key changed: the device shows {shown}, known_hosts has {have}; refused"
        return None


def _hash_parts(name: str) -> Iterator[tuple[bytes, bytes]]:
    """Salt and HMAC of `|1|salt|hmac`; nothing for what is not of that form."""
    parts = name.split("|")
    if len(parts) == 4:
        try:
            yield base64.b64decode(parts[2]), base64.b64decode(parts[3])
        except binascii.Error:
            return


def lookup_name(host: str, port: int) -> str:
    """A host as known_hosts writes it."""
    return host if port == 22 else f"[{host}]:{port}"


def _matches(name: str, patterns: Iterable[str]) -> bool:
    matched = False
    for pattern in patterns:
        wanted = pattern.removeprefix("!").replace("[", "[[]")
        if fnmatchcase(name, wanted):
            if pattern.startswith("!"):
                return False
            matched = True
    return matched
