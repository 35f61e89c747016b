"""Logs of collective libraries: wrappers, versions, interleaving, cut lines, and what is kept of each phrase."""

import json
from io import BytesIO

import pytest

from auditor.dialects import nccl_gather
from auditor.dialects.nccl_job import Log
from auditor.dialects.nccl_lines import MAX_LINE
from auditor.dialects.nccl_log import Reader
from auditor.dialects.nccl_words import connection, kind, made_device, membership, setting

HEAD = "cn-7:81:92 [3] NCCL INFO "
SEND = "Channel 02/0 : 3[3] -> 11[3] [send] via NET/IB/2/GDRDMA"
RECEIVE = "Channel 02/0 : 3[3] -> 11[3] [receive] via NET/IB/2/GDRDMA"
FAR = "cn-8:51:62 [3] NCCL INFO "


def read(*lines: str | bytes, end: str = "\n") -> Log:
    reader = Reader()
    raw = b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines) + end.encode()
    reader.read(BytesIO(raw), "job.log")
    return reader.finish()


def pairs(log: Log) -> list[tuple[str, str, int]]:
    return [(a.host.name, b.host.name, count) for a, b, count in log.between_hosts()]


@pytest.mark.parametrize(
    "wrap",
    [
        "{}",
        "[1,11]<stdout>:{}",
        "11: {}",
        "[1,11]<stderr>:[2026-03-04 05:06:07] {}",
        "Mar  4 05:06:07 node kernel-relay[7]: {}",
        "<14>1 2026-03-04T05:06:07.1Z collector job 7 - - {}",
        "pod/worker-3-x7k2p/trainer {}",
        "\x1b[32mworker-3\x1b[0m | {}",
        "{}\r",
        "epoch 1:  10%|#    |\repoch 1:  20%|##   |\r{}",
        "2026-03-04T05:06:07Z stdout F {}",
    ],
)
def test_what_launchers_and_collectors_put_around_a_line_does_no_harm(wrap: str) -> None:
    log = read(wrap.format(HEAD + SEND), wrap.format(FAR + RECEIVE))
    assert pairs(log) == [("cn-7", "cn-8", 1)]
    assert [end.gpu for end in log.ends] == [3, 3]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda text: json.dumps({"log": text + "\n", "stream": "stdout", "time": "2026-03-04T05:06:07Z"}),
        lambda text: json.dumps({"kubernetes": {"pod": "w-3"}, "message": "\x1b[1m" + text + "\x1b[0m"}),
        lambda text: json.dumps(text + "\r\n"),
        lambda text: "node-1 " + json.dumps({"log": text}),
    ],
)
def test_lines_inside_json_are_opened(wrap) -> None:
    assert pairs(read(wrap(HEAD + SEND), wrap(FAR + RECEIVE))) == [("cn-7", "cn-8", 1)]


def test_json_that_is_cut_still_gives_the_line_in_it() -> None:
    log = read('{"log":"' + HEAD + SEND + '\\n","stream":"std', '{"log":"' + FAR + RECEIVE + '\\n","str')
    assert pairs(log) == [("cn-7", "cn-8", 1)]


def test_carriage_returns_of_windows_are_no_part_of_values() -> None:
    log = read(HEAD + "NCCL_IB_HCA set to ibp0\r", HEAD + "Using network IB\r")
    assert list(log.hosts["cn-7"].environment["NCCL_IB_HCA"]) == ["ibp0"]
    assert list(log.hosts["cn-7"].networks) == ["IB"]


