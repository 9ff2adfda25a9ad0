"""E2, E4: a control request that is refused has no effect."""

from __future__ import annotations

from typing import Literal

from emulator.protocol.events import BecameFollower, BecameLeader, ControlResponse, FetchPosition, ReplicaStopped
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.control_facts import RefusedAndDone

NONE = "NONE"
ENDED = -1
"""The offset of a partition that is not fetched any more (``FetchPosition``)."""
LOOKED_AT_FIRST = ("FENCED_LEADER_EPOCH", "STALE_CONTROLLER_EPOCH", "INCONSISTENT_TOPIC_ID")
"""The errors of a partition for which a broker looks before it does anything."""
OfReplica = BecameLeader | BecameFollower | ReplicaStopped | FetchPosition


class RefusedChangesNothing(Checker):
    """A broker that refuses a control request, because of its controller epoch or its broker epoch, takes no role,
    stops no replica and ends no fetch because of it; nor does it in a partition that it refuses alone, because of its
    leader epoch or the id of its topic.

    Verified: the roles taken, the replicas stopped and the partitions that are no longer fetched by the request that a
        response is about: they have its cause.

    Not verified: copies to other log directories; the metadata.
    """

    ids = ("E2", "E4")
    statement = "refused(m) ⇒ the replicas of b are as before: a control request that is refused changes nothing"
    catches = ("KAFKA-7235", "KAFKA-4447")
    fails_when = "a broker acts before it looks at the epochs of a request"

    def begin(self) -> None:
        self._last: dict[int, OfReplica] = {}
        """The last change that a request has brought about, by broker."""
        self._done: dict[int, dict[TopicPartition, OfReplica]] = {}
        """The changes that the request in hand has brought about, by broker."""

    def on_role(self, event: BecameLeader | BecameFollower | ReplicaStopped) -> None:
        self._note(event)

    def on_position(self, event: FetchPosition) -> None:
        if event.offset == ENDED:
            self._note(event)

    def _note(self, event: OfReplica) -> None:
        self._last[event.node] = event
        self._done.setdefault(event.node, {})[TopicPartition.of(event.topic, event.partition)] = event

    def on_response(self, event: ControlResponse) -> None:
        last, done = self._last.get(event.node), self._done.pop(event.node, {})
        if event.error != NONE and last is not None:
            self._compare(event, last, event.error)
        for name, error in zip(event.refused, event.errors, strict=True) if done else ():
            of_partition = done.get(TopicPartition.parse(name)) if error in LOOKED_AT_FIRST else None
            if of_partition is not None:
                self._compare(event, of_partition, error)

    def _compare(self, event: ControlResponse, done: OfReplica, error: str) -> None:
        if done.cause == event.cause and event.cause:
            facts = RefusedAndDone(event.node, event.api, event.controller, event.controller_epoch, error, _did(done))
            self.violated(event, facts, TopicPartition.of(done.topic, done.partition))


def _did(event: OfReplica) -> Literal["lead", "follow", "stop", "end the fetches of"]:
    """The change that the broker had begun."""
    if isinstance(event, FetchPosition):
        return "end the fetches of"
    return "stop" if type(event) is ReplicaStopped else "lead" if type(event) is BecameLeader else "follow"
