"""V13: a broker answers what it is asked."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

from emulator.protocol.api import Request
from emulator.protocol.events import GroupMemberRemoved, GroupStateChanged, NodeCrashed
from emulator.protocol.fetch import FetchRequest
from emulator.protocol.groups.membership import SyncGroupRequest
from emulator.protocol.shown import Remembered
from emulator.protocol.types import TopicPartition
from emulator.trace.shown_znodes import RequestAnswered, RequestUnanswered
from scenarios.observe.checkers.broker_memory import is_settled
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.client_facts import AnsweredLate, NeverAnswered
from scenarios.observe.history.broker_answers import LATE_US

SLACK_US = LATE_US
"""How long an answer may take beside the time for which a request may wait."""

PRODUCE = "Produce"
WRITTEN = (PRODUCE, "InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn", "WriteTxnMarkers")
"""The requests that wait for replicas, for as long as their senders wait."""

ALONE = (0, 1)
"""The acks for which a leader waits for no other replica."""

CONTROLLERS = (
    "AllocateProducerIds", "AlterIsr", "AlterPartitionReassignments", "ControlledShutdown", "ElectLeaders",
    "ListPartitionReassignments",
)  # fmt: skip
"""The requests that become events of the controller, which waits for no broker before it answers."""
QUEUED_US = 15_000_000
"""How long such an event may wait for those before it: each takes seconds where ZooKeeper is slow."""

IN_STATE = {"JoinGroup": "PreparingRebalance", "SyncGroup": "CompletingRebalance"}
"""The state of its group in which a request of a member waits."""

LEFT = "left"
"""Why a LeaveGroup removes a member."""

COMMITS, VERIFIED = ("OffsetCommit", "TxnOffsetCommit"), "TxnOffsetCommit"
"""The requests that wait for the replicas of a group's offsets; before that, since 3.7 (KAFKA-15449), one of them waits
for the transaction's coordinator."""
IDENTIFIED = "InitProducerId"
"""The request that waits for the controller where brokers ask it for producer ids: for maxWaitMs of
RPCProducerIdManager (3.0 to 3.5), which is request.timeout.ms."""