@pytest.mark.parametrize(
    ("text", "network", "device", "relay", "direct", "lone"),
    [
        ("Channel 06/0 : 7[7] -> 14[6] [receive] via NET/IB/6/GDRDMA", "IB", 6, False, True, False),
        ("Channel 06/0 : 7[7] -> 14[6] [send] via NET/IB/2(10)/GDRDMA", "IB", 2, True, True, False),
        ("Channel 06/0 : 7[7] -> 14[6] [send] via NET/IBext_v11/2/GDRDMA(PCI)", "IBext_v11", 2, False, True, False),
        ("Channel 06/1 : 7[7] -> 14[6] [send] via NET/IB/2/GDRDMA/Shared", "IB", 2, False, True, True),
        ("Channel 06 : 7[7] -> 14[6] [send] via NET/Socket/0/Shared", "Socket", 0, False, False, True),
        ("Channel 03 : 15[a01d0] -> 6[a01c0] [receive] via NET/AWS Libfabric/3/GDRDMA", "AWS Libfabric", 3, False, True, False),
        ("Ring 00 : 3[3] -> 4[4] [send] via NET/IB/0", "IB", 0, False, False, False),
        ("Ring 00 : 3 -> 4 [send] via NET/IB/0/GDRDMA", "IB", 0, False, True, False),
        ("Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/1/GDRDMA comm 0x7f01 nRanks 16", "IB", 1, False, True, False),
    ],
)
def test_every_form_of_a_connection(text: str, network: str, device: int, relay: bool, direct: bool, lone: bool) -> None:
    said = connection(text, cut=False)
    assert said is not None
    assert (said.network, said.device, said.relay, said.direct, said.lone) == (network, device, relay, direct, lone)


def test_brackets_hold_the_bus_in_old_versions_and_the_gpu_in_new_ones() -> None:
    old, new = (connection(f"Channel 00/0 : 1[{text}] -> 0[{text}] [send] via NET/IB/1", cut=False) for text in ("81000", "5"))
    assert old is not None and new is not None
    assert (old.gpu, new.gpu) == (None, 5)


def test_nothing_is_concluded_from_what_a_cut_line_does_not_say() -> None:
    for text in (SEND.removesuffix("/GDRDMA"), SEND.removesuffix("DMA"), SEND.removesuffix("GDRDMA")):
        said = connection(text, cut=True)
        assert said is not None and said.direct is None
    whole = connection(SEND, cut=True)
    assert whole is not None and whole.direct is True


def test_connections_pair_whatever_the_order_and_once_though_a_log_is_given_twice() -> None:
    log = read(FAR + RECEIVE, HEAD + SEND, HEAD + SEND, FAR + RECEIVE)
    assert sum(log.pairs.values()) == 1
    assert not log.open


def test_an_end_without_the_other_stays_open() -> None:
    log = read(HEAD + SEND)
    assert sum(log.open.values()) == 1


def test_communicators_of_one_process_are_told_apart() -> None:
    begin = "ncclCommInitRank comm 0x{0} rank {1} nranks 2 cudaDev 3 nvmlDev 3 busId 5000 commId 0x{2} - Init START"
    near, far = "cn-7:81:92 [3] NCCL INFO ", "cn-8:51:62 [3] NCCL INFO "
    lines = []
    for key, device in (("a1", 0), ("b2", 1)):
        for head, rank, way in ((near, 0, "send"), (far, 1, "receive")):
            lines.append(head + begin.format(f"7{rank}{key}", rank, key))
            lines.append(f"{head}Channel 00/0 : 0[3] -> 1[3] [{way}] via NET/IB/{device}/GDRDMA")
    log = read(*lines)
    assert sorted(log.communicators) == ["0xa1", "0xb2"]
    assert sorted((a.index, b.index) for a, b, _ in log.between_hosts()) == [(0, 0), (1, 1)]
    assert not any(group.mixed for group in log.communicators.values())


def test_old_versions_without_ids_are_doubted_when_a_rank_is_two_processes() -> None:
    text = "Channel 00 : 0[0] -> 1[0] [send] via NET/IB/0"
    log = read("cn-7:81:92 [0] NCCL INFO " + text, "cn-9:11:12 [0] NCCL INFO " + text)
    assert log.communicators[""].mixed


