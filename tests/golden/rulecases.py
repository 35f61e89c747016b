"""Reads fixtures/checks/<rule>.yaml: facts in short form, and what the rule must say about them.

A file is a list of cases. Every case has a `name` that says the behaviour, `expect` (see `expected`), and:

device rules: `facts` {"table@layer": {rows: [plain rows], columns: [declared ones; default those in the rows], whole: true}},
`gaps` [{table, reason, columns, key, layer, detail, source}], `groups` {name: [ports]}, `role`, `model` (its hardware),
`params`, `fabric`.

fabric rules: `devices` {name: {role, facts and gaps as above}}, `cables` [["device:port", "device:port"]], `plane`, `fabric`.

link rules: `a` and `b` {device, port, role, interface, facts {table.column: value | absent}, gaps {table.column: reason}},
`plane`, `fabric`.

cable rules: as link rules, with `verdict` of the evidence, `reason`, `planned` (default true), and `cause`, its kind.

fabric rules about shapes: `network`, lines of "device:port device:port plane [speed]" (a verdict in brackets where it is not
proven; `-` as plane: a cable that no plan has). Devices called gpu-… are hosts. Every end has the facts of `facts`; `at`
{"device:port": {table.column: value}} changes some.

fabric rules about hosts: `hosts` {name: {model, near: {gpu: nic}, rails: {nic: rail}}} instead of devices and cables.

log rules: `log`, the lines that the ranks of a job wrote.

peer rules: `role` and `model` of the group, `address`, `column`, `values` {value: [devices]}, `words` {value: [sentences]},
`unseen` [devices].
"""

from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from pydantic import TypeAdapter

from auditor import canonical, yamldoc
from auditor.address import Address, Layer
from auditor.checks import rules
from auditor.checks.hops import hops
from auditor.dialects.nccl_log import Reader
from auditor.facts import TABLES, from_plain, schema
from auditor.model import (
    ABSENT,
    CableCause,
    CauseKind,
    Device,
    Gap,
    GapReason,
    Link,
    LinkEnd,
    LinkVerdict,
    NeighbourSeen,
    Origin,
    PeerGroup,
    Peers,
    PeerValue,
    Plan,
    PlanEnd,
    PlanLink,
    RuleContext,
    RuleKind,
    State,
)
from auditor.model.device import is_host
from auditor.model.plan import Fact
from auditor.plan.fabric import parse_fabric
from auditor.plan.tiers import tiers

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
AT = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)


def case_files():
    return sorted((FIXTURES / "checks").glob("*.yaml"))


def cases():
    """(rule id, case) of every case file."""
    return [(file.stem, case) for file in case_files() for case in yamldoc.read(file).data]


def judge(rule_id, case):
    """What the rule says: object -> what matters of its judgement."""
    rule = rules()[rule_id]
    context = RuleContext(
        params=TypeAdapter(rule.params_type).validate_python(case["params"]) if "params" in case else None,
        fabric=parse_fabric(yamldoc.dump(case["fabric"])) if "fabric" in case else None,
        groups={name: frozenset(ports) for name, ports in case.get("groups", {}).items()},
        role=case.get("role", ""),
        hardware_model=case.get("model", ""),
        cause=CableCause("key", CauseKind(case["cause"]), rule.severity, ()) if "cause" in case else None,
    )
    makers = {
        RuleKind.DEVICE: state,
        RuleKind.LINK: link,
        RuleKind.FABRIC: hosts if "hosts" in case else network if "network" in case else cables,
        RuleKind.CABLE: cable,
        RuleKind.PEER: peers,
        RuleKind.LOG: log,
    }
    subject = makers[rule.kind](case)
    if "network" in case:
        devices = {name: Device(name, (), role=role_of(name)) for link in subject for name in (link.a.device, link.b.device)}
        plan = Plan("plan", tuple(link.plan for link in subject if link.plan is not None))
        context = replace(context, tiers=tiers(plan, devices), judged=frozenset(devices))
    judgements = list(rule.function(subject, context))
    said = {str(item.object): plain(item) for item in judgements}
    assert len(said) == len(judgements), "one judgement per object"
    return said


def plain(judgement):
    out = {"verdict": str(judgement.verdict)}
    if judgement.gap is not None:
        out["gap"] = str(judgement.gap.reason)
    if judgement.deviation is not None:
        deviation = judgement.deviation
        out |= {"expected": deviation.expected, "observed": deviation.observed, "message": deviation.message}
        out["spots"] = [str(spot) for spot in deviation.spots]
        out["severity"] = None if deviation.severity is None else str(deviation.severity)
    return out


def expected(case, said):
    """`expect` (object -> verdict, or a mapping of what must be equal) beside the same part of what was said."""
    want, got = {}, {}
    for name, wish in case["expect"].items():
        wish = {"verdict": wish} if isinstance(wish, str) else wish
        want[name] = wish
        got[name] = {key: said.get(name, {}).get(key) for key in wish}
    got |= {name: {"verdict": item["verdict"]} for name, item in said.items() if name not in want}
    return want, got


def state(case, device="leaf-01"):
    device = case.get("device", device)
    tables, origins = {}, {}
    for name, given in case.get("facts", {}).items():
        table, _, layer = name.partition("@")
        row_type, layer = TABLES[table], Layer(layer or "configured")
        rows = [from_plain(row_type, row) for row in given.get("rows", [])]
        used = {name for row in given.get("rows", []) for name in row} - set(schema(row_type).keys)
        assert used <= set(schema(row_type).columns), f"{table} has no {used - set(schema(row_type).columns)}"
        tables[row_type, layer] = {row.key: row for row in rows}
        for column in given.get("columns", sorted(used)):
            origins[row_type, layer, column] = (
                Origin(given.get("source", "source"), "0" * 64, "sonic", given.get("whole", True)),
            )
    gaps = tuple(gap(device, given) for given in case.get("gaps", []))
    return State(device, AT, tables, origins, gaps)


