"""QoS of Junos from its configuration: what each port classifies by, pauses for, obeys, marks, and watches.

Junos counts by forwarding classes. Our traffic class is the queue of one, so the map from traffic classes to queues is one to
one; the priority group is the priority that pauses for it. `interfaces` may name ports by patterns (`et-*`): which ports there
are is taken from `show interfaces`. A port that several entries fit is not read: no document at hand says what of each counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import partial

from auditor.canonical import printable
from auditor.dialects.junos_statements import Statement, Unfinished
from auditor.facts import ClassMap, DscpMap, PriorityGroup, QosPort, Queue
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.juniper_junos import class_of_service as cos
from auditor.platforms.juniper_junos import names

CLASSES = "forwarding-classes"
"""What the maps are called that the forwarding classes make; a switch has one."""
DEFAULT = "default"
QUEUES = 8
_TABLES = (QosPort, DscpMap, ClassMap, Queue, PriorityGroup)
_OF_PORTS = (QosPort, Queue, PriorityGroup)
_TRUST = {"dscp": "dscp", "ieee-802.1": "pcp"}
_PROFILE = "congestion-notification-profile"
_HIERARCHY = ("forwarding-class-set", "output-traffic-control-profile")
_UNSUPPORTED = GapReason.UNSUPPORTED


def inherited(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """With `| display inheritance no-comments`: what is not in it is not set."""
    yield from _rows(body, parameters, whole=True)


def own(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Without: what is not in it may come from a configuration group, so only what is there is read."""
    yield from _rows(body, parameters, whole=False)


def _rows(body: str, parameters: Mapping[str, str], *, whole: bool) -> Iterator[Normalised]:
    try:
        config = cos.read(body, whole=whole)
    except Unfinished as error:
        yield from (Unread(row_type, reason=GapReason.TRUNCATED, detail=str(error)) for row_type in _TABLES)
        return
    for name in config.classifiers:
        yield from _classifier(name, config, whole)
    yield from _classes(config)
    for name, profile in config.profiles.items():
        if whole or profile.obeyed is not None:
            yield from _obeyed(name, profile.obeyed, config)
        else:
            words = "a configuration group may say which queues obey"
            yield Unread(ClassMap, (f"pfc_to_queue:{name}",), "to", _UNSUPPORTED, words)
    if whole:
        yield from _obeyed(DEFAULT, None, config)
    yield from _ports(config, parameters.get("ports", "").split(), whole)


def _classifier(name: str, config: cos.ClassOfService, whole: bool) -> Iterator[Normalised]:
    """All 64 code points where it imports nothing, else those that it names."""
    classifier = config.classifiers[name]
    partial_ = bool(classifier.imports or classifier.unknown or not whole)
    for point in sorted({*range(64)} - {*classifier.points}) if not partial_ else ():
        yield DscpMap(name=name, dscp=str(point), traffic_class=0)
    for point, of in sorted(classifier.points.items()):
        found = config.resolve(of)
        if found is not None:
            yield DscpMap(name=name, dscp=str(point), traffic_class=found.queue)
        else:
            words = f"which queue forwarding class {printable(of, 60)!r} has is not told"
            yield Unread(DscpMap, (name, str(point)), "traffic_class", _UNSUPPORTED, words)
    if classifier.unknown:
        words = f"{printable(classifier.unknown[0], 40)!r} is no code point that is known"
        yield Unread(DscpMap, (name,), "traffic_class", detail=words)
    elif partial_:
        origin = printable(classifier.imports, 60) if classifier.imports else "a configuration group"
        yield Unread(DscpMap, (name,), "traffic_class", _UNSUPPORTED, f"the rest may come from {origin}, which is not told")


def _classes(config: cos.ClassOfService) -> Iterator[Normalised]:
    """Queues by traffic class, and the priority that pauses for each. A default class whose queue was given away counts for
    nothing."""
    for queue in range(QUEUES):
        yield ClassMap(name=f"tc_to_queue:{CLASSES}", source=str(queue), kind="tc_to_queue", to=queue)
    given = {item.queue for item in config.classes.values()}
    kept = {name: item for name, item in config.defaults.items() if item.queue not in given}
    for queue in range(QUEUES):
        priorities = {
            item.priority
            for item in {**kept, **config.classes}.values()
            if item.queue == queue and item.lossless and item.priority is not None
        }
        key = (f"tc_to_pg:{CLASSES}", str(queue))
        if len(priorities) == 1:
            yield ClassMap(name=key[0], source=key[1], kind="tc_to_pg", to=priorities.pop())
        else:
            words = "its lossless classes tell several priorities" if priorities else "no lossless class of this queue tells one"
            yield Unread(ClassMap, key, "to", _UNSUPPORTED, words)


