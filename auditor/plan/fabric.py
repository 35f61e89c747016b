"""`fabric.yaml`: planes with their traffic classes, further port groups, and which NIC of a model sits where.

```yaml
planes:
  compute:
    rdma_mtu: 4096                 # RDMA MTU that every path must carry
    encapsulation: [vxlan]         # what every packet is wrapped into between switches: vxlan, vxlan6, gre, ipsec, macsec
    overhead_bytes: 0              # what anything else takes of a packet
    classes:
      - {name: roce, dscp: [26], priority: 3, cnp_dscp: 48}     # lossless unless it says lossless: false
port_groups:
  uplink_a: {pattern: "Ethernet[0-9]", role: leaf}              # by the device's interface names
  storage_ports: {tag: {plane: storage}}                        # planned ports, by a column of the plan
  to_spine: {peer_role: spine}                                  # planned ports, by the role of the far end
nics: {model-x: {nic0: "0000:18:00.0"}}
rail_scheme: one leaf per rail
separate: [[storage, oob]]         # planes of which no two may share a switch or a cable
fabrics:                           # InfiniBand: which plane hangs on which adapter of the fabric-manager hosts
  - {plane: storage, hca: mlx5_2, port: 1}
```

A port group with `tag` or `peer_role` selects planned ports (`pattern` then narrows them by planned name); one with
`pattern` alone selects all interfaces of the device. `role` limits a group to devices of that role. Texts are globs, and
a list means any of them.

GUIDs are the same in no two InfiniBand fabrics, so links are judged without `fabrics`. It names the plane that could not be seen
when an adapter did not answer; without it that is every plane.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from auditor import canonical, yamldoc
from auditor.errors import ErrorList, PlanError
from auditor.model import Fabric, FabricAdapter, Plane, TrafficClass, digest
from auditor.plan.groups import BUILT_IN
from auditor.yamldoc import Path_, YamlDocument

OVERHEADS = {"vxlan": 50, "vxlan6": 70, "gre": 24, "ipsec": 57, "macsec": 32}
"""Bytes that a wrapping takes of an IP packet on the cable.

