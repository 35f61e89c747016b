"""The kernel as it was started and as it is set, and the processors it runs on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from auditor.address import Layer
from auditor.canonical import nothing
from auditor.dialects import cmdline, cpu_list, lscpu, numactl
from auditor.errors import NormaliseError
from auditor.facts import Cpu, KernelModule, KernelParameter, Numa, Sysctl
from auditor.model import REDACTED, Fill, GapReason, Normalised, Parser, Source, Unread

_OF_THIS_MACHINE = re.compile(
    r"BOOT_IMAGE|root|resume(?:_offset)?|rd\.(?:lvm\.lv|luks.*|md\.uuid|dm\.uuid)|cryptdevice|initrd|BOOTIF|ip|nameserver|hostname|"
    r"systemd\.(?:machine_id|hostname)|ostree|img_url|ds|cloud-config-url|url|inst\..*|autoinstall"
)
"""Parameters that name a disk, an address or an image: they differ from host to host by nature."""


LONGEST = 4096
"""Characters of a command line: COMMAND_LINE_SIZE of the kernel is 2,048 on most machines, 4,096 on some."""


def command_line(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Every parameter with its value; of what names this machine or a secret only that it is there."""
    lines = [line for line in body.splitlines() if line.strip()]
    if len(lines) != 1 or len(lines[0]) > LONGEST:
        raise NormaliseError("cmdline", "line", f"{len(lines)} lines, the first with {len(lines[0]) if lines else 0} characters")
    for name, value in cmdline.parameters(lines[0]).items():
        if re.match(r"\w", name) is None:
            yield Unread(KernelParameter, (name[:60],), "value", detail=f"no name of a parameter: {name[:60]!r}")
        elif REDACTED in value:
            yield Unread(KernelParameter, (name,), "value", detail="redacted")
        elif _OF_THIS_MACHINE.fullmatch(name):
            detail = "names a disk, an address or an image of this machine"
            yield Unread(KernelParameter, (name,), "value", GapReason.UNSUPPORTED, detail)
        else:
            yield KernelParameter(name=name, value=value)


KEYS = (
    "kernel.numa_balancing", "kernel.nmi_watchdog", "kernel.randomize_va_space", "vm.zone_reclaim_mode", "vm.swappiness",
    "vm.overcommit_memory", "vm.max_map_count", "vm.nr_hugepages", "vm.compaction_proactiveness",
    "net.core.rmem_max", "net.core.wmem_max", "net.core.rmem_default", "net.core.wmem_default", "net.core.optmem_max",
    "net.core.netdev_max_backlog", "net.core.busy_poll", "net.core.busy_read", "net.core.default_qdisc",
    "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_timestamps", "net.ipv4.tcp_sack", "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_congestion_control", "net.ipv4.ip_forward", "net.ipv4.ip_local_port_range", "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.conf.all.rp_filter", "net.ipv4.conf.default.rp_filter", "net.ipv4.conf.all.arp_ignore",
    "net.ipv4.conf.default.arp_ignore", "net.ipv4.conf.all.arp_announce", "net.ipv4.conf.default.arp_announce",
    "net.ipv4.conf.all.arp_filter", "net.ipv4.conf.default.arp_filter", "net.ipv6.conf.all.disable_ipv6",
    "net.core.somaxconn",
)  # fmt: skip
"""What a live host is asked for: the settings that guides for RDMA, for many NICs in one subnet and for NUMA name. All of them
are readable by anybody, none is a secret, and none follows from the size of the machine. The tool answers in this
order, and every kernel has the last one: it ends the answer."""

_LEFT_OUT = re.compile(
    r"kernel\.(?:random|hostname|domainname|ns_last_pid|pty\.nr|perf_event_max_sample_rate|sched_domain|threads-max|keys|"
    r"perf_cpu_time_max_percent|cad_pid|tainted|version|osrelease|bootloader_\w+)\b.*|"
    r"fs\.(?:dentry-state|file-nr|file-max|inode-nr|inode-state|aio-nr|quota|epoll\.max_user_watches|mqueue|fanotify|inotify|"
    r"binfmt_misc|nfs|lease)\b.*|"
    r"net\.netfilter\.nf_conntrack_(?:count|max|buckets|expect_max)|net\.nf_conntrack_max|net\.ipv4\.(?:tcp_mem|udp_mem|"
    r"tcp_max_orphans|tcp_max_tw_buckets|tcp_max_syn_backlog|tcp_fastopen_key)|net\.(?:ipv[46]|mpls)\.(?:conf|neigh)\."
    r"(?!all\.|default\.).*|.*\.stable_secret|net\.ipv4\.ipfrag_.*|net\.ipv6\.ip6frag_.*|"
    r"vm\.(?:min_free_kbytes|user_reserve_kbytes|admin_reserve_kbytes|lowmem_reserve_ratio|stat_refresh)|user\..*|dev\..*|"
    r"sunrpc\..*|debug\..*|abi\..*"
)
"""Settings that change by themselves, count something, hold a secret, name an interface or follow from the memory."""