def _obeyed(name: str, told: Mapping[int, tuple[int, ...]] | None, config: cos.ClassOfService) -> Iterator[Normalised]:
    """The queues that pauses stop; of several, that of the class which has the priority. One that stops none has no row."""
    defaults = {priority: (queue,) for priority, queue in cos.DEFAULT_OBEYED.items()}
    for priority, queues in (defaults if told is None else told).items():
        key = (f"pfc_to_queue:{name}", str(priority))
        own_queues = {item.queue for item in config.classes.values() if item.priority == priority and item.queue in queues}
        chosen = queues if len(queues) == 1 else tuple(own_queues)
        if len(chosen) == 1:
            yield ClassMap(name=key[0], source=key[1], kind="pfc_to_queue", to=chosen[0])
        else:
            words = f"pauses of priority {priority} stop {len(queues) or 'no'} queues"
            yield Unread(ClassMap, key, "to", _UNSUPPORTED, words)


def _ports(config: cos.ClassOfService, known: list[str], whole: bool) -> Iterator[Normalised]:
    """Every port that is named, and of those that the switch lists the ones that a pattern fits, or nothing."""
    patterns = [name for name in config.ports if name == "all" or any(sign in name for sign in "*?[")]
    if patterns and not known:
        words = f"ports are named by {printable(', '.join(patterns), 80)}, and no list of ports was seen"
        yield from (Unread(row_type, detail=words) for row_type in _OF_PORTS)
    grouped = any(name.startswith("ae") for name in config.ports)
    for port in dict.fromkeys([*filter(names.is_port, config.ports), *known]):
        fitting = [
            name for name in config.ports if name == port or (name in patterns and (name == "all" or fnmatchcase(port, name)))
        ]
        if len(fitting) == 1:
            yield from _port(port, config.ports[fitting[0]], config, whole)
        elif not fitting and not grouped and whole:
            yield from _port(port, [], config, whole)
        else:
            words = "an aggregate has settings, and its members are not told" if grouped else "a configuration group may name it"
            words = f"{' and '.join(fitting)} fit it" if fitting else words
            yield from (Unread(row_type, (port,), None, _UNSUPPORTED, printable(words, 120)) for row_type in _OF_PORTS)


def _port(port: str, found: list[Statement], config: cos.ClassOfService, whole: bool) -> Iterator[Normalised]:
    bound = {kind: _bound(found, kind) for kind in _TRUST}
    dscp = bound["dscp"][0] if len(bound["dscp"]) == 1 else None
    trust = tuple(sorted(word for kind, word in _TRUST.items() if bound[kind]))
    name = next((words[1] for words in found if words[:1] == (_PROFILE,) and len(words) > 1), None)
    profile = None if name is None else config.profiles.get(name)
    priorities, why = _priorities(name, dscp, config, whole)
    told = (profile is not None and profile.obeyed is not None) or (whole and (profile is not None or name is None))
    # Where it is not known which queues pauses stop, the queue of a class proves nothing: no map of queues is bound.
    direction = _direction(profile, priorities) if told else None
    yield QosPort(
        port=port,
        trust=trust or None,
        dscp_map=dscp,
        tc_to_queue=CLASSES if told else None,
        tc_to_pg=CLASSES,
        pfc_to_queue=(name or DEFAULT) if told else None,
        pfc_priorities=priorities,
        pfc_direction=direction,
    )
    yield from _hidden(port, bound["dscp"], dscp, trust, config)
    unread = partial(Unread, QosPort, (port,))
    if priorities is None:
        yield unread("pfc_priorities", _UNSUPPORTED if name is None else GapReason.UNPARSED, why)
    if not told:
        words = "a configuration group may say which queues obey" if profile is not None else why
        reason = GapReason.UNPARSED if name is not None and profile is None else _UNSUPPORTED
        yield from (unread(column, reason, words) for column in ("tc_to_queue", "pfc_to_queue"))
    if direction is None:
        yield unread("pfc_direction", _UNSUPPORTED, "no priority is known to have PFC, or not all of them have it both ways")
    for priority in priorities or ():
        by_vlan = profile is not None and priority in profile.priorities
        yield PriorityGroup(
            port=port, pg=str(priority), lossless=None if by_vlan else True, profile=name,
            profile_cable_length_m=None if profile is None else profile.cable_m,
        )  # fmt: skip
        if by_vlan:
            words = "it pauses by VLAN priority: which forwarding class that is, tags say"
            yield Unread(PriorityGroup, (port, str(priority)), "lossless", _UNSUPPORTED, words)
    yield from _queues(port, found, config, profile, whole)


def _hidden(
    port: str, names_of: list[str], dscp: str | None, trust: tuple[str, ...], config: cos.ClassOfService
) -> Iterator[Normalised]:
    """What cannot be told of how a port classifies."""
    if not trust:
        words = "no classifier by DSCP or VLAN priority is bound to it: what it does then is not told"
        yield Unread(QosPort, (port,), "trust", _UNSUPPORTED, words)
    if dscp is None:
        words = "its units have classifiers that differ" if names_of else "no classifier by DSCP is bound to it"
        yield Unread(QosPort, (port,), "dscp_map", _UNSUPPORTED, words)
    elif dscp not in config.classifiers:
        words = f"classifier {printable(dscp, 60)!r} is one of Junos's own, or missing"
        yield Unread(DscpMap, (dscp,), "traffic_class", _UNSUPPORTED, words)


