"""What rules are, what they say about objects, and what becomes of it: deviations, results, findings, causes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from auditor.address import Address
from auditor.model.raw import Gap

if TYPE_CHECKING:
    from auditor.model.cabling import CableCause
    from auditor.model.plan import Fabric, Link, Tiers
    from auditor.model.state import State


class Severity(StrEnum):
    """critical: job fails or the data path loses · error: wrong, slow, or a safety net gone · warning: bites later ·
    information."""

    CRITICAL = "critical"
    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"

    @property
    def rank(self) -> int:
        """0 is the worst."""
        return list(Severity).index(self)


class Verdict(StrEnum):
    """What a rule says about one object."""

    PASS = "pass"  # noqa: S105 (no password: the verdict)
    FAIL = "fail"
    NOT_APPLICABLE = "not_applicable"
    NOT_EVALUATED = "not_evaluated"
    ERROR = "error"


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """A fact of a named device: `leaf-01:interface[Ethernet0].mtu@applied`."""

    device: str
    address: Address

    def __str__(self) -> str:
        return f"{self.device}:{self.address}"

    @property
    def cell(self) -> str:
        """The same place whatever the layer: how findings about one cell are recognised."""
        return f"{self.device}:{replace(self.address, layer=None)}"


@dataclass(frozen=True, slots=True)
class Deviation:
    """What is wrong with an object. `spots` are the cells that prove it, first the one a person would change.

    `shared` names the object (a map, a profile) that several objects take the fault from. `parent` names the port
    whose breakout siblings fail alike. `severity` overrides the rule's. `evidence`: what a rule that reads no facts saw.
    """

    expected: str
    observed: str
    message: str
    spots: tuple[Spot, ...] = ()
    shared: Address | None = None
    parent: str = ""
    severity: Severity | None = None
    remedy: str = ""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """A rule's word on one object. Device rules name a row or cell address, link rules a link name, fabric rules a Spot."""

    object: Address | Spot | str
    verdict: Verdict
    deviation: Deviation | None = None
    gap: Gap | None = None


def passed(object_: Address | Spot | str) -> Judgement:
    """The object is as it should be."""
    return Judgement(object_, Verdict.PASS)


def failed(object_: Address | Spot | str, deviation: Deviation) -> Judgement:
    """The object is wrong, and how."""
    return Judgement(object_, Verdict.FAIL, deviation)


def unseen(object_: Address | Spot | str, gap: Gap) -> Judgement:
    """The object could not be judged, because of this gap."""
    return Judgement(object_, Verdict.NOT_EVALUATED, gap=gap)


class RuleKind(StrEnum):
    """Which values a rule function receives: one State, one Link, (`fabric`) all Links at once, (`peer`) one Peers, or (`log`)
    the logs of one job, which no device is asked for.

    A link rule compares the two ends of a cable that leads where it should; a `cable` rule gets every link, planned or not,
    whatever its verdict.

    A fabric rule yields judgements whose object is a Spot: the row of a device that a person would mend.
    """

    DEVICE = "device"
    LINK = "link"
    CABLE = "cable"
    FABRIC = "fabric"
    PEER = "peer"
    LOG = "log"


@dataclass(frozen=True, slots=True)
class RuleContext:
    """What a rule may know beside the facts: its params, the fabric's intent, the groups of planned ports, the role; a cable
    rule also the cause of a link that is not as planned; a fabric rule the planned shape of each plane and the devices judged."""

    params: Any = None
    fabric: Fabric | None = None
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)
    role: str = ""
    hardware_model: str = ""
    cause: CableCause | None = None
    tiers: Mapping[str, Tiers] = field(default_factory=dict)
    judged: frozenset[str] = frozenset()


DeviceFunction = Callable[["State", RuleContext], Iterable[Judgement]]
LinkFunction = Callable[["Link", RuleContext], Iterable[Judgement]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A registered rule. `reads` are `table.column`; they decide what is collected and what makes it not evaluated.

    For a device rule, a read column that no source answered makes the rule not_evaluated before it is called, except
    those in `optional`. A link rule gets both ends' facts for its `reads` and yields `unseen` where an end lacks one.
    `needs_params`: without params from the baseline it is not_applicable. `every_link`: a fabric rule that wants wrong and
    missing cables too.
    """

    id: str
    kind: RuleKind
    reads: tuple[str, ...]
    severity: Severity
    function: Callable[..., Iterable[Judgement]]
    doc: str
    remedy: str = ""
    optional: tuple[str, ...] = ()
    needs_params: bool = False
    params_type: Any = None
    every_link: bool = False

    @property
    def family(self) -> str:
        """The part before the dot: the concern."""
        return self.id.partition(".")[0]


def check(
    *,
    reads: tuple[str, ...],
    severity: Severity,
    kind: RuleKind = RuleKind.DEVICE,
    remedy: str = "",
    optional: tuple[str, ...] = (),
    needs_params: bool = False,
    params_type: Any = None,
    family: str = "",
    every_link: bool = False,
) -> Callable[[Callable[..., Iterable[Judgement]]], Rule]:
    """Make a rule of a function. Its id is `<module>.<function>`; its docstring is what `explain` and the docs print.

    `family` stands for the module in the id where a family is a package of several modules.
    """

    def declare(function: Callable[..., Iterable[Judgement]]) -> Rule:
        name = f"{family or function.__module__.rpartition('.')[2]}.{function.__name__}"
        doc = inspect.cleandoc(function.__doc__ or "")
        return Rule(name, kind, reads, severity, function, doc, remedy, optional, needs_params, params_type, every_link)

    return declare


@dataclass(frozen=True, slots=True)
class Result:
    """What one rule said in one scope (a device, a link, a group). `passed` and `failed` are the objects examined;
    `whole` the tables it read whole, so that an object that is gone counts as examined too."""

    rule: str
    scope: str
    verdict: Verdict
    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    unsupported: int = 0
    whole: tuple[str, ...] = ()
    reason: str = ""
    devices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The line of output that proves a finding. `locator`: `lines 3-4`, a JSON pointer, or an XPath; at most five lines."""

    device: str
    source: str
    command: str
    digest: str
    locator: str
    excerpt: str
    collected_at: str = ""


@dataclass(frozen=True, slots=True)
class Remedy:
    """Commands that a person would type on a device, and the document that they come from. They are printed, never run."""

    device: str
    lines: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class DocumentOrigin:
    """Where an intent stands."""

    profile: str = ""
    version: str = ""
    file: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule failed on an object. The fingerprint is the hash of both and of nothing else.

    `root` groups findings into causes: (kind, text). `first_seen` and `status` come from the store.
    """

    fingerprint: str
    rule: str
    object: str
    severity: Severity
    devices: tuple[str, ...]
    address: str
    expected: str
    observed: str
    message: str
    remedy: str = ""
    commands: tuple[Remedy, ...] = ()
    layer: str = ""
    status: str = "open"
    first_seen: str = ""
    cause: str = ""
    root: tuple[str, str] = ("object", "")
    spots: tuple[Spot, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    origin: DocumentOrigin = DocumentOrigin()
    waiver: Mapping[str, str] | None = None

    @property
    def family(self) -> str:
        """The concern of its rule."""
        return self.rule.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Cause:
    """Findings with one root, computed anew each run. `members` are fingerprints; `status` the worst of theirs."""

    id: str
    root: str
    kind: str
    title: str
    severity: Severity
    members: tuple[str, ...]
    status: str
    waived: bool = False
    work_order: tuple[str, ...] = ()
