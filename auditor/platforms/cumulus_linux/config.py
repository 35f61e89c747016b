"""`qos_features.conf` of Cumulus Linux, and `traffic.conf` before it: what is configured, for each front port.

The file speaks of groups of ports and of all others, and not of which ports there are. So it is asked for together with
`/proc/net/dev`, which lists them, in one command that puts the name of the file before each line. That of the second file proves
that the first one is whole; a line of it without its sixteen counters was cut. Nothing is read of a part.

- A line that begins with `#` is a comment, however much it looks like a setting: the file comes with an example of each.
- A group counts only if it stands in `port_group_list` of its feature. Ports are `swp1-swp4,swp6`, `swp7s0-swp7s3`, `swp1-4`, in
  brackets or not, or `allports`; a range takes the parts of breakouts that lie in it.
- A profile of a port replaces the setting of all ports ("Configurations with a profile override the global settings").
- What a RoCE mode of NVUE leaves in the file is not documented. So the file is asked for only where no port tells of such a mode,
  and even then what is not there is not concluded, but for the pause of the whole link, which is set there and nowhere else.
- NVIDIA's texts give `rx_enable` and `tx_enable` of PFC contrary meanings (3.7, 5.4), so only both or neither tells a direction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from auditor import canonical
from auditor.canonical import printable
from auditor.facts import QosPort, Queue
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.cumulus_linux import names

PORT = ("trust", "pfc_priorities", "pfc_direction", "global_pause_rx", "global_pause_tx")
QUEUE = ("ecn_enabled", "ecn_min_bytes", "ecn_max_bytes", "ecn_probability")
_SETTING = re.compile(r"^/etc/cumulus/[\w./-]+\.conf:[ \t]*([\w.-]+)[ \t]*=[ \t]*(\S.*|)$", re.MULTILINE)
_LISTED = re.compile(r"^/proc/net/dev: *([\w.@-]+):(.*)$", re.MULTILINE)
_COUNTERS = 16
_BEGIN_OF_PORTS = "/proc/net/dev:Inter-|"
_TRUST: Mapping[str, tuple[str, ...]] = {"802.1p": ("pcp",), "cos": ("pcp",), "dscp": ("dscp",), "port": ()}
_TRUE = {"true": True, "false": False}


def features(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The settings of every front port. Raises ValueError for a setting that stands twice with different values."""
    if _BEGIN_OF_PORTS not in body:
        return
    ports, settings = [], _settings(body)
    for name, counters in _LISTED.findall(body):
        if len(counters.split()) != _COUNTERS:
            for row_type in (QosPort, Queue):
                detail = f"the line of {printable(name, 40)!r} is cut, and ports behind it may be missing"
                yield Unread(row_type, reason=GapReason.TRUNCATED, detail=detail)
        elif names.is_port(name):
            ports.append(name)
    groups = {feature: _groups(settings, feature, ports) for feature in ("source", "pfc", "link_pause", "ecn_red")}
    own = {port: {feature: _own(found, port) for feature, found in groups.items()} for port in ports}
    for row_type, columns in ((QosPort, PORT[:3]), (Queue, QUEUE)):
        for column in columns:
            yield Unread(row_type, (), column, GapReason.UNSUPPORTED, "where the file sets nothing, a RoCE mode may")
    for port in ports:
        yield from _port(port, settings, own[port])
        yield from _queues(port, settings, own[port]["ecn_red"])