def test_connections_of_communicators_that_cannot_be_told_apart_are_not_paired() -> None:
    text = "Channel 00 : 0[0] -> 1[0] [{}] via NET/IB/{}"
    log = read(
        "cn-7:81:92 [0] NCCL INFO " + text.format("send", 0),
        "cn-9:11:12 [0] NCCL INFO " + text.format("send", 1),
        "cn-8:51:62 [0] NCCL INFO " + text.format("receive", 1),
    )
    assert not log.pairs


def test_two_writes_on_one_line_are_both_read_and_the_broken_one_is_counted() -> None:
    log = read(FAR + "Using network IB", HEAD + SEND[:-3] + FAR + "NCCL_IB_TC set by environment to 106.")
    assert list(log.hosts["cn-8"].environment["NCCL_IB_TC"]) == ["106"]
    assert sorted(log.hosts) == ["cn-7", "cn-8"]
    assert log.hosts["cn-7"].damaged == 1


def test_a_write_that_begins_after_other_words_makes_no_new_host() -> None:
    log = read(HEAD + "Using network IB", "loss 0.25" + HEAD + "NCCL_IB_TC set by environment to 106.")
    assert list(log.hosts) == ["cn-7"]
    assert "NCCL_IB_TC" in log.hosts["cn-7"].environment


@pytest.mark.parametrize(
    ("tail", "cut"),
    [
        (HEAD + "Channel 03/0 : 3[3] -> ", True),
        (HEAD + "Channel 03/0 : 3[3] -> 11[3] [send] via NET/IB/1", True),
        (HEAD + SEND, False),
        (HEAD + "comm 0x1 rank 0 nranks 1 cudaDev 0 busId 1000 - Init COMPLETE", False),
        ("cn-7:81:92 [3] NC", True),
        ("cn-7:81:92 [", True),
        ("# Avg bus bandwidth : 391.8", False),
    ],
)
def test_a_file_that_ends_in_the_middle_of_a_line_is_cut(tail: str, cut: bool) -> None:
    reader = Reader()
    file = reader.read(BytesIO(f"{HEAD}Using network IB\n{tail}".encode()), "job.log")
    assert file.cut is cut
    assert file.lines == 2


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("NCCL_IB_TC set by environment to 106.", ("NCCL_IB_TC", "106")),
        ("NCCL_NET_GDR_LEVEL set by environment to PIX", ("NCCL_NET_GDR_LEVEL", "PIX")),
        ("NCCL_IB_HCA set to =ibp0,ibp1", ("NCCL_IB_HCA", "=ibp0,ibp1")),
        ("NCCL_TOPO_FILE set by environment to /x/y.v2.xml", ("NCCL_TOPO_FILE", "/x/y.v2.xml")),
        ("RCCL_MSCCL_ENABLE set by environment to 0.", ("RCCL_MSCCL_ENABLE", "0")),
        ("NCCL_X set by environment to -1.", ("NCCL_X", "-1")),
    ],
)
def test_settings(text: str, wanted: tuple[str, str]) -> None:
    assert setting(text) == wanted


def test_the_index_of_a_connection_is_the_place_in_the_list_of_its_process() -> None:
    log = read(HEAD + "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_2:1/IB [2]mlx5_5:2/IB [RO]; OOB e0:10.1.1.1<0>", HEAD + SEND)
    nic = log.ends[0].nic
    assert nic is not None and (nic.name, nic.port, nic.link) == ("mlx5_5", "2", "IB")


def test_the_out_of_band_interface_is_no_device_also_where_a_blank_stands_before_the_semicolon() -> None:
    log = read(HEAD + "NET/IB : Using [0]mlx5_0:1/RoCE ; OOB [1]odd:1/IB:10.1.1.1<0>")
    assert [nic.name for nic in log.hosts["cn-7"].processes[81].nics.values()] == ["mlx5_0"]


