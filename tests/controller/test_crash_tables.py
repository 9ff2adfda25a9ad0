"""Crash tables: what the next controller finds and does, row for row (readings §2 and §5). kip-455's has its own file.

The move is (0,1,2) -> (1,3,4), leader 0; undisturbed it ends with the znodes of the last row.
"""

import pytest
from attrs import frozen

from tests.controller.crashes import KAFKA_42, KAFKA_6794, WIKI, Recovery, Znodes, crash_after

OLD, NEW = (0, 1, 2), (1, 3, 4)

Replicas = tuple[int, ...]
WIDE: Replicas = (0, 1, 2, 3, 4)
BY_1 = [(1, "reassigned")]


@frozen
class Row:
    """One row: the step that was the last, what stands in ZooKeeper then, what the next controller does, how it ends.

    ``resumes``: whether it takes up the protocol's steps; ``elects``: whether it moves the leader to 1; ``starts`` and
    ``deletes``: the replicas it tells to start and to delete; ``ends``: what stands there at last.
    """

    after: int
    found: Znodes
    resumes: bool
    elects: bool
    starts: Replicas
    deletes: Replicas
    ends: Znodes
    hop: int = 0


def name(row: Row) -> str:
    return f"{row.after}" + (f"-hop-{row.hop}" if row.hop else "")


def check(row: Row, recovery: Recovery, steps: list[str]) -> None:
    assert recovery.found == row.found
    assert recovery.steps == (steps if row.resumes else [])
    assert recovery.elected == (BY_1 if row.elects else [])
    assert recovery.started == list(row.starts)
    assert recovery.deleted == list(row.deletes)
    assert recovery.end == row.ends
    assert recovery.finished == 1


DONE_42 = Znodes(NEW, 1, NEW, 3, 5)
"""One election, two removals; and two replicas that joined."""

TABLE_42 = [
    Row(1, Znodes(OLD, 0, OLD, 0, 0), True, True, (3, 4), (0, 2), DONE_42),
    Row(2, Znodes(OLD, 0, OLD, 0, 0), True, True, (3, 4), (0, 2), DONE_42),
    Row(3, Znodes(OLD, 0, WIDE, 0, 2), True, True, (), (0, 2), DONE_42),
    Row(4, Znodes(OLD, 1, WIDE, 1, 3), True, False, (), (0, 2), DONE_42),
    Row(5, Znodes(OLD, 1, NEW, 3, 5), True, False, (), (0, 2), DONE_42),
    Row(6, Znodes(NEW, 1, NEW, 3, 5), False, False, (), (), DONE_42),
    Row(7, Znodes(NEW, 1, NEW, 3, 5), False, False, (), (), DONE_42),
]
"""AR is the old list until step 6; what tells the rows apart is the state znode."""


@pytest.mark.parametrize("row", TABLE_42, ids=name)
def test_kafka_42(row: Row) -> None:
    recovery = crash_after(KAFKA_42, OLD, NEW, f"kafka-42.{row.after}", joins=False)
    check(row, recovery, list(KAFKA_42.reassignment.procedure.steps))


DONE_WIKI = Znodes(NEW, 1, NEW, 4, 6)
"""Steps 2 and 7 raise the epoch, and each of two removals."""

AGAIN_2 = Znodes(NEW, 1, NEW, 5, 7)
AGAIN_7 = Znodes(NEW, 1, NEW, 5, 7)
AGAIN_8 = Znodes(NEW, 1, NEW, 7, 11)
"""The dropped replicas are in AR still: failover starts them, they join, and are dropped once more."""

TABLE_WIKI = [
    Row(1, Znodes(WIDE, 0, OLD, 0, 0), True, True, (), (0, 2), DONE_WIKI),
    Row(2, Znodes(WIDE, 0, OLD, 1, 1), True, True, (), (0, 2), AGAIN_2),
    Row(3, Znodes(WIDE, 0, OLD, 1, 1), True, True, (), (0, 2), AGAIN_2),
    Row(4, Znodes(WIDE, 0, WIDE, 1, 3), True, True, (), (0, 2), DONE_WIKI),
    Row(5, Znodes(WIDE, 0, WIDE, 1, 3), True, True, (), (0, 2), DONE_WIKI),
    Row(6, Znodes(WIDE, 0, WIDE, 1, 3), True, True, (), (0, 2), DONE_WIKI),
    Row(7, Znodes(WIDE, 1, WIDE, 2, 4), True, False, (), (0, 2), AGAIN_7),
    Row(8, Znodes(WIDE, 1, NEW, 4, 6), True, False, (), (0, 2), AGAIN_8),
    Row(9, Znodes(WIDE, 1, NEW, 4, 6), True, False, (), (0, 2), AGAIN_8),
    Row(10, DONE_WIKI, False, False, (), (), DONE_WIKI),
    Row(11, DONE_WIKI, False, False, (), (), DONE_WIKI),
    Row(12, DONE_WIKI, False, False, (), (), DONE_WIKI),
]
"""The next controller never starts a replica as new: its failover has started all of AR = OAR + RAR."""


