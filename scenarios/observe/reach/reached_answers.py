"""Answers to clients and operators, as reach."""

from __future__ import annotations

from collections.abc import Iterator

from emulator.protocol.events import (
    BatchesProduced,
    ConsumerFailed,
    ControlledShutdownAnswered,
    ElectionAnswered,
    MoveAnswered,
    MoveCancelled,
    PositionReset,
)
from emulator.trace.events import ZkSession
from scenarios.observe.reach.part import ReachPart, Release

PRODUCE = (
    "NOT_LEADER_FOR_PARTITION", "NOT_ENOUGH_REPLICAS", "REQUEST_TIMED_OUT", "UNKNOWN_TOPIC_OR_PARTITION",
    "KAFKA_STORAGE_ERROR",
)  # fmt: skip
"""The last errors of batches that producers give up."""


class ReachedAnswers(ReachPart):
    """Error codes and outcomes, as clients report them."""

    @classmethod
    def names(cls, release: Release) -> Iterator[str]:
        for error in PRODUCE:
            yield f"batch given up: {error}"
        yield "consumer reset: out of range"
        yield "controlled shutdown: NONE"
        yield "controlled shutdown: NOT_CONTROLLER"
        yield "preferred election refused: PREFERRED_LEADER_NOT_AVAILABLE"
        if release.protocol.name == "kip-455":
            yield "move cancelled"
            for error in ("INVALID_REPLICA_ASSIGNMENT", "NO_REASSIGNMENT_IN_PROGRESS"):
                yield f"move refused: {error}"

    def on_produced(self, event: BatchesProduced) -> None:
        if event.error != "NONE":
            self.count(f"batch given up: {event.error}")

    def on_reset(self, event: PositionReset) -> None:
        if event.reason != "start":
            self.count(f"consumer reset: {event.reason}")

    def on_consumer_failed(self, event: ConsumerFailed) -> None:
        self.count("consumer failed")

    def on_shutdown(self, event: ControlledShutdownAnswered) -> None:
        self.count(f"controlled shutdown: {event.error}")

    def on_election(self, event: ElectionAnswered) -> None:
        if event.error != "NONE":
            self.count(f"preferred election refused: {event.error}")

    def on_cancelled(self, event: MoveCancelled) -> None:
        self.count("move cancelled")

    def on_answered(self, event: MoveAnswered) -> None:
        if event.error != "NONE":
            self.count(f"move refused: {event.error}")


class ReachedSessions(ReachPart):
    """Ends of ZooKeeper sessions."""

    @classmethod
    def names(cls, release: Release) -> Iterator[str]:
        yield "session expired"
        yield "session closed"

    def on_session(self, event: ZkSession) -> None:
        if event.state != "created":
            self.count(f"session {event.state}")
