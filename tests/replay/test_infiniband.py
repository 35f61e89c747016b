"""A fabric-manager host over real SSH: the adapters it has decide which fabrics are walked."""

from __future__ import annotations

import shutil
from pathlib import Path

from auditor import yamldoc
from auditor.collect.inventory import Inventory
from auditor.collect.live import LiveCollector
from auditor.facts import IbNode, IbPort
from auditor.lab.server import Lab
from auditor.model import Device, GapReason
from auditor.parse import parse_device
from auditor.platforms import platforms
from auditor.settings import Collection, Credentials

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "infiniband"
ANSWERS = {
    "ibstat": ("ibstat", "infiniband_ethernet_and_down"),
    "ibnetdiscover -C mlx5_0": ("ibnetdiscover", "parallel_links_engines_and_quotes"),
    "iblinkinfo -l -C mlx5_0": ("iblinkinfo", "unplugged_deaf_and_engines"),
}


def test_the_fabric_behind_each_active_adapter_is_walked(tmp_path: Path) -> None:
    folder = tmp_path / "fm-01"
    folder.mkdir()
    outputs = []
    for at, (command, (source, case)) in enumerate(ANSWERS.items()):
        shutil.copy(FIXTURES / source / case / "output.txt", folder / f"{at}.txt")
        outputs.append({"file": f"{at}.txt", "command": command, "exit": 0})
    (folder / "device.yaml").write_text(yamldoc.dump({"platforms": ["infiniband"], "prompt": "ops@fm:~$ ", "outputs": outputs}))
    with Lab(tmp_path) as lab:
        devices = tuple(Device(name, ("infiniband",), "127.0.0.1", port) for name, port in lab.ports.items())
        settings = Collection(
            ssh_config=None, known_hosts=(lab.known_hosts,),
            credentials=Credentials(username=lab.username, key_file=lab.client_key, use_agent=False),
        )  # fmt: skip
        (collected,) = LiveCollector(Inventory(devices, {}), settings).collect(devices, frozenset({"ib_port", "ib_node"}))
    assert [output.command for output in collected.outputs] == list(ANSWERS)
    assert {output.failure for output in collected.outputs} == {None}
    state = parse_device("fm-01", collected.outputs, platforms(), names=("infiniband",))
    assert len(state.rows(IbNode)) == 9
    assert state.rows(IbPort)["a088c203006b0200", "3"].state == "down"
    assert [gap for gap in state.gaps if gap.reason in (GapReason.TRUNCATED, GapReason.UNPARSED)] == []
