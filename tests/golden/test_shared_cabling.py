"""Field cases about LLDP identities, in the devices' own words: which links must not be called wrong, and which are."""

import csv
import os
import re
from collections import Counter
from pathlib import Path

import pytest

from auditor.address import Address, Layer
from auditor.cabling.links import build_wiring
from auditor.canonical import mac
from auditor.model import Device, Fact, LinkEnd, LinkVerdict, NeighbourSeen, Plan, PlanEnd, PlanLink

SHARED = Path(os.environ.get("AUDITOR_SHARED", Path(__file__).resolve().parents[3] / "shared"))
pytestmark = pytest.mark.skipif(not (SHARED / "cases").is_dir(), reason="the field cases are not beside the checkout")


def plan_of(case):
    rows = list(csv.DictReader((SHARED / "cases" / case / "wiring_plan.csv").open()))
    ends = [(PlanEnd(row["host"], row["nic"]), PlanEnd(row["leaf"], row["leaf_port"])) for row in rows]
    return Plan("plan", tuple(PlanLink(a, b) for a, b in ends))


def end(device, port, identities=(), neighbours=(), up=None):
    facts = {} if up is None else {"interface.up": Fact(Address("interface", (port,), "up"), up, Layer.APPLIED)}
    role = "gpu_host" if device.startswith("gpu") else "leaf"
    return LinkEnd(device, port, port, role, facts, tuple(NeighbourSeen(*item) for item in neighbours), (port, *identities))


def verdicts(plan, ends):
    names = {end.device for link in plan.links for end in (link.a, link.b)}
    devices = {name: Device(name, ("linux",)) for name in names}
    links = build_wiring(plan, {(item.device, item.port): item for item in ends}, devices).links
    return {(link.plan.a.device, link.plan.a.port): link for link in links}


def test_port_ids_that_are_macs():
    folder = SHARED / "cases" / "07-lldp-port-id-is-a-mac"
    text = (folder / "leaf-07" / "show_lldp_neighbors_detail.txt").read_text()
    ends = []
    for block in re.split(r"^Interface ", text, flags=re.M)[1:]:
        value = {key: value.strip('" ') for key, value in re.findall(r"^[\s-]*([A-Z][\w ]+?)\s*: (.*)$", block, re.M)}
        kind = "mac" if "MAC" in value["Port ID type"] else "name"
        seen = (value.get("System Name", ""), value["Port ID"], kind, value.get("Port Description", ""), value["Chassis ID"])
        ends.append(end("leaf-07", block.split()[0], neighbours=[seen], up=True))
    for link in plan_of("07-lldp-port-id-is-a-mac").links:
        text = (folder / link.a.device / "ip_-o_link.txt").read_text()
        found = re.search(rf"{link.a.port}: .* link/ether (\S+)", text)
        if found:
            ends.append(end(link.a.device, link.a.port, [mac(found.group(1))], up=True))
    links = verdicts(plan_of("07-lldp-port-id-is-a-mac"), ends)
    said = {device: link.verdict for (device, _), link in links.items()}
    assert len(ends) == 13
    assert said.pop("gpu-024") is LinkVerdict.WRONG
    assert said.pop("gpu-026") is LinkVerdict.UNKNOWN
    assert set(said.values()) == {LinkVerdict.PROVEN_ONE_END}
    assert "ens110np0" in links["gpu-024", "ens108np0"].reason


def test_hosts_that_see_nobody():
    folder = SHARED / "cases" / "08-lldp-eaten-by-nic-firmware"
    up = {}
    for line in (folder / "leaf-11" / "show_interfaces_status.txt").read_text().splitlines()[2:]:
        up[line.split()[0]] = line.split()[7] == "up"
    rows = [
        (line[:11].strip(), (line[13:27].strip(), line[29:46].strip(), "mac", line[62:].strip(), line[29:46].strip()))
        for line in (folder / "leaf-11" / "show_lldp_table.txt").read_text().splitlines()[3:7]
    ]
    table = dict(rows)
    ends = [end("leaf-11", port, neighbours=[table[port]] if port in table else [], up=state) for port, state in up.items()]
    for link in plan_of("08-lldp-eaten-by-nic-firmware").links:
        line = re.search(rf"^{link.a.port} +(\w+) +(\S+)", (folder / link.a.device / "ip_-br_link.txt").read_text(), re.M)
        ends.append(end(link.a.device, link.a.port, [line.group(2)], up=line.group(1) == "UP"))
    links = verdicts(plan_of("08-lldp-eaten-by-nic-firmware"), ends)
    assert {place: link.verdict for place, link in links.items()} == {
        ("gpu-31", "ens6f0"): LinkVerdict.PROVEN_ONE_END,
        ("gpu-31", "ens6f1"): LinkVerdict.PROVEN_ONE_END,
        ("gpu-32", "ens5f0np0"): LinkVerdict.PROVEN_ONE_END,
        ("gpu-33", "ens7f0np0"): LinkVerdict.LINK_ONLY,
        ("gpu-34", "ens6f0"): LinkVerdict.WRONG,
    }
    assert links["gpu-34", "ens6f0"].reason == "leaf-11:Ethernet40 sees gpu-34:ens6f0"


def test_exchanged_rails_seen_by_hosts_alone():
    folder = SHARED / "cases" / "09-two-nics-swapped-between-rails"
    plan = plan_of("09-two-nics-swapped-between-rails")
    ends = []
    for host in sorted({link.a.device for link in plan.links}):
        text = (folder / host / "lldpctl_-f_keyvalue.txt").read_text()
        for nic in dict.fromkeys(re.findall(r"^lldp\.(\w+)\.", text, re.M)):
            value = dict(re.findall(rf"^lldp\.{nic}\.(\S+?)=(.*)$", text, re.M))
            kind = next(kind for kind in ("local", "ifname", "mac") if f"port.{kind}" in value)
            seen = (value["chassis.name"], value[f"port.{kind}"], kind, value["port.descr"], value["chassis.mac"])
            ends.append(end(host, nic, neighbours=[seen], up=True))
    links = verdicts(plan, ends)
    wrong = {place for place, link in links.items() if link.verdict is LinkVerdict.WRONG}
    assert wrong == {("gpu-103", "ens114np0"), ("gpu-103", "ens116np0"), ("gpu-104", "ens120np0")}
    assert Counter(link.verdict for link in links.values()) == {LinkVerdict.WRONG: 3, LinkVerdict.PROVEN_ONE_END: 29}
