"""What the software of a host is told: the environment of the collective library, and which units start with the system."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor.address import Layer
from auditor.dialects import nccl_env as dialect
from auditor.errors import NormaliseError
from auditor.facts import NcclEnv, Service
from auditor.model import REDACTED, Fill, GapReason, Normalised, Normaliser, Parameter, Parser, Source, Unread

CONF, JOB = "/etc/nccl.conf", "nccl_env"


def nccl_conf(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The library's own file. That it is not there is an answer too: it sets nothing."""
    if re.search(rf"^cat: {CONF}: No such file", body, re.MULTILINE) is None:
        yield from _variables(CONF, dialect.nccl_conf(body))


def nccl_env(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The environment file of a job; its name is that of the capture's file."""
    source = parameters.get("name", JOB)
    try:
        assignments, other = dialect.environment(body)
    except ValueError as error:
        raise NormaliseError("nccl_env", source, str(error)) from error
    yield from _variables(source, assignments)
    if other:
        detail = f"line {other[0]} is no assignment" + (f" (and {len(other) - 1} more)" if len(other) > 1 else "")
        yield Unread(NcclEnv, (source,), detail=f"{detail}: it may set variables")


def _variables(source: str, assignments: Iterator[dialect.Assignment] | list[dialect.Assignment]) -> Iterator[Normalised]:
    for item in assignments:
        if item.value is None or REDACTED in item.value:
            yield Unread(NcclEnv, (source, item.name), "value", detail=item.why or "redacted")
        else:
            yield NcclEnv(source=source, variable=item.name, value=item.value)


_UNIT = re.compile(r"\s*(\S+\.service)\s+([a-z]+(?:-[a-z]+)*)(?:\s+(?:-|[a-z]+))?\s*")


def unit_files(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Every service unit and its unit-file state. A third column, the vendor's preset, is not read."""
    for line in body.splitlines():
        found = _UNIT.fullmatch(line)
        if found is not None and "…" not in found.group(1):
            yield Service(name=found.group(1), enabled=found.group(2))
        elif line.strip() and not re.match(r"UNIT FILE\s+STATE\b|\d+ unit files listed", line):
            yield Unread(Service, reason=GapReason.TRUNCATED, detail=f"no unit with a state: {line.strip()[:60]!r}")


def _environment(key: str, command: str, normalise: Normaliser, *, only: tuple[str, ...] = (), **more: object) -> Source:
    return Source(
        key=key, command=command, fills=(Fill(NcclEnv, Layer.CONFIGURED, ("value",), only=only),), parser=Parser.TEXT,
        normalise=normalise, empty=True, proof={"nccl_env": r"^\s*(?:export\s.*)?\b{1}\s*="}, seconds=5.0, **more,  # type: ignore[arg-type]
    )  # fmt: skip


SOURCES = (
    _environment(
        "nccl_conf", f"cat {CONF}", nccl_conf, only=(CONF,), ok_status=(0, 1),
        proven_by="NCCL's user guide, configuration files; setEnvFile in NCCL's param.cc, which any user's process reads",
    ),
    # Which files a job uses is a matter of the site, so nothing asks for them: captures hold them as nccl_env.txt or,
    # several of them, as nccl_env_NAME.txt.
    _environment(
        "nccl_env", JOB, nccl_env, only=(JOB,), sent=False, proven_by="environment files of jobs in NCCL's issue tracker"
    ),
    _environment(
        "nccl_env_named", "nccl_env {name}", nccl_env, sent=False, parameter=Parameter("name", (), lambda _body: ()),
        proven_by="the same file under another name",
    ),
    Source(
        key="unit_files", command="systemctl list-unit-files --type=service --full --no-legend --no-pager",
        aliases=(
            "systemctl list-unit-files --type=service --no-legend --no-pager", "systemctl list-unit-files --type=service",
            "systemctl list-unit-files --type=service --no-pager", "systemctl list-unit-files --type=service --no-legend",
        ),
        fills=(Fill(Service, Layer.CONFIGURED, ("enabled",)),),
        parser=Parser.TEXT, normalise=unit_files, anchor=(r"^\s*\S+\.service\s+[a-z]",), proof={"service": r"^\s*{0}\s"},
        proven_by="systemd 252 on a Debian host; systemctl(1): list-unit-files exits 0 whatever the states are",
    ),
)  # fmt: skip