def _settings(body: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for label, raw in _SETTING.findall(body):
        value = raw.partition(" #")[0].strip()
        if found.setdefault(label, value) != value:
            raise ValueError(f"{printable(label, 80)} stands twice, as {found[label]!r} and {value!r}")
    return found


def _words(value: str) -> list[str]:
    return [word.strip() for word in value.removeprefix("[").removesuffix("]").split(",") if word.strip()]


def _groups(settings: Mapping[str, str], feature: str, ports: Sequence[str]) -> dict[str, tuple[str, frozenset[str]]]:
    """Group -> what its settings begin with, and its ports. ECN groups stand with and without the feature before their name."""
    found = {}
    for name in _words(settings.get(f"{feature}.port_group_list", "")):
        start = next((text for text in (f"{feature}.{name}.", f"{name}.") if f"{text}port_set" in settings), None)
        if start is not None:
            found[name] = start, _members(settings[f"{start}port_set"], ports)
    return found


def _members(value: str, ports: Sequence[str]) -> frozenset[str]:
    """The ports of a set, of those that there are. Raises ValueError for a set in another form."""
    out: set[str] = set()
    for word in _words(value):
        first, dash, last = word.partition("-")
        if dash and last.isdecimal():
            last = re.sub(r"\d+$", last, first)
        if word == "allports":
            out.update(ports)
        elif not names.is_port(first) or (dash and not names.is_port(last)):
            raise ValueError(f"no set of ports: {printable(value, 80)!r}")
        else:
            ends = canonical.natural(first), canonical.natural(last or first)
            out.update(port for port in ports if ends[0] <= canonical.natural(port) <= ends[1] or _part_of(port, last))
    return frozenset(out)


def _part_of(port: str, whole: str) -> bool:
    """Whether `swp4s0` lies in a range that ends with `swp4`."""
    return bool(whole) and "s" not in whole[3:] and port.startswith(f"{whole}s")


def _own(groups: Mapping[str, tuple[str, frozenset[str]]], port: str) -> str | None:
    """What the settings of the port's group begin with; None without one. Raises ValueError where it is in two."""
    found = [start for start, members in groups.values() if port in members]
    if len(found) > 1:
        raise ValueError(f"{port} is in more than one group: {printable(', '.join(found), 80)}")
    return found[0] if found else None


def _port(port: str, settings: Mapping[str, str], own: Mapping[str, str | None]) -> Iterator[Normalised]:
    words = _words(settings.get(f"{own['source'] or 'traffic.'}packet_priority_source_set", ""))
    known = bool(words) and set(words) <= _TRUST.keys()
    priorities = canonical.number_list(",".join(_words(settings.get(f"{own['pfc']}cos_list", "")))) if own["pfc"] else ()
    pfc = _ways(settings, own["pfc"]) if priorities else (None, None)
    pause = _ways(settings, own["link_pause"]) if own["link_pause"] else (False, False)
    yield QosPort(
        port=port,
        trust=tuple(sorted({told for word in words for told in _TRUST[word]})) if known else None,
        pfc_priorities=priorities or None,
        pfc_direction="both" if pfc == (True, True) else None,
        global_pause_rx=pause[0],
        global_pause_tx=pause[1],
    )
    if words and not known:
        yield Unread(QosPort, (port,), "trust", detail=f"{printable(', '.join(words), 60)!r} is not known")


def _ways(settings: Mapping[str, str], start: str | None) -> tuple[bool | None, bool | None]:
    """Whether pauses are received and sent, each None where that does not stand there."""
    rx, tx = (_TRUE.get(settings.get(f"{start}{way}_enable", "").lower()) for way in ("rx", "tx"))
    return rx, tx


def _queues(port: str, settings: Mapping[str, str], own: str | None) -> Iterator[Normalised]:
    start = own or next((text for text in ("default_ecn_red_conf.", "default_ecn_conf.") if f"{text}ecn_enable" in settings), "")
    on = _TRUE.get(settings.get(f"{start}ecn_enable", "").lower())
    if not start or on is None:
        return
    least, most, chance = (
        _number(settings.get(start + label)) for label in ("min_threshold_bytes", "max_threshold_bytes", "probability")
    )
    for queue in canonical.number_list(",".join(_words(settings.get(f"{start}egress_queue_list", "")))):
        yield Queue(
            port=port, queue=str(queue), ecn_enabled=on, ecn_min_bytes=least if on else None, ecn_max_bytes=most if on else None,
            ecn_probability=chance / 100 if on and chance is not None else None,
        )  # fmt: skip


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdecimal() else None
