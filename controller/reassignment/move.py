"""One partition on its way to other brokers."""

from attrs import define

from emulator.protocol.types import TopicPartition


@define(eq=False)
class Move:
    """What the controller remembers of a move; all that must survive it stands in ZooKeeper.

    Attributes:
        target: the replicas asked for (RAR, FTR).
        current: the replicas that the move starts from (OAR, CR), and once the controller's memory has them, those
            it has come to. A controller that finds a widened list takes OAR to be AR - RAR (readings §5).
        aim: where the protocol's current step goes: the whole target, or a hop's TR.
        hop: of protocols with hops, counted from 1 by each controller anew.
        waiting: the step whose wait has begun and not ended; empty while the move is being worked on.
        waits_for: the brokers that the wait is for, where it is for brokers.
    """

    tp: TopicPartition
    target: tuple[int, ...]
    current: tuple[int, ...] = ()
    aim: tuple[int, ...] = ()
    hop: int = 1
    waiting: str = ""
    waits_for: tuple[int, ...] = ()
