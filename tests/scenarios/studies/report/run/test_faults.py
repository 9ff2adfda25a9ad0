"""Faults last until they are undone, and a cluster recovers from each or not."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.protocol.events import Fault
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
    return {"t_us": t_us, "w_us": w_us, "topic": "orders", "partition": partition, **held}


@pytest.mark.parametrize(("end_us", "over_us"), [(100, 50), (50, None)])
def test_recovered_when_no_partition_is_harmed_any_more(end_us: int, over_us: int | None) -> None:
    rows = [interval(20, 10, under_replicated_final=True), interval(25, 25, 1, offline=True, under_min_isr=True)]
    [found] = recoveries([fault(10)], rows, end_us)
    assert (found.harm, found.begun_us, found.partitions, found.over_us) == ("without a leader", 25, 2, over_us)


def test_what_lasts_when_the_next_fault_comes_counts_for_both_as_in_the_measure() -> None:
    rows = [interval(20, 60, under_replicated_final=True)]
    first, second, third = recoveries([fault(10), fault(40), fault(90)], rows, 100)
    assert (first.harm, first.begun_us, first.over_us) == ("under-replicated", 20, 80)
    assert (second.harm, second.begun_us, second.over_us) == ("under-replicated", 40, 80)
    assert (third.harm, third.over_us) == ("", 90)