class RequestsAnswered(Checker):
    """A broker answers each request: no callback is lost, whatever else happens while a request waits
    (RequestChannel, 0.8; a connection takes its next request only then).

    Verified: each request of a client, a follower or a controller that is not answered when its connection ends, as the
        sender gives it up or for another reason. Something excuses that since before the broker took it up, or its
        time to wait was not over 4 s ago. A Fetch may wait for max.wait.ms, what says how long it may take for that
        time, an OffsetCommit for offsets.commit.timeout.ms, one of a transaction for request.timeout.ms before, an
        InitProducerId for that long where the controller gives the ids (KIP-730, 3.0), a
        JoinGroup while its group prepares a rebalance, a SyncGroup while that waits for an assignment. So each answer
        that comes later than by these rules, but for those to fetches of emulated readers, where no disk has held it
        back. Each request that a broker has in hand when the cluster is at rest, by the same rules; what a coordinator
        writes has its replicas then, where all in-sync ones work and have what its broker leads: one that fetches
        nothing leaves the ISR. What becomes an event of a controller is answered, or refused by a broker that is none,
        where nothing has disturbed that broker since: only an event that loses its session has no answer.

    Not verified: Produce with other acks than 0 and 1 (``acks_in_time``); before the cluster is at rest, what a
        coordinator of transactions writes (``transactions_end``), which may wait for replicas for longer than its
        sender does; fetches whose sender ends before; a SyncGroup of a member that a LeaveGroup removes meanwhile,
        which no release answers (GroupCoordinator.removeMemberAndUpdateGroup, 2.3 to 3.9); that the answer is the right
        one.
    """

    ids = ("V13",)
    statement = "received(m) ⇒ ◇≤T answered(m): a broker answers what it is asked"
    fails_when = "a coordinator forgets who waits for the end of a rebalance"

    def begin(self) -> None:
        self.history.answers.late.append(self._answered_late)
        self._commit_us = self.start.time_us("offsets.commit.timeout.ms", 5_000)
        self._timeout_us = self.start.time_us("request.timeout.ms", 30_000)
        self._asking = (VERIFIED, IDENTIFIED) if self.start.asks_for_producer_ids else (VERIFIED,)
        self._logs = self.history.logs
        self._states: dict[tuple[int, str], str] = {}
        """By broker and group, the state of the group there."""
        self._left: dict[tuple[int, str, str], list[int]] = {}
        """The times at which a group there has left a state."""
        self._removed: dict[tuple[int, str], int] = {}
        """By broker and member id, the time at which a LeaveGroup has removed the member there."""

    def on_moved(self, event: GroupStateChanged) -> None:
        key = event.node, event.group
        before = self._states.get(key, "")
        if before in IN_STATE.values():
            self._left.setdefault((*key, before), []).append(event.t_us)
        self._states[key] = event.state

    def on_removed(self, event: GroupMemberRemoved) -> None:
        if event.reason == LEFT:
            self._removed[event.node, event.member] = event.t_us

    def on_crashed(self, event: NodeCrashed) -> None:
        for key in [key for key in self._states if key[0] == event.node]:
            del self._states[key]

    def on_unanswered(self, event: RequestUnanswered) -> None:
        request = event.request
        if not isinstance(request, Request) or self._is_excused(event.node, request, event.since_us):
            return
        if event.in_time and isinstance(request, FetchRequest):
            return  # polls that find nothing are not simulated: it may have come just now
        if event.node not in self.now.impaired and not _waits_for_replicas(request):
            self._look_at(event, request, event.client, event.since_us)

    def _answered_late(self, event: RequestAnswered) -> None:
        request = event.request
        if type(request) is FetchRequest or not event.is_current:
            return  # polls that find nothing are not simulated: it may have come later
        if not isinstance(request, Request) or self._is_excused(event.node, request, event.since_us):
            return
        if event.node not in self.now.impaired and not _waits_for_replicas(request):
            self._look_at(event, request, event.client, event.since_us)

    def _is_excused(self, broker: int, request: Request, since_us: int) -> bool:
        """Whether something has disturbed a broker since it took up a request. What becomes an event of its controller
        is answered, or refused, whichever broker the controller is."""
        now = self.now
        free_us = (now.worked_since_us if request.api.name in CONTROLLERS else now.reached_since_us)(broker)
        return free_us is None or free_us > since_us

    def on_remembered(self, event: Remembered) -> None:
        if event.role != "broker" or event.occasion != "rest" or not is_settled(self, event):
            return
        in_hand: Any = event.memories["in_hand"]
        for client, request, since_us in in_hand:
            if request.api.name in CONTROLLERS and self._is_excused(event.node, request, since_us):
                continue  # the event may have failed
            written = request.api.name != PRODUCE and self._replicas_work(event.node)
            if written or not _waits_for_replicas(request):
                self._look_at(event, request, client, max(since_us, self.now.reached_since_us(event.node) or 0))

    def _replicas_work(self, broker: int) -> bool:
        """Whether all that lead or are in sync work, of all partitions: what waits for them has them. And ``broker``
        leads what it believes to."""
        cluster = self.cluster
        leads = all(self._leads(broker, tp) and self._is_everywhere(broker, tp) for tp in cluster.led.get(broker, ()))
        states = cluster.states.values()
        return leads and all(state.leader in state.isr and all(map(self.now.works, state.isr)) for state in states)

    def _leads(self, broker: int, tp: TopicPartition) -> bool:
        """Whether a broker leads a partition as ZooKeeper has it, in its leader epoch: others fetch in no other."""
        leads, state = self.cluster.leads(broker, tp), self.cluster.state(tp)
        return (
            leads is not None
            and state is not None
            and (state.leader, state.leader_epoch) == (broker, leads.leader_epoch)
        )

    def _is_everywhere(self, broker: int, tp: TopicPartition) -> bool:
        """Whether all in-sync replicas have the whole log of their leader."""
        log, others = self._logs.get(broker, tp), [self._logs.get(one, tp) for one in self.cluster.isr(tp)]
        return all(one is None or log is None or one.end_offset >= log.end_offset for one in others)

    def _look_at(
        self, event: RequestUnanswered | RequestAnswered | Remembered, request: Request, client: int, since_us: int
    ) -> None:
        name = request.api.name
        if self._is_removed(event.node, request, since_us):
            return
        held_us = event.t_us - since_us
        if name in IN_STATE:
            held_us = self._in_vain_us(event.node, request, since_us, event.t_us)
        if held_us > SLACK_US + self._may_wait_us(request, name):
            if isinstance(event, RequestAnswered):
                self.violated(event, AnsweredLate(event.node, name, client, held_us), None, (event.node,))
            else:
                self.violated(event, NeverAnswered(event.node, name, client, held_us), None, (event.node,))

    def _is_removed(self, broker: int, request: Request, since_us: int) -> bool:
        """Whether ``request`` waits for the assignment of a member that has been removed since."""
        if not isinstance(request, SyncGroupRequest):
            return False
        return self._removed.get((broker, request.member_id), -1) >= since_us

    def _may_wait_us(self, request: Request, name: str) -> int:
        if isinstance(request, FetchRequest):
            return request.max_wait_us
        if name in CONTROLLERS:
            return QUEUED_US
        if name not in WRITTEN and hasattr(request, "timeout_us"):
            return int(request.timeout_us)
        return (self._commit_us if name in COMMITS else 0) + (self._timeout_us if name in self._asking else 0)

    def _in_vain_us(self, node: int, request: Request, since_us: int, now_us: int) -> int:
        """For how long a member's request has had nothing to wait for; 0: its group has not left the state in which it
        waits since."""
        state, group = IN_STATE[request.api.name], getattr(request, "group", "")
        left = self._left.get((node, group, state), [])
        place = bisect_left(left, since_us)
        if place < len(left):
            return now_us - left[place]
        return 0 if self._states.get((node, group)) == state else now_us - since_us


def _waits_for_replicas(request: Request) -> bool:
    """Whether a broker may answer ``request`` only once other replicas have what it writes."""
    return request.api.name in WRITTEN and getattr(request, "acks", None) not in ALONE
