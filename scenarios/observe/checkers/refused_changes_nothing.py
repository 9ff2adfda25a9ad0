"""E2, E4: a control request that is refused has no effect."""

from __future__ import annotations

from typing import ClassVar, Literal

from emulator.protocol.events import BecameFollower, BecameLeader, ControlResponse, ReplicaStopped
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Report
from scenarios.observe.findings.control_facts import RefusedAndDone
from scenarios.observe.history.history import History

NONE = "NONE"
OfReplica = BecameLeader | BecameFollower | ReplicaStopped


class RefusedChangesNothing(Checker):
    """A broker that refuses a control request, because of its controller epoch or its broker epoch, takes no role and
    stops no replica because of it.

    Verified: the roles taken and the replicas stopped by the request that a response is about: both have its cause.

    Not verified: partitions that are refused one by one for their leader epoch (``epochs_grow``, ``stops_in_order``);
        the metadata.
    """

    name: ClassVar[str] = "refused_changes_nothing"
    ids: ClassVar[tuple[str, ...]] = ("E2", "E4")
    statement: ClassVar[str] = (
        "refused(m) ⇒ the replicas of b are as before: a control request that is refused changes nothing"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-7235", "KAFKA-4447")
    fails_when: ClassVar[str | None] = "a broker acts before it looks at the epochs of a request"

    def __init__(self, history: History, report: Report) -> None:
        super().__init__(history, report)
        self._last: dict[int, OfReplica] = {}
        """The last role that a broker took or replica that it stopped, by broker."""

    def on_leader(self, event: BecameLeader) -> None:
        self._last[event.node] = event

    def on_follower(self, event: BecameFollower) -> None:
        self._last[event.node] = event

    def on_stopped(self, event: ReplicaStopped) -> None:
        self._last[event.node] = event

    def on_response(self, event: ControlResponse) -> None:
        last = self._last.get(event.node)
        if event.error != NONE and last is not None and last.cause == event.cause and event.cause:
            facts = RefusedAndDone(
                event.node, event.api, event.controller, event.controller_epoch, event.error, _did(last)
            )
            self.violated(event, facts, TopicPartition.of(last.topic, last.partition))


def _did(event: OfReplica) -> Literal["lead", "follow", "stop"]:
    """The role change that the broker had begun."""
    return "stop" if type(event) is ReplicaStopped else "lead" if type(event) is BecameLeader else "follow"