def chosen(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The settings that were asked for; the tool leaves out what this kernel does not have."""
    there = set(re.findall(r"^(\S+) =", body, re.MULTILINE))
    yield from sysctl(body, parameters)
    for name in KEYS if KEYS[-1] in there else ():
        if name not in there:
            yield Unread(Sysctl, (name,), "value", GapReason.UNSUPPORTED, "this kernel has no such setting")


def sysctl(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Settings of the running kernel. One that is left out says nothing: such an answer proves no absence."""
    strange: list[str] = []
    for line in body.splitlines():
        found = re.fullmatch(r"([a-z][\w./*:@-]*) = ?(.*)", line, re.IGNORECASE)
        if found is not None and not _LEFT_OUT.fullmatch(found.group(1)):
            yield from _setting(found.group(1), " ".join(found.group(2).split()))
        elif found is None and line.strip() and not re.match(r"sysctl: ", line):
            strange.append(line.strip())
    if strange:
        yield Unread(Sysctl, reason=GapReason.UNPARSED, detail=f"no setting: {strange[0][:60]!r}")


def _setting(name: str, value: str) -> Iterator[Normalised]:
    if REDACTED in value:
        yield Unread(Sysctl, (name,), "value", detail="redacted")
    else:
        yield Sysctl(name=name, value=value)


def modules(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """One name per line, up to the second folder, which ends the answer."""
    for line in re.split(r"^/sys/module/kernel:$", body, flags=re.MULTILINE)[0].split("\n"):
        if re.fullmatch(r"\w[\w-]{0,63}", line):
            yield KernelModule(name=cmdline.alike(line), loaded=True)
        elif line and line != "/sys/module:":
            raise NormaliseError("modules", "name", line[:80])


def listed_modules(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`lsmod` or /proc/modules: name, size and number of users in each line. What is built into the kernel is not among them."""
    for line in body.splitlines():
        found = re.match(r"([\w-]{1,64})\s+\d+\s+(?:-?\d+|-)(?:\s|$)", line)
        if found is not None:
            yield KernelModule(name=cmdline.alike(found.group(1)), loaded=True)
        elif line.strip() and not re.match(r"Module\s+Size\s+Used by", line):
            yield Unread(KernelModule, reason=GapReason.TRUNCATED, detail=f"no module: {line.strip()[:60]!r}")


def cpu_text(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Processors and NUMA nodes from `lscpu`."""
    yield from _cpu(lscpu.text(body))


def cpu_json(document: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The same from `lscpu -J`."""
    try:
        labels = lscpu.json(document)
    except ValueError as error:
        raise NormaliseError("lscpu_json", "document", str(error)) from error
    yield from _cpu(labels)


_NUMBERS = {
    "sockets": "Socket(s)", "cores_per_socket": "Core(s) per socket", "threads_per_core": "Thread(s) per core",
    "numa_nodes": "NUMA node(s)",
}  # fmt: skip


def _cpu(labels: Mapping[str, list[str]]) -> Iterator[Normalised]:
    values: dict[str, Any] = {}
    models = labels.get("Model name", [])
    named = sorted({model for model in models if not nothing(model)})
    for column, label in _NUMBERS.items():
        found = labels.get(label, [])
        if len(found) > 1:
            detail = f"{len(found)} kinds of cores, each with its own number"
            yield Unread(Cpu, (), column, GapReason.UNSUPPORTED, detail)
        elif found and found[0].isdecimal():
            values[column] = int(found[0])
        else:
            detail = "this version does not print it" if not found else f"prints {found[0][:40]!r}"
            yield Unread(Cpu, (), column, GapReason.UNSUPPORTED, detail)
    online = labels.get("On-line CPU(s) list", [])
    if len(online) == 1 and online[0]:
        values["online"] = sum(_span(part) for part in cpu_list.folded(online[0]).split(","))
    else:
        yield Unread(Cpu, (), "online", GapReason.UNSUPPORTED, "this version does not list the CPUs on line")
    if named:
        values["model"] = ", ".join(named)
    else:
        yield Unread(Cpu, (), "model", GapReason.UNSUPPORTED, "the machine does not name its processors")
    yield Cpu(**values)
    for label, texts in labels.items():
        node = re.fullmatch(r"NUMA node(\d{1,5}) CPU\(s\)", label)
        if node is not None:
            yield Numa(node=str(int(node.group(1))), cpus="" if nothing(texts[0]) else cpu_list.folded(texts[0]))
    listed = sum(re.fullmatch(r"NUMA node\d{1,5} CPU\(s\)", label) is not None for label in labels)
    if listed != values.get("numa_nodes", listed):
        detail = f"announces {values['numa_nodes']} NUMA nodes and shows {listed}"
        yield Unread(Numa, reason=GapReason.TRUNCATED, detail=detail)


def _span(part: str) -> int:
    first, _, last = part.partition("-")
    return int(last or first) - int(first) + 1


def numa(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """CPUs and memory of NUMA nodes from `numactl -H`, whose megabytes have 2^20 bytes."""
    found = numactl.hardware(body)
    for node in found.nodes:
        if node.cpus is None:
            yield Unread(Numa, (str(node.number),), "cpus", GapReason.TRUNCATED, "the list of CPUs is not whole")
        if node.megabytes is None:
            yield Unread(Numa, (str(node.number),), "memory_bytes", GapReason.TRUNCATED, "no line with its size")
        yield Numa(
            node=str(node.number),
            cpus=node.cpus,
            memory_bytes=None if node.megabytes is None else node.megabytes << 20,
        )
    if found.available != len(found.nodes):
        announced = "an unknown number of" if found.available is None else str(found.available)
        yield Unread(Numa, reason=GapReason.TRUNCATED, detail=f"announces {announced} nodes and shows {len(found.nodes)}")


_MODULES = Fill(KernelModule, Layer.APPLIED, ("loaded",))
_CPU = (
    Fill(Cpu, Layer.APPLIED, ("model", "sockets", "cores_per_socket", "threads_per_core", "numa_nodes", "online")),
    Fill(Numa, Layer.APPLIED, ("cpus",)),
)
_LABELS = {"model": "Model name", "online": "On-line CPU(s) list", **_NUMBERS}

SOURCES = (
    Source(
        key="cmdline", command="cat /proc/cmdline", fills=(Fill(KernelParameter, Layer.APPLIED, ("value",)),), parser=Parser.TEXT,
        normalise=command_line, anchor=(r"\S",), proof={"kernel_parameter": r"(?:^|\s)\"?{0}(?:=|\s|$)"}, seconds=5.0,
        proven_by="the kernel's command line of a DGX; proc(5)",
    ),
    Source(
        key="sysctl", command=f"sysctl -e {' '.join(KEYS)}", fills=(Fill(Sysctl, Layer.APPLIED, ("value",), whole=False),),
        parser=Parser.TEXT, normalise=chosen, anchor=(r"^[a-z][\w.-]+ =", rf"^{re.escape(KEYS[-1])} ="),
        proof={"sysctl": "^{0} ="}, seconds=5.0,
        proven_by="sysctl(8): -e leaves out what this kernel does not know",
    ),
    Source(
        key="sysctl_all", command="sysctl -a", fallback_for="sysctl", sent=False,
        fills=(Fill(Sysctl, Layer.APPLIED, ("value",), whole=False),), parser=Parser.TEXT, normalise=sysctl,
        anchor=(r"^[a-z][\w.-]+ =",), proof={"sysctl": "^{0} ="}, proven_by="the vm keys of a virtual machine with eight H200",
    ),
    Source(
        key="modules", command="ls /sys/module /sys/module/kernel", fills=(_MODULES,), parser=Parser.TEXT, normalise=modules,
        anchor=("^/sys/module:$", "^/sys/module/kernel:$"), proof={"kernel_module": "^{0}$"}, seconds=5.0,
        proven_by="Documentation/ABI/stable/sysfs-module: every loaded module, and one built in that has a parameter",
    ),
    Source(
        key="lsmod", command="lsmod", aliases=("cat /proc/modules",), fallback_for="modules", sent=False, fills=(_MODULES,),
        parser=Parser.TEXT, normalise=listed_modules, anchor=(r"^[\w-]+\s+\d+\s",), proof={"kernel_module": r"^{0}\s"},
        proven_by="lsmod(8), proc_modules(5)",
    ),
    Source(
        key="lscpu", command="lscpu", fills=_CPU, parser=Parser.TEXT, normalise=cpu_text,
        anchor=(r"^Architecture:", r"^NUMA node\(s\):"),
        proof={
            "numa": r"^NUMA node{0} CPU\(s\):",
            **{f"cpu.{column}": rf"^\s*{re.escape(label)}:" for column, label in _LABELS.items()},
        },
        proven_by="util-linux 2.38 with the sysfs of two Xeon, two Kunpeng and a DGX GB10",
    ),
    Source(
        key="lscpu_json", command="lscpu -J", aliases=("lscpu --json",), fallback_for="lscpu", sent=False, fills=_CPU,
        parser=Parser.JSON, normalise=cpu_json,
        proof={
            "numa": "/lscpu/[field=NUMA node{0} CPU(s):]",
            **{f"cpu.{column}": f"/lscpu/[field={label}:]" for column, label in _LABELS.items()},
        },
        proven_by="util-linux 2.38 and 2.36",
    ),
    Source(
        key="numactl", command="numactl -H", aliases=("numactl --hardware",),
        fills=(Fill(Numa, Layer.APPLIED, ("cpus", "memory_bytes")),), parser=Parser.TEXT, normalise=numa,
        anchor=(r"^available: \d+ nodes? \(", r"^node distances:"),
        proof={"numa.cpus": "^node {0} cpus:", "numa.memory_bytes": "^node {0} size:"}, seconds=5.0,
        proven_by="hosts with two and eight nodes; numactl.c: hardware()",
    ),
)  # fmt: skip