def test_devices_printed_one_by_one_and_merged_ones() -> None:
    log = read(
        HEAD + "NET/IB: [0] mlx5_0:uverbs0:1/RoCE provider=Mlx5 speed=200000 context=0x55 "
        "pciPath=/sys/devices/pci0000:37/0000:37:01.0/0000:3b:00.0 ar=0",
        HEAD + "NET/IB : Made virtual device [0] name=mlx5_0 speed=200000 ndevs=1",
        HEAD + "NET/IB : Made virtual device [4] name=mlx5_0+mlx5_1 speed=400000 ndevs=2",
    )
    nics = log.hosts["cn-7"].processes[81].nics
    assert (nics[0].pci, nics[0].speed, nics[0].members) == ("0000:3b:00.0", 200000, ())
    assert (nics[4].name, nics[4].speed, nics[4].members) == ("mlx5_0+mlx5_1", 400000, ("mlx5_0", "mlx5_1"))
    assert made_device("Made virtual device [x] name=a") is None


def test_ranks_their_hosts_and_where_they_stopped() -> None:
    log = read(
        HEAD + "ncclCommInitRank comm 0x5 rank 3 nranks 16 cudaDev 3 nvmlDev 5 busId 5d000 commId 0xabc - Init START",
        HEAD + "comm 0x5 rank 3 nRanks 16 nNodes 2 localRanks 8 localRank 3 MNNVL 1",
        HEAD + "Connected all rings, use ring PXN 0 GDR 1",
        HEAD + "ncclCommInitRank comm 0x5 rank 3 nranks 16 cudaDev 3 nvmlDev 5 busId 5d000 commId 0xabc - Init COMPLETE",
    )
    (group,) = log.communicators.values()
    rank = group.ranks[3]
    assert (group.size, group.nodes, group.nvlink_domain) == (16, 2, True)
    assert (rank.gpu, rank.bus, rank.local_ranks, rank.started, rank.complete, rank.connected) == (
        5,
        "5d000",
        8,
        True,
        True,
        True,
    )
    assert membership("comm 0xzz rank") is None


def test_an_id_that_is_printed_only_at_the_end_takes_the_rank_along() -> None:
    log = read(
        HEAD + "comm 0x5 rank 3 nRanks 16 nNodes 2 localRanks 8 localRank 3 MNNVL 0",
        HEAD + "comm 0x5 rank 3 nranks 16 cudaDev 3 busId 5d000 commId 0xabc - Init COMPLETE",
    )
    assert [(key, sorted(group.ranks)) for key, group in log.communicators.items()] == [("", []), ("0xabc", [3])]
    assert log.communicators["0xabc"].ranks[3].local_ranks == 8


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("NCCL version 2.16.5+cuda11.8", "NCCL 2.16.5+cuda11.8"),
        ("[1,0]<stdout>:NCCL version 2.8.3+cuda11.2", "NCCL 2.8.3+cuda11.2"),
        ("RCCL version 2.18.3+hip6.0 HEAD:abc", "RCCL 2.18.3+hip6.0"),
        ("RCCL version : 2.30.4-HEAD:2b2", "RCCL 2.30.4-HEAD:2b2"),
    ],
)
def test_versions_without_a_head(line: str, version: str) -> None:
    assert list(read(line).versions) == [version]


def test_warnings_with_their_place_in_the_code_are_counted_by_kind() -> None:
    log = read(
        "",
        "[2026-07-23 04:16:01] cn-7:81:92 [1] misc/socket.cc:745 (socketStart) NCCL WARN Connect to 10.1.1.9<4711> failed",
        "",
        "cn-7:82:93 [2] misc/socket.cc:745 NCCL WARN Connect to 10.1.1.7<80> failed",
    )
    assert [(name, seen.count) for name, seen in log.hosts["cn-7"].warnings.items()] == [("Connect to # failed", 2)]
    assert kind("x 0xff 12.5") == "x # #"


