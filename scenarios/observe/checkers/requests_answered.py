"""V13: a broker answers what it is asked."""

from __future__ import annotations

from bisect import bisect_left

from emulator.protocol.api import Request
from emulator.protocol.events import GroupStateChanged
from emulator.protocol.fetch import FetchRequest
from emulator.trace.shown_znodes import RequestUnanswered
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.client_facts import NeverAnswered

SLACK_US = 4_000_000
"""How long an answer may take beside the time for which a request may wait."""

WRITTEN = ("Produce", "InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn", "WriteTxnMarkers")
"""The requests that wait for replicas, for as long as their senders wait."""

CONTROLLERS = (
    "AllocateProducerIds", "AlterIsr", "AlterPartitionReassignments", "ControlledShutdown", "ElectLeaders",
    "ListPartitionReassignments",
)  # fmt: skip
"""The requests that become events of the controller."""

IN_STATE = {"JoinGroup": "PreparingRebalance", "SyncGroup": "CompletingRebalance"}
"""The state of its group in which a request of a member waits."""

COMMITS, VERIFIED = ("OffsetCommit", "TxnOffsetCommit"), "TxnOffsetCommit"
"""The requests that wait for the replicas of a group's offsets; before that, since 3.7 (KAFKA-15449), one of them waits
for the transaction's coordinator."""


class RequestsAnswered(Checker):
    """A broker answers each request: no callback is lost, whatever else happens while a request waits
    (RequestChannel, 0.8; a connection takes its next request only then).

    Verified: each request of a client, a follower or a controller that is not answered before its sender gives it up
        and closes the connection: something excuses that since before the broker took it up, or its time to wait was
        not over 4 s ago. A Fetch may wait for max.wait.ms, an OffsetCommit for offsets.commit.timeout.ms, one of a
        transaction for request.timeout.ms before, a JoinGroup while its group prepares a rebalance, a SyncGroup while
        that waits for an assignment.

    Not verified: what the controller answers, whose event may fail, and then has no answer in Kafka either; what waits
        for replicas for longer than its sender does: Produce (``acks_in_time``), and what the coordinator of
        transactions writes (``transactions_end``); requests whose sender ends before; that the answer is the right one.
    """

    ids = ("V13",)
    statement = "received(m) ⇒ ◇≤T answered(m): a broker answers what it is asked"
    fails_when = "a coordinator forgets who waits for the end of a rebalance"

    def begin(self) -> None:
        self._commit_us = self.start.time_us("offsets.commit.timeout.ms", 5_000)
        self._verified_us = self.start.time_us("request.timeout.ms", 30_000)
        self._states: dict[tuple[int, str], str] = {}
        """By broker and group, the state of the group there."""
        self._left: dict[tuple[int, str, str], list[int]] = {}
        """The times at which a group there has left a state."""

    def on_moved(self, event: GroupStateChanged) -> None:
        key = event.node, event.group
        before = self._states.get(key, "")
        if before in IN_STATE.values():
            self._left.setdefault((*key, before), []).append(event.t_us)
        self._states[key] = event.state

    def on_unanswered(self, event: RequestUnanswered) -> None:
        request, free_us = event.request, self.now.reached_since_us(event.node)
        if free_us is None or free_us > event.since_us or not isinstance(request, Request):
            return
        name = request.api.name
        if name in WRITTEN or name in CONTROLLERS or event.node in self.now.impaired:
            return
        held_us = event.t_us - event.since_us
        if name in IN_STATE:
            held_us = self._in_vain_us(event, IN_STATE[name])
        if held_us > SLACK_US + self._may_wait_us(request, name):
            self.violated(event, NeverAnswered(event.node, name, event.client, held_us), None, (event.node,))

    def _may_wait_us(self, request: Request, name: str) -> int:
        if isinstance(request, FetchRequest):
            return request.max_wait_us
        return (self._commit_us if name in COMMITS else 0) + (self._verified_us if name == VERIFIED else 0)

    def _in_vain_us(self, event: RequestUnanswered, state: str) -> int:
        """For how long a member's request has had nothing to wait for; 0: its group has not left ``state`` since."""
        group = getattr(event.request, "group", "")
        left = self._left.get((event.node, group, state), [])
        place = bisect_left(left, event.since_us)
        if place < len(left):
            return event.t_us - left[place]
        return 0 if self._states.get((event.node, group)) == state else event.t_us - event.since_us
