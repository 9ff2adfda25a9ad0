"""A reassignment protocol: how one partition gets from its replicas to the requested ones."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from controller.context import ControllerContext
from controller.move import Move
from controller.reassignment.steps_work import StepsWork
from controller.steps import Procedure
from emulator.protocol.assignments import ReplicaAssignment, Replicas
from emulator.protocol.types import TopicPartition


@frozen
class Awaited:
    """The condition that a step waits for: with ``alive``, that these brokers are alive; else that they are in the
    ISR."""

    replicas: Replicas
    alive: bool = False


class ReassignmentProtocol:
    """The steps of a move. ``ByZnode`` or ``ByApi`` is how it is requested; see the two subclasses.

    A protocol keeps no state outside the ``Move``; after a failover the next controller starts from ZooKeeper.

    Attributes:
        procedure: its steps and phases.
        topic_version: the version of the topics' znodes that it needs at least: 2 has adding and removing replicas.
    """

    __slots__ = ()

    procedure: ClassVar[Procedure]
    topic_version: ClassVar[int]

    async def advance(self, work: StepsWork, move: Move) -> None:
        """Begin the move, or take it as far as possible.

        Raises: StateChangeFailed where the partition cannot be moved; ControllerMoved, SessionExpired.
        """
        raise NotImplementedError

    async def isr_changed(self, work: StepsWork, move: Move) -> None:
        """Handle a change of the partition's state znode; by default, advance."""
        await self.advance(work, move)

    def concerns(self, move: Move, brokers: Sequence[int]) -> bool:
        """Whether the start of ``brokers`` is a reason to advance; by default, if one is in the target."""
        return any(broker in move.target for broker in brokers)

    def awaits(self, step: str, current: Replicas, target: Replicas, leader: int) -> Awaited | None:
        """The condition that ``step`` waits for; None: it does not wait. By default the step of the phase ``move.wait``
        waits until the target is in the ISR.

        Args:
            current: the assignment in ZooKeeper.
            target: the requested replicas.
            leader: the leader of the partition.
        """
        return Awaited(target) if step == self.procedure.phases["move.wait"].last else None

    def awaits_at(self, step: str, edge: str, current: Replicas, target: Replicas, leader: int) -> Awaited | None:
        """The condition that a move waits for if this edge of a step is the last that it has reached. A move that a new
        controller has resumed does not reach the gate of its wait again (KIP-455): its last step is the one before."""
        if edge == "after":
            steps = list(self.procedure.steps)
            step = next(iter(steps[steps.index(step) + 1 :]), "")
        return self.awaits(step, current, target, leader)


class RequestedByZnode(ReassignmentProtocol):
    """A protocol whose moves are requested in /admin/reassign_partitions alone (``ByZnode``).

    Attributes:
        follows_znode: whether the znode is read whenever it changes and before an entry is taken out, so that others
            may edit it; a request for a partition that is being moved is then ignored (Kafka 0.8.0). Otherwise only its
            creation counts, the memory says what is left, and the newest request wins.
    """

    __slots__ = ()

    topic_version: ClassVar[int] = 1
    follows_znode: ClassVar[bool] = False

    def refuses(self, context: ControllerContext, tp: TopicPartition, target: Replicas) -> str:
        """Why a requested move is not made, as text for the log; empty where it is made."""
        replicas = context.replicas(tp)
        if context.is_deleting(tp.topic):
            return "the topic is being deleted"
        if not replicas:
            return "no such partition"
        return "assigned already" if replicas == target else ""


class RequestedByApi(ReassignmentProtocol):
    """A protocol whose moves are requested by KIP-455's API or in the znode (``ByApi``)."""

    __slots__ = ()

    topic_version: ClassVar[int] = 2

    async def begin(self, work: StepsWork, tp: TopicPartition, wanted: ReplicaAssignment) -> None:
        """Make ``wanted`` the assignment that ``tp`` moves to, instead of any earlier request, and advance.

        Raises: as ``advance``.
        """
        raise NotImplementedError
