"""One partition on its way to other brokers."""

from attrs import define

from emulator.protocol.assignments import Replicas
from emulator.protocol.types import TopicPartition


@define(eq=False)
class Move:
    """The controller's memory of a reassignment. All that has to survive this controller is in ZooKeeper.

    Attributes:
        target: the requested replicas (RAR, FTR).
        current: the replicas that the move starts from (OAR, CR), and those that it has reached once they are in the
            controller's memory. A controller that finds a widened list takes OAR to be AR - RAR (readings §5).
        step_target: the replicas that the protocol's current step leads to: the whole target, or a hop's TR.
        hop: the number of the hop, of protocols that have hops; each controller counts from 1.
        waiting: the step whose wait has begun and not ended; empty while the move is being worked on.
        waits_for: the brokers that the wait is for, if it is for brokers.
    """

    tp: TopicPartition
    target: Replicas
    current: Replicas = ()
    step_target: Replicas = ()
    hop: int = 1
    waiting: str = ""
    waits_for: Replicas = ()
