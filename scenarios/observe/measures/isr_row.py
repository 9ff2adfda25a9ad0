"""The state of a partition as ZooKeeper has it: a row of ``isr_events``, and the flags in it.

Current is the replicas before the move while one is open and the assignment otherwise; AR = target - original during a
move:

- under_replicated_assigned: |ISR| < |assignment|, Kafka's rule up to 2.4;
- under_replicated_draft: |Current ∩ ISR| < |Current|, KIP-352's draft (kip-352-draft);
- under_replicated_final: |assignment - AR| - |ISR| > 0, KIP-352 as adopted in 2.5;
- under_min_isr: |ISR| < min.insync.replicas of the topic, as it was set at that time;
- offline: ZooKeeper names no leader (-1). A leader that is dead and not yet replaced is not offline here; its
  partition shows in ``isr_live``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from emulator.protocol.znodes import LeaderAndIsr


class IsrRow(NamedTuple):
    """The state of a partition in ZooKeeper.

    Attributes:
        assignment: the replicas in the topic's znode.
        original, target: replicas before and after the open move; empty outside one.
        isr_live: the members of the ISR whose process runs, even if ZooKeeper does not know it yet.
        under_replicated_assigned, under_replicated_draft, under_replicated_final, under_min_isr, offline: the flags.
    """

    t_us: int
    seq: int
    w_us: int
    topic: str
    partition: int
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    assignment: tuple[int, ...]
    original: tuple[int, ...]
    target: tuple[int, ...]
    min_isr: int
    isr_live: int
    under_replicated_assigned: bool
    under_replicated_draft: bool
    under_replicated_final: bool
    under_min_isr: bool
    offline: bool

    @property
    def wanted(self) -> int:
        """The replication factor: of the target while a move is open, else of the assignment."""
        return len(self.target or self.assignment)


IsrChanged = Callable[[int, IsrRow | None, IsrRow | None, IsrRow | None], None]
"""A subscriber's arguments for each change of a partition: the time; the row that ended and the one that begins (None
where there is none); and the last row before the one that begins."""


def flags(
    state: LeaderAndIsr,
    assignment: tuple[int, ...],
    original: tuple[int, ...],
    target: tuple[int, ...],
    min_isr: int,
) -> tuple[bool, bool, bool, bool, bool]:
    """The five flags of one partition, in the order in which the module describes them."""
    in_sync = state.isr
    current = original or assignment
    adding = [node for node in target if node not in original]
    kept = sum(node not in adding for node in assignment)
    return (
        len(in_sync) < len(assignment),
        sum(node in in_sync for node in current) < len(current),
        kept - len(in_sync) > 0,
        len(in_sync) < min_isr,
        state.leader == -1,
    )
