"""M7: a controller does what it is asked for, unless there is a reason not to."""

from __future__ import annotations

from typing import ClassVar

from emulator.protocol.errors import Errors
from emulator.protocol.events import ControlledShutdownAnswered, MoveAnswered, MoveStarted
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Report
from scenarios.observe.history.history import History

NOT_KNOWN = (Errors.UNKNOWN_SERVER_ERROR.name, Errors.BROKER_NOT_AVAILABLE.name)
"""What a controller answers that does not know the broker which shuts down."""
KNOWN_AFTER_US = 5_000_000


class RefusalsHaveReasons(Checker):
    """A controller that works does not refuse a broker that shuts down as unknown, nor a move as invalid, while it
    knows all brokers concerned.

    Verified: each answer to ControlledShutdown and AlterPartitionReassignments, where controller and brokers have been
        registered, and have reached each other and ZooKeeper, for 5 s without a fault that delays anything.

    Not verified: refusals under faults; the other error codes; what is asked for through ZooKeeper.
    """

    name: ClassVar[str] = "refusals_have_reasons"
    ids: ClassVar[tuple[str, ...]] = ("M7",)
    statement: ClassVar[str] = (
        "asked(b) ∧ b ∈ Z.ids for long ⇒ no refusal: a controller does not refuse what concerns only brokers that live"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-999",)
    fails_when: ClassVar[str | None] = "a controller takes every broker that shuts down for unknown"

    def __init__(self, history: History, report: Report) -> None:
        super().__init__(history, report)
        self._circumstances = history.circumstances
        self._targets: dict[TopicPartition, tuple[int, ...]] = {}

    def on_started(self, event: MoveStarted) -> None:
        self._targets[TopicPartition(event.topic, event.partition)] = event.target

    def on_move_answered(self, event: MoveAnswered) -> None:
        tp = TopicPartition(event.topic, event.partition)
        target = self._targets.pop(tp, ())
        if event.error == Errors.INVALID_REPLICA_ASSIGNMENT.name and target and self._knows(event.t_us, *target):
            self.violated(event, f"the move of {tp} to {list(target)} is answered {event.error}, and all of them live")

    def on_shutdown_answered(self, event: ControlledShutdownAnswered) -> None:
        here = event.controller == self._circumstances.controller
        if event.error in NOT_KNOWN and here and self._knows(event.t_us, event.node):
            self.violated(
                event,
                f"broker {event.node} asks controller {event.controller} to shut down and is answered {event.error}, "
                f"{(event.t_us - self._circumstances.registered[event.node]) / 1e6:.1f} s after it has registered",
            )

    def _knows(self, now_us: int, *brokers: int) -> bool:
        """Whether the controller must know that these brokers live."""
        since = [self._circumstances.reached_since_us(broker) for broker in brokers]
        return all(since_us is not None and now_us - since_us > KNOWN_AFTER_US for since_us in since)