def _bound(found: list[Statement], kind: str) -> list[str]:
    """The classifiers of a kind that a port or its units have, each once."""
    wanted = ("classifiers", kind)
    return list(
        dict.fromkeys(words[at + 2] for words in found for at in range(len(words) - 2) if words[at : at + 2] == wanted)
    )  # fmt: skip


def _priorities(
    name: str | None, dscp: str | None, config: cos.ClassOfService, whole: bool
) -> tuple[tuple[int, ...] | None, str]:
    """The priorities that a port pauses, or why they are not known. By DSCP they follow from its classifier and the classes."""
    if name is None:
        return (() if whole else None), "a configuration group may bind a profile to it"
    profile = config.profiles.get(name)
    if profile is None:
        return None, f"profile {printable(name, 60)!r} is not in it"
    if profile.unknown:
        return None, f"{printable(profile.unknown[0], 40)!r} is no code point that is known"
    found = set(profile.priorities)
    points = config.classifiers[dscp].points if dscp in config.classifiers else {}
    for point in profile.points:
        of = config.classes.get(points.get(point, ""))
        if of is None or of.priority is None:
            return None, f"which priority pauses for DSCP {point} is not told: its class has no pfc-priority here"
        found |= {of.priority} if of.lossless else set()
    return (tuple(sorted(found)), "") if found or whole else (None, "a configuration group may add to its profile")


def _direction(profile: cos.Profile | None, priorities: tuple[int, ...] | None) -> str | None:
    if profile is None or not priorities:
        return None
    obeyed = cos.DEFAULT_OBEYED if profile.obeyed is None else profile.obeyed
    heard = [priority in obeyed for priority in priorities]
    return "both" if all(heard) else None if any(heard) else "tx"


def _queues(
    port: str, found: list[Statement], config: cos.ClassOfService, profile: cos.Profile | None, whole: bool
) -> Iterator[Normalised]:
    """Marking by the scheduler of each queue, and what the watchdog of the profile watches."""
    name = next((words[1] for words in found if words[:1] == ("scheduler-map",) and len(words) > 1), None)
    hierarchy = any(words[:1] == (word,) for words in found for word in _HIERARCHY)
    schedulers = None if hierarchy else _schedulers(name, config)
    watched = _watched(profile, found, whole)
    for at in range(QUEUES):
        scheduler = None if schedulers is None else schedulers.get(at)
        marks = scheduler is not None and scheduler.marks
        dog = profile.watchdog if profile is not None and watched is not None and at in watched else None
        row = Queue(
            port=port, queue=str(at),
            ecn_enabled=True if marks else False if whole and schedulers is not None else None,
            ecn_probability=scheduler.chance if scheduler is not None and marks else None,
            ecn_profile=scheduler.drop_profile if scheduler is not None else None,
            watchdog_enabled=True if dog is not None else False if whole and watched is not None else None,
            watchdog_detection_s=None if dog is None else dog.detection,
            watchdog_restoration_s=None if dog is None else dog.restoration,
            watchdog_action=None if dog is None else dog.action,
        )  # fmt: skip
        if any(getattr(row, column) is not None for column in ("ecn_enabled", "ecn_profile", "watchdog_enabled")):
            yield row
    if schedulers is None or not whole:
        missing = f"scheduler map {name}, or what it names, is not in it"
        words = "its queues are scheduled by sets of classes" if hierarchy else missing if whole else "a group may set it"
        reason = GapReason.UNPARSED if schedulers is None and not hierarchy else _UNSUPPORTED
        yield Unread(Queue, (port,), "ecn_enabled", reason, printable(words, 120))
    if watched is None or not whole:
        yield Unread(Queue, (port,), "watchdog_enabled", _UNSUPPORTED, "which queues the watchdog watches is not told")


def _schedulers(name: str | None, config: cos.ClassOfService) -> dict[int, cos.Scheduler] | None:
    """The scheduler of each queue that has one; None where the map, a scheduler, or a queue is not in the configuration."""
    if name is None:
        return {}
    if name not in config.maps:
        return None
    out: dict[int, cos.Scheduler] = {}
    for of, scheduler in config.maps[name].items():
        forwarding = config.resolve(of)
        if scheduler not in config.schedulers or (forwarding is None and config.schedulers[scheduler].marks):
            return None
        if forwarding is not None:
            out[forwarding.queue] = config.schedulers[scheduler]
    return out


def _watched(profile: cos.Profile | None, found: list[Statement], whole: bool) -> frozenset[int] | None:
    """The queues that the watchdog watches; None where that is not told."""
    if profile is None:
        return None if any(words[:1] == (_PROFILE,) for words in found) or not whole else frozenset()
    if profile.watchdog is None:
        return frozenset() if whole else None
    return None if profile.obeyed is None else frozenset(queue for queues in profile.obeyed.values() for queue in queues)
