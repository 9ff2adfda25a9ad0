"""Faults last until they are undone, and a cluster recovers from each or not."""

from __future__ import annotations

from typing import Any

from emulator.protocol.events import Fault
from scenarios.observe.measures.harms import Harm
from scenarios.studies.report.run.faults import Shade, recoveries, shades


def test_a_fault_lasts_until_the_same_machines_are_healed() -> None:
    actions = [
        Fault(10, 1, 0, "link.cut", "1", ""),
        Fault(15, 2, 0, "link.heal", "2", ""),
        Fault(20, 3, 0, "reassign.execute", "", ""),
        Fault(30, 4, 0, "link.heal", "1,2", ""),
        Fault(40, 5, 0, "zk.expire", "1", ""),
        Fault(50, 6, 0, "controller.crash", "3", "process"),
    ]
    found = shades(actions)
    assert [(shade.kind, shade.end_us, shade.lasts) for shade in found] == [
        ("fault", 30, True), ("undo", None, False), ("operator", None, False), ("undo", None, False),
        ("fault", None, False), ("fault", None, True),
    ]  # fmt: skip


def test_heal_ends_every_fault() -> None:
    first, second, _ = shades([
        Fault(1, 1, 0, "broker.crash", "1", ""), Fault(2, 2, 0, "network.partition", "", ""),
        Fault(3, 3, 0, "heal", "", ""),
    ])  # fmt: skip
    assert (first.end_us, second.end_us) == (3, 3)


def test_an_action_of_a_plug_in_that_is_not_loaded_is_a_fault_without_an_end() -> None:
    [shade] = shades([Fault(1, 1, 0, "mine.do", "1", "")])
    assert (shade.kind, shade.end_us, shade.lasts) == ("fault", None, False)


def fault(t_us: int) -> Shade:
    return Shade(t_us, t_us, "fault", "broker.crash", "1", "broker.crash 1", None, lasts=True)


def interval(t_us: int, w_us: int, partition: int = 0, **flags: bool) -> dict[str, Any]:
    held = {"offline": False, "under_min_isr": False, "under_replicated_final": False, **flags}
    return {"t_us": t_us, "w_us": w_us, "seq": t_us, "topic": "orders", "partition": partition, **held}


def test_each_harm_has_its_own_times_and_partitions() -> None:
    rows = [
        interval(20, 10, under_replicated_final=True),
        interval(30, 70),
        interval(25, 5, 1, offline=True, under_replicated_final=True),
        interval(30, 70, 1, under_replicated_final=True),
    ]
    [found] = recoveries([fault(10)], rows, 100)
    assert found.harms == [
        Harm(kind="offline", earlier=False, begun_us=25, until_us=30, held_us=5, partitions=1, left=0),
        Harm(kind="under_replicated_final", earlier=False, begun_us=20, until_us=100, held_us=80, partitions=2, left=1),
    ]


def test_what_lasts_when_the_next_fault_comes_counts_for_both_as_in_the_measure() -> None:
    rows = [interval(20, 60, under_replicated_final=True), interval(80, 20)]
    found = recoveries([fault(10), fault(40), fault(90)], rows, 100)
    assert [[(harm.earlier, harm.begun_us, harm.until_us, harm.left) for harm in one.harms] for one in found] == [
        [(False, 20, 80, 0)], [(True, 40, 80, 0)], [],
    ]  # fmt: skip