def log(case):
    reader = Reader()
    reader.read(BytesIO(case["log"].encode()), "job.log")
    return reader.finish()


def gap(device, given):
    return Gap(
        device,
        given["table"],
        given.get("source", "source"),
        GapReason(given["reason"]),
        given.get("detail", ""),
        Layer(given["layer"]) if "layer" in given else None,
        tuple(given.get("key", ())),
        tuple(given.get("columns", ())),
    )


def cables(case):
    """The links of a fabric case, their ends as device jobs emit them."""
    plane = parse_fabric(yamldoc.dump(case["fabric"])).planes[case["plane"]]
    places = [[tuple(text.split(":")) for text in cable] for cable in case["cables"]]
    ends = {}
    for name, given in case["devices"].items():
        ports = {port: plane.classes for cable in places for device, port in cable if device == name}
        for port, found in hops(state(given, name), ports, host=is_host(given["role"])).items():
            ends[name, port] = LinkEnd(name, port, port, given["role"], hops=found)
    plans = [PlanLink(PlanEnd(*a), PlanEnd(*b), plane=case["plane"]) for a, b in places]
    return [Link(ends[a], ends[b], LinkVerdict.PROVEN, plan) for (a, b), plan in zip(places, plans, strict=True)]


def role_of(device):
    return "gpu_host" if device.startswith("gpu-") else "switch"


def network(case):
    """The links of a fabric drawn line by line."""
    out = []
    for line in case["network"]:
        one, other, plane, *rest = line.split()
        verdict = next((word.strip("()") for word in rest if word.startswith("(")), "unplanned" if plane == "-" else "proven")
        speed = next((canonical.speed(word) for word in rest if not word.startswith("(")), None)
        a, b = (network_end(place, case) for place in (one, other))
        plan = None
        if plane != "-":
            plan = PlanLink(PlanEnd(a.device, a.port), PlanEnd(b.device, b.port), plane=plane, speed=speed)
        out.append(Link(a, b, LinkVerdict(verdict), plan, reason=f"drawn as {verdict}"))
    return out


def network_end(place, case):
    device, port = place.split(":")
    facts = {**case.get("facts", {}), **case.get("at", {}).get(place, {})}
    known = {
        name: Fact(Address(name.partition(".")[0], (port,), name.partition(".")[2]), value, Layer.APPLIED)
        for name, value in facts.items()
    }
    seen = NeighbourSeen("x", "y", fact=Fact(Address("neighbour", (port, "y"), "system"), "x", Layer.APPLIED))
    return LinkEnd(
        device, port, port, role_of(device), {name: fact for name, fact in known.items() if fact.value is not None}, (seen,)
    )


def peers(case):
    """The histogram of a peer case, the commonest value first."""
    table, _, column = case["column"].partition(".")
    values = [
        PeerValue(
            str(value),
            tuple(devices),
            tuple((name, (fact(case["cell"], column, value),)) for name in devices[:3]),
            tuple(case.get("words", {}).get(value, ())),
        )
        for value, devices in case["values"].items()
    ]
    unseen = tuple((device, None) for device in case.get("unseen", ()))
    assert TABLES[table]
    return Peers(PeerGroup("role", case["role"], case["model"]), case["address"], case["column"], tuple(values), unseen)


def fact(row, column, value):
    return Fact(replace(Address.parse(row), column=column), value, Layer.APPLIED)


def link(case):
    a, b = end(case["a"]), end(case["b"])
    plan = PlanLink(PlanEnd(a.device, a.port), PlanEnd(b.device, b.port), plane=case.get("plane", ""))
    return Link(a, b, LinkVerdict.PROVEN, plan)


def cable(case):
    found = link(case)
    plan = found.plan if case.get("planned", True) else None
    return replace(found, plan=plan, verdict=LinkVerdict(case["verdict"]), reason=case.get("reason", ""))


def hosts(case):
    """The links of hosts to leaves of their rails, with the GPUs that each NIC is nearest to."""
    out = []
    for name, given in case["hosts"].items():
        for nic, rail in given["rails"].items():
            near = [gpu for gpu, mine in given["near"].items() if mine == nic]
            gpus = tuple(Fact(Address("nccl_path", (str(gpu), nic), "nearest"), True, Layer.APPLIED) for gpu in near)
            facts = {"system.hardware_model": Fact(Address("system", (), "hardware_model"), given["model"], Layer.APPLIED)}
            ends = LinkEnd(name, nic, nic, "gpu_host", facts, gpus=gpus), LinkEnd(f"leaf-{rail}", name, name, "leaf")
            plan = PlanLink(PlanEnd(name, nic), PlanEnd(f"leaf-{rail}", name), rail=str(rail))
            out.append(Link(*ends, LinkVerdict.PROVEN, plan))
    return out


def end(given):
    device, port = given["device"], given["port"]
    interface = given.get("interface", port)
    facts = {}
    for name, value in given.get("facts", {}).items():
        table, _, column = name.partition(".")
        address = Address(table, (interface or port,), column)
        value = ABSENT if value == "absent" else tuple(value) if isinstance(value, list) else value
        facts[name] = Fact(address, value, Layer.CONFIGURED)
    for name, reason in given.get("gaps", {}).items():
        table, _, column = name.partition(".")
        hidden = Gap(device, table, "source", GapReason(reason), columns=(column,))
        facts[name] = Fact(Address(table, (interface or port,), column), None, gap=hidden)
    return LinkEnd(device, port, interface, given.get("role", ""), facts, failed=tuple(given.get("failed", ())))
