"""What the operator knows of a move before he asks for it, and of all his moves while he carries a plan out."""

from __future__ import annotations

from attrs import frozen

from emulator.protocol.assignments import Replicas, without
from emulator.protocol.types import TopicPartition


@frozen
class PlannedMove:
    """One partition of a plan.

    Attributes:
        place: where it stands in the plan, from 0.
        before, target: its replicas when the plan was made, preferred leader first, and those it is to have.
        size: bytes that one replica held when the plan was made.
    """

    tp: TopicPartition
    place: int
    before: Replicas
    target: Replicas
    size: int = 0

    @property
    def added(self) -> Replicas:
        return without(self.target, self.before)

    @property
    def removed(self) -> Replicas:
        return without(self.before, self.target)

    @property
    def bytes(self) -> int:
        """What has to be copied for it."""
        return self.size * len(self.added)

    @property
    def leader_moves(self) -> bool:
        """Whether its preferred leader is not among the replicas that it is to have."""
        return self.before[:1] != () and self.before[0] not in self.target


@frozen
class Progress:
    """A plan that is being carried out.

    Attributes:
        waiting: the moves that have not been asked for, in the order of the strategy.
        in_flight: those that have been and, as far as the operator knows, are under way.
        ended: how many are over, whatever came of them.
    """

    waiting: tuple[PlannedMove, ...]
    in_flight: tuple[PlannedMove, ...] = ()
    ended: int = 0
