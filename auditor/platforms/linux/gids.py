"""The address tables of RDMA ports: what `ibv_devinfo -v` prints of them; from captures `show_gids`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor.address import Layer
from auditor.dialects import ibv_devinfo, show_gids
from auditor.facts import Gid
from auditor.model import Fill, GapReason, Normalised, Parser, Source, Unread

_KINDS = {"RoCE v1": "v1", "IB/RoCE v1": "v1", "RoCE v2": "v2"}
COLUMNS = ("address", "kind")
"""What `ibv_devinfo -v` fills; which network device an entry belongs to it does not print."""


def of_device(device: ibv_devinfo.Device) -> Iterator[Normalised]:
    """The entries of every port of one device. Before rdma-core 28 the kinds of Ethernet ports are not printed."""
    for port in device.ports:
        infiniband = port.fields.get("link_layer") == "InfiniBand"
        for index, text in port.gids.items():
            key = (device.name, port.number, str(index))
            kind = "ib" if infiniband else _KINDS.get(port.gid_kinds.get(index, ""))
            try:
                yield Gid(rdma_name=key[0], port=key[1], index=key[2], address=show_gids.long_form(text), kind=kind)
            except ValueError as error:
                yield Unread(Gid, key, detail=str(error))
                continue
            if kind is None:
                yield Unread(Gid, key, "kind", GapReason.UNSUPPORTED, "an older tool, which prints no kind of RoCE")


def table(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Every entry with its network device. The tool prints the same version for InfiniBand and for RoCE v1."""
    rows = show_gids.entries(body)
    for row in rows:
        key = (row.device, row.port, str(row.index))
        kind = row.version if row.netdev or row.version == "v2" else None
        yield Gid(
            rdma_name=key[0], port=key[1], index=key[2], address=row.address, kind=kind or None, netdev=row.netdev or None
        )  # fmt: skip
        if not kind:
            detail = "without a network device InfiniBand and RoCE v1 look alike"
            yield Unread(Gid, key, "kind", GapReason.UNSUPPORTED, detail)
    counted = show_gids.counted(body)
    if counted is not None and counted != len(rows):
        yield Unread(Gid, detail=f"the tool counts {counted} entries, {len(rows)} were read")
    begun = len(re.findall(r"^\S+\s+\d+\s+\d+\s+[0-9a-f]{4}:", body, re.MULTILINE))
    if counted is None and begun != len(rows):
        yield Unread(Gid, detail=f"{begun} entries begin in the answer, {len(rows)} were read")


SOURCES = (
    Source(
        key="show_gids", command="show_gids", sent=False,
        fills=(Fill(Gid, Layer.APPLIED, ("address", "kind", "netdev")),),
        parser=Parser.TEXT, normalise=table, anchor=(r"^DEV\s+PORT\s+INDEX\s+GID\s", r"^n_gids_found=\d+\s*$"),
        proof={"gid": r"^{0}\s+{1}\s+{2}\s"},
        proven_by="show_gids of a ConnectX-6 host; sbin/show_gids of mlnx-tools",
    ),
)  # fmt: skip