@pytest.mark.parametrize("row", TABLE_WIKI, ids=name)
def test_wiki(row: Row) -> None:
    recovery = crash_after(WIKI, OLD, NEW, f"wiki.{row.after}")
    check(row, recovery, list(WIKI.reassignment.procedure.steps))


HOP_1, HOP_2 = (0, 1, 2, 3), (0, 1, 3, 4)
"""CR after each hop; the third ends at the target."""


def done(epoch: int, version: int) -> Znodes:
    return Znodes(NEW, 1, NEW, epoch, version)


def with_2(epoch: int, version: int) -> Znodes:
    """The harm of hop 2: nobody takes replica 2 out of the ISR, nor tells it to stop."""
    return Znodes(NEW, 1, (1, 2, 3, 4), epoch, version)


def outside(leader: int, epoch: int, version: int) -> Znodes:
    """The harm of the last hop: replica 0 is not in the assignment, and in the ISR, maybe leading."""
    return Znodes(NEW, leader, (0, 1, 3, 4), epoch, version)


NOT_BEGUN = Znodes(OLD, 0, OLD, 0, 0)
BEFORE_HOP_2 = Znodes(HOP_1, 0, HOP_1, 2, 3)
BEFORE_HOP_3 = Znodes(HOP_2, 0, HOP_2, 5, 7)
TABLE_6794 = [
    *(Row(step, NOT_BEGUN, True, True, (3, 4), (0, 2), done(8, 10), hop=1) for step in (1, 2, 3, 4)),
    Row(5, Znodes(HOP_1, 0, OLD, 0, 0), True, True, (4,), (0, 2), done(7, 9), hop=1),
    *(Row(step, Znodes(HOP_1, 0, OLD, 1, 1), True, True, (4,), (0, 2), done(8, 10), hop=1) for step in (6, 7, 8)),
    *(Row(step, Znodes(HOP_1, 0, OLD, 2, 2), True, True, (4,), (0, 2), done(9, 11), hop=1) for step in (9, 10, 11, 13)),
    *(Row(step, BEFORE_HOP_2, True, True, (4,), (0, 2), done(8, 10), hop=2) for step in (1, 2, 3, 4)),
    Row(5, Znodes(HOP_2, 0, HOP_1, 2, 3), True, True, (), (0,), with_2(6, 8), hop=2),
    *(Row(step, Znodes(HOP_2, 0, HOP_1, 3, 4), True, True, (), (0,), with_2(7, 9), hop=2) for step in (6, 7, 8)),
    Row(9, Znodes(HOP_2, 0, HOP_1, 4, 5), True, True, (), (0,), with_2(8, 10), hop=2),
    *(Row(step, Znodes(HOP_2, 0, (0, 1, 3), 5, 6), True, True, (), (0,), done(9, 11), hop=2) for step in (10, 11, 13)),
    *(Row(step, BEFORE_HOP_3, True, True, (), (0,), done(8, 10), hop=3) for step in (1, 2, 3, 4)),
    Row(5, outside(0, 5, 7), False, False, (), (), outside(0, 5, 7), hop=3),
    *(Row(step, outside(0, 6, 8), False, False, (), (), outside(0, 6, 8), hop=3) for step in (6, 7, 8)),
    Row(9, outside(1, 7, 9), False, False, (), (), outside(1, 7, 9), hop=3),
    *(Row(step, done(8, 10), False, False, (), (), done(8, 10), hop=3) for step in (10, 11, 12, 13)),
]
"""The next controller begins at step 1, from CR in ZooKeeper, and counts hops from 1. Where CR is in sync it changes
nothing before its hop; else it announces CR first (one epoch). From step 5 on a dropped replica stands nowhere."""

TAKEN = {6794: [f"kafka-6794.{number}" for number in range(1, 14)]}


def hops_left(row: Row) -> list[str]:
    """The steps of the hops that remain: one for each of 3 and 4 that is not in CR, and the last."""
    hops = 1 + sum(replica not in row.found.assigned for replica in NEW)
    last = {hop: hop == hops for hop in range(1, hops + 1)}
    return [f"{step} hop {hop}" for hop in last for step in TAKEN[6794] if last[hop] or step != "kafka-6794.12"]


@pytest.mark.parametrize("row", TABLE_6794, ids=name)
def test_kafka_6794(row: Row) -> None:
    recovery = crash_after(KAFKA_6794, OLD, NEW, f"kafka-6794.{row.after}", hop=row.hop)
    check(row, recovery, hops_left(row))


def test_the_tables_are_complete() -> None:
    """Every step of every protocol, and every hop, has its row."""
    assert [row.after for row in TABLE_42] == list(range(1, 8))
    assert [row.after for row in TABLE_WIKI] == list(range(1, 13))
    rows = [(row.hop, row.after) for row in TABLE_6794]
    assert rows == [(hop, step) for hop in (1, 2, 3) for step in range(1, 14) if step != 12 or hop == 3]
