"""The rail rule without a plan: what most hosts show is what the others should be."""

from auditor.cabling.rails import RailSight, infer_plan


def pod(hosts: int = 6, nics: int = 4) -> dict[tuple[str, int], tuple[str, str]]:
    """Healthy rail wiring: NIC n of host h in port h of leaf n."""
    return {(f"gpu-{host}", nic): (f"leaf-{nic}", f"Ethernet{8 * host}") for host in range(hosts) for nic in range(nics)}


def plan_of(wiring: dict[tuple[str, int], tuple[str, str]]) -> tuple[dict[tuple[str, str], tuple[str, str]], tuple[str, ...]]:
    sights = [RailSight(host, "model-x", f"0000:{nic:02x}:00.0", f"ens{nic}", far) for (host, nic), far in wiring.items()]
    found = infer_plan(sights)
    return {link.a.place: link.b.place for link in found.plan.links}, found.notes


def test_healthy_wiring_is_its_own_plan() -> None:
    wiring = pod()
    planned, notes = plan_of(wiring)
    assert planned == {(host, f"ens{nic}"): far for (host, nic), far in wiring.items()}
    assert notes == ()


def test_two_crossed_cables_and_one_in_a_neighbouring_port_have_their_place() -> None:
    wiring = pod()
    healthy, _ = plan_of(wiring)
    wiring["gpu-2", 1], wiring["gpu-2", 3] = wiring["gpu-2", 3], wiring["gpu-2", 1]
    wiring["gpu-5", 0] = ("leaf-0", "Ethernet48")
    assert plan_of(wiring)[0] == healthy


def test_hosts_of_two_leaf_groups_keep_to_their_own_leaves() -> None:
    wiring = pod() | {
        (f"gpu-{10 + host}", nic): (f"leaf-{10 + nic}", f"Ethernet{8 * host}") for host in range(6) for nic in range(4)
    }
    healthy, _ = plan_of(wiring)
    wiring["gpu-12", 0], wiring["gpu-12", 2] = wiring["gpu-12", 2], wiring["gpu-12", 0]
    assert plan_of(wiring)[0] == healthy
    assert healthy["gpu-12", "ens0"] == ("leaf-10", "Ethernet16")


def test_a_storage_nic_in_any_port_is_left_out_and_said() -> None:
    wiring = pod()
    healthy, _ = plan_of(wiring)
    for host in range(6):
        wiring[f"gpu-{host}", 9] = ("storage-leaf", f"Ethernet{200 + host}")
    planned, notes = plan_of(wiring)
    assert planned == healthy
    assert len(notes) == 1
    assert "0000:09:00.0" in notes[0]


def test_too_few_hosts_make_no_rule() -> None:
    planned, notes = plan_of(pod(hosts=2))
    assert planned == {}
    assert "too few hosts" in notes[0]


def test_a_host_all_of_whose_nics_are_on_other_rails_is_judged_like_the_others() -> None:
    wiring = pod() | {
        (f"gpu-{10 + host}", nic): (f"leaf-{10 + nic}", f"Ethernet{8 * host}") for host in range(6) for nic in range(4)
    }
    healthy, _ = plan_of(wiring)
    for nic in range(4):
        wiring["gpu-12", nic] = (f"leaf-{10 + (nic + 1) % 4}", "Ethernet16")
    assert plan_of(wiring) == (healthy, ())


def test_hosts_that_claim_the_same_ports_are_left_out_and_said() -> None:
    wiring = pod()
    for nic in range(4):
        wiring["gpu-5", nic] = (f"leaf-{nic}", "Ethernet16")
    planned, notes = plan_of(wiring)
    assert not {"gpu-2", "gpu-5"} & {host for host, _ in planned}
    assert len(notes) == 1
    assert "gpu-2 ens0" in notes[0]
    assert "gpu-5 ens3" in notes[0]