vxlan: inner Ethernet 14, VXLAN 8, UDP 8, outer IPv4 20 (RFC 7348, section 5); vxlan6 with outer IPv6 40. gre: GRE 4, outer
IPv4 20 (RFC 2784). ipsec: ESP in tunnel mode with AES-GCM: outer IPv4 20, ESP 8, IV 8, padding up to 3, trailer 2, ICV 16 (RFC
4303, RFC 4106). macsec: SecTAG with SCI 16, ICV 16 (IEEE 802.1AE, clause 9).
"""

_NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]*$"


def _texts(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


_Name = Annotated[str, Field(pattern=_NAME, max_length=64)]
_Texts = Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1), BeforeValidator(_texts)]
_Dscp = Annotated[int, Field(ge=0, le=63)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Class(_Part):
    name: _Name
    dscp: list[_Dscp] = Field(min_length=1)
    priority: int = Field(ge=0, le=7)
    cnp_dscp: _Dscp | None = None
    lossless: bool = True


class _Plane(_Part):
    classes: list[_Class] = []
    rdma_mtu: Literal[256, 512, 1024, 2048, 4096] | None = None
    encapsulation: list[Literal["vxlan", "vxlan6", "gre", "ipsec", "macsec"]] = []
    overhead_bytes: int = Field(0, ge=0, le=1024)


class _Group(_Part):
    pattern: _Texts | None = None
    tag: dict[str, _Texts] | None = Field(None, min_length=1)
    peer_role: _Texts | None = None
    role: _Texts | None = None


class _Adapter(_Part):
    plane: _Name
    hca: _Name
    port: int | None = Field(None, ge=1, le=254)


class _Document(_Part):
    planes: dict[_Name, _Plane] = {}
    port_groups: dict[_Name, _Group] = {}
    nics: dict[str, dict[str, str]] = {}
    rail_scheme: str = ""
    separate: list[Annotated[list[_Name], Field(min_length=2)]] = []
    fabrics: list[_Adapter] = []


_KEYS = [name for model in (_Class, _Plane, _Group, _Adapter, _Document) for name in model.model_fields]


def read_fabric(file: Path) -> Fabric:
    """Read `fabric.yaml`; raises PlanError, or ErrorList with all of its errors."""
    return _fabric(yamldoc.read(file, PlanError))


def parse_fabric(text: str, name: str = "fabric.yaml") -> Fabric:
    """Read the text of a fabric document; `name` is named in errors."""
    return _fabric(yamldoc.parse(text, name, PlanError))


def _fabric(document: YamlDocument) -> Fabric:
    data = {} if document.data is None else document.data
    if not isinstance(data, dict):
        raise document.error(PlanError, "must be a mapping with planes, port_groups, nics, rail_scheme, separate, fabrics")
    try:
        read = _Document.model_validate(data)
    except ValidationError as problem:
        raise ErrorList([_readable(document, one) for one in problem.errors(include_url=False)]) from None
    errors = [document.error(PlanError, message, *path) for path, message in _inconsistent(read)]
    nics = {model: _addresses(document, model, cards, errors) for model, cards in read.nics.items()}
    if errors:
        raise ErrorList(list(errors))
    return Fabric(
        planes={name: _plane(name, plane) for name, plane in read.planes.items()},
        port_groups={name: group.model_dump(exclude_none=True) for name, group in read.port_groups.items()},
        nics=nics,
        rail_scheme=read.rail_scheme,
        fabrics=tuple(FabricAdapter(item.plane, item.hca, item.port) for item in read.fabrics),
        separate=tuple(map(tuple, read.separate)),
        document=data,
        digest=digest(document.text),
        file=document.file,
        text=document.text,
    )


def _plane(name: str, plane: _Plane) -> Plane:
    classes = tuple(
        TrafficClass(item.name, tuple(sorted(set(item.dscp))), item.priority, item.cnp_dscp, item.lossless)
        for item in plane.classes
    )
    return Plane(name, classes, plane.rdma_mtu, plane.overhead_bytes + sum(OVERHEADS[item] for item in plane.encapsulation))


def _readable(document: YamlDocument, one: Any) -> PlanError:
    path = tuple(part for part in one["loc"] if part != "[key]")
    where = ".".join(map(str, path))
    message = f"{where}: {one['msg'].removeprefix('Value error, ')}"
    if one["type"] == "extra_forbidden":
        close = get_close_matches(str(path[-1]), [key for key in _KEYS if key != path[-1]], n=1)
        message = f"{where}: no such key" + (f" (did you mean {close[0]!r}?)" if close else "")
    found = document.error(PlanError, message, *path)
    assert isinstance(found, PlanError)
    return found


def _inconsistent(read: _Document) -> Iterator[tuple[Path_, str]]:
    """What no single value shows: one DSCP in two classes, one priority both lossless and lossy, clashing names."""
    for name, plane in read.planes.items():
        by_dscp: dict[int, str] = {}
        by_priority: dict[int, _Class] = {}
        names: set[str] = set()
        for at, item in enumerate(plane.classes):
            path: Path_ = ("planes", name, "classes", at)
            if item.name in names:
                yield (*path, "name"), f"plane {name} has two classes named {item.name}"
            names.add(item.name)
            for dscp in set(item.dscp):
                if by_dscp.setdefault(dscp, item.name) != item.name:
                    yield (*path, "dscp"), f"DSCP {dscp} is in class {by_dscp[dscp]} and in class {item.name} of plane {name}"
            other = by_priority.setdefault(item.priority, item)
            if other.lossless is not item.lossless:
                both = f"{other.name} and {item.name}"
                words = f"priority {item.priority} of plane {name} cannot be lossless in one of {both} and lossy in the other"
                yield (*path, "priority"), words
        if name in BUILT_IN:
            yield ("planes", name), f"{name} is the name of a port group that always exists; name the plane otherwise"
    for name, group in read.port_groups.items():
        if name in BUILT_IN or name in read.planes:
            yield ("port_groups", name), f"there is a port group {name} already: planes and {', '.join(BUILT_IN)} are groups"
        if group.pattern is None and group.tag is None and group.peer_role is None:
            yield ("port_groups", name), f"port group {name} selects nothing: give pattern, tag or peer_role"
    hung: dict[tuple[str, int | None], str] = {}
    for at, adapter in enumerate(read.fabrics):
        known = hung.setdefault((adapter.hca, adapter.port), adapter.plane)
        if known != adapter.plane:
            where = adapter.hca if adapter.port is None else f"port {adapter.port} of {adapter.hca}"
            yield ("fabrics", at, "hca"), f"{where} hangs in plane {known} already, and not in {adapter.plane} as well"


def _addresses(document: YamlDocument, model: str, cards: dict[str, str], errors: list[Any]) -> dict[str, str]:
    out = {}
    for name, address in cards.items():
        try:
            out[name] = canonical.pci(address)
        except ValueError as problem:
            errors.append(document.error(PlanError, f"nics.{model}.{name}: {problem}", "nics", model, name))
    return out
