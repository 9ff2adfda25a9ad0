"""Data in the event of a fault."""

from __future__ import annotations

from emulator.protocol.events import Fault


def brokers(target: str) -> tuple[int, ...]:
    return Fault(1_000, 1, 0, "link.cut", target, "").brokers


def test_the_brokers_of_a_fault_are_the_machines_whose_names_are_numbers() -> None:
    assert brokers("2") == (2,)
    assert brokers("0,12,ZooKeeper,client p-1,operator") == (0, 12)
    assert brokers("") == ()