def test_rings_trees_and_channels() -> None:
    log = read(
        HEAD + "comm 0x5 rank 0 nRanks 4 nNodes 2 localRanks 2 localRank 0 MNNVL 0",
        HEAD + "Channel 00/02 :    0   1   2   3",
        HEAD + "Channel 01/02 :    0   3   2   1",
        HEAD + "Ring 00 : 3 -> 0 -> 1",
        HEAD + "Tree 0 : -1 -> 0 -> 1/-1/-1",
        HEAD + "Trees [0] 1/-1/-1->0->-1 [1] -1/-1/-1->0->1",
        HEAD + "2 coll channels, 0 nvls channels, 2 p2p channels, 2 p2p channels per peer",
    )
    (group,) = log.communicators.values()
    assert {number: ring.split() for number, ring in group.rings.items()} == {0: list("0123"), 1: list("0321")}
    assert (group.trees, group.channels) == (2, 2)
    assert not log.hosts["cn-7"].damaged


def test_a_topology_file_that_a_plug_in_set_is_not_the_operators() -> None:
    log = read(
        HEAD + "NET/OFI Running on P5 platform, Setting NCCL_TOPO_FILE environment variable to /opt/x/p5.xml",
        HEAD + "NCCL_TOPO_FILE set by environment to /opt/x/p5.xml",
        HEAD + "NCCL_TOPO_FILE set by environment to /srv/me.xml",
    )
    assert list(log.hosts["cn-7"].topology_files) == ["/srv/me.xml"]


def test_adapters_are_counted_of_the_provider_that_is_used_for_them() -> None:
    log = read(
        HEAD + "NET/OFI Selected Provider is verbs;ofi_rxm (found 58 nics)",
        FAR + "NET/OFI Selected Provider is efa (found 4 nics)",
    )
    assert [list(host.found) for host in log.hosts.values()] == [[], [4]]


def test_binary_is_passed_over() -> None:
    log = read(bytes(range(256)) * 64, b"\xff\xfe NCCL INFO \x00", HEAD + "Using network IB", b"CCL" * 1000)
    assert list(log.hosts) == ["cn-7"]


def test_one_endless_line_takes_no_memory_and_hides_nothing_behind_it() -> None:
    class Endless:
        left = 100

        def read(self, size: int, /) -> bytes:
            self.left -= 1
            if self.left < 0:
                return b""
            return b"NCCL" * (size // 4) if self.left else f"\n{HEAD}Using network IB\n".encode()

    reader = Reader()
    file = reader.read(Endless(), "endless")
    log = reader.finish()
    assert file.size > 100_000_000
    assert file.lines == 2
    assert list(log.hosts["cn-7"].networks) == ["IB"]


def test_a_line_longer_than_the_limit_is_cut_there() -> None:
    log = read(HEAD + "NCCL_X set by environment to " + "y" * 2 * MAX_LINE, HEAD + "Using network IB")
    assert log.hosts["cn-7"].environment == {}
    assert list(log.hosts["cn-7"].networks) == ["IB"]


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nccl_gather, "CONNECTIONS", 10)
    monkeypatch.setattr(nccl_gather, "RANKS", 10)
    lines = [f"cn-7:81:92 [0] NCCL INFO Channel 00/0 : 0[0] -> {rank}[0] [send] via NET/IB/0" for rank in range(20)]
    lines += [f"cn-7:81:{rank} [0] NCCL INFO comm 0x{rank:x} rank {rank} nranks 99 commId 0x1 - Init START" for rank in range(20)]
    lines += [f"cn-7:81:92 [0] NCCL INFO NCCL_V{number} set by environment to 1." for number in range(1000)]
    log = read(*lines)
    assert log.full == {"connections", "ranks"}
    assert len(log.hosts["cn-7"].environment) == nccl_gather.PER_HOST


def test_only_so_many_bytes_of_a_file_are_read() -> None:
    reader = Reader()
    file = reader.read(BytesIO(b"x\n" * (2 << 20)), "large", most=1 << 20)
    assert file.too_large
    assert file.size < 3 << 20
