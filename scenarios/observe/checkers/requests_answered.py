"""V13: a broker answers what it is asked."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, NamedTuple

from brokers.transactions.config import TRANSACTION_STATE_TOPIC
from emulator.protocol.api import Request
from emulator.protocol.events import ControllerResigned, GroupMemberRemoved, GroupStateChanged, NodeCrashed
from emulator.protocol.fetch import FetchRequest
from emulator.protocol.groups.group_offsets import OffsetCommitRequest
from emulator.protocol.groups.membership import SyncGroupRequest
from emulator.protocol.produce import InitProducerIdRequest
from emulator.protocol.shown import Remembered
from emulator.protocol.shown_coordination import CoordinatorAppends, CoordinatorWrote
from emulator.protocol.transactions.coordination import OfTransaction
from emulator.protocol.transactions.markers import WriteTxnMarkersRequest
from emulator.protocol.types import TopicPartition
from emulator.trace.shown_znodes import RequestAnswered, RequestUnanswered
from scenarios.observe.checkers.broker_memory import is_settled
from scenarios.observe.checkers.checker import Checker, Moment, forget
from scenarios.observe.findings.client_facts import AnsweredLate, NeverAnswered
from scenarios.observe.findings.facts import Facts
from scenarios.observe.history.broker_answers import LATE_US, InVain
from scenarios.observe.history.coordinated_past import ID, offset_name

SLACK_US = LATE_US
"""How long an answer may take beside the time for which a request may wait."""

GIVEN_UP_US = 1_500_000
"""How long a request that is given up may have had nothing to wait for."""

PRODUCE = "Produce"
WRITTEN = (PRODUCE, "WriteTxnMarkers")
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

VERIFIED = "TxnOffsetCommit"
"""The request that waits for the transaction's coordinator before it writes, since KAFKA-15449 (3.7)."""
IDENTIFIED = "InitProducerId"
"""The request that waits for the controller where brokers ask it for producer ids: for maxWaitMs of
RPCProducerIdManager (3.0 to 3.5), which is request.timeout.ms."""


class Writes(NamedTuple):
    """The writes of a record of a coordinator, by its name, that have no outcome yet.

    Attributes:
        until_us: when the time of the last one is over; the time of its outcome where there is none.
    """

    pending: int
    until_us: int


NONE = Writes(0, -1)


class Undisturbed(NamedTuple):
    """A time in which nothing has disturbed a broker."""

    since_us: int
    until_us: int


class RequestsAnswered(Checker):
    """A broker answers each request: no callback is lost, whatever else happens while a request waits
    (RequestChannel, 0.8; a connection takes its next request only then).

    Verified: each request of a client, a follower or a controller that is not answered when its connection ends, as the
        sender gives it up or for another reason: so long as nothing disturbed its broker, it had nothing to wait for in
        1.5 s at most. A Fetch may wait for max.wait.ms, what says how long it may take for that time, a commit while
        its coordinator writes it, a request of a transaction while the transactional id is written; what asks another
        broker before, for request.timeout.ms: a TxnOffsetCommit since 3.7 (KAFKA-15449), an InitProducerId where the
        controller gives the ids (KIP-730, 3.0) and was disturbed lately; a JoinGroup while its group prepares a
        rebalance, a SyncGroup while that waits for an assignment. Of a client that gives up earlier: all its requests
        of one kind, one after the other, together. So each answer that comes 4 s later than by these rules, but for
        those to fetches of emulated readers, where no disk has held it back. Each request that a broker has in hand
        when the cluster is at rest, by the same rules; what a coordinator writes has its replicas then, where all
        in-sync ones work and have what its broker leads: one that fetches nothing leaves the ISR. What becomes an event
        of a controller is answered, or refused by a broker that is none, where nothing has disturbed that broker since:
        only one that a controller handles as it resigns has no answer (KafkaController.process, 1.1 to 3.9).

    Not verified: Produce with other acks than 0 and 1 (``acks_in_time``); WriteTxnMarkers before the cluster is at rest
        (``transactions_end``), and the markers of a replica that a StopReplica has removed, up to 2.3 (KAFKA-9198);
        fetches whose sender ends before; a SyncGroup of a member that a LeaveGroup removes meanwhile, which no release
        answers (GroupCoordinator.removeMemberAndUpdateGroup, 2.3 to 3.9); that the answer is the right one.
    """

    ids = ("V13",)
    statement = "received(m) ⇒ ◇≤T answered(m): a broker answers what it is asked"
    fails_when = "a coordinator forgets who waits for the end of a rebalance"

    def begin(self) -> None:
        self.history.answers.late.append(self._answered_late)
        self._commit_us = self.start.time_us("offsets.commit.timeout.ms", 5_000)
        self._timeout_us = self.start.time_us("request.timeout.ms", 30_000)
        asking = (VERIFIED, self.start.verifies_offsets), (IDENTIFIED, self.start.asks_for_producer_ids)
        self._asking = tuple(name for name, asks in asking if asks)
        self._logs = self.history.logs
        self._writes: dict[tuple[int, str], Writes] = {}
        """By broker and name of a record, the writes of it there."""
        self._reached: dict[int, list[Undisturbed]] = {}
        """By broker, the times in which nothing has disturbed it."""
        self._states: dict[tuple[int, str], str] = {}
        """By broker and group, the state of the group there."""
        self._left: dict[tuple[int, str, str], list[int]] = {}
        """The times at which a group there has left a state."""
        self._resigned_us: dict[int, int] = {}
        """When each broker resigned as the controller last."""
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

    def on_resigned(self, event: ControllerResigned) -> None:
        self._resigned_us[event.node] = event.t_us

    def on_appends(self, event: CoordinatorAppends) -> None:
        records = event.records
        if records.tp.topic == TRANSACTION_STATE_TOPIC:
            names = [f"{ID}{records.transactional_id}"]
            allowed_us = self._timeout_us if records.value is None else records.value.timeout_ms * 1000
        else:  # nothing waits for tombstones
            names = [offset_name(key.group, key.tp) for key, value in records.entries if value and hasattr(key, "tp")]
            allowed_us = self._commit_us
        for name in names:
            before = self._writes.get((event.node, name), NONE)
            self._writes[event.node, name] = Writes(before.pending + 1, max(before.until_us, event.t_us + allowed_us))

    def on_wrote(self, event: CoordinatorWrote) -> None:
        for of in event.of:
            before = self._writes.get((event.node, of))
            if before is not None:
                last = before.pending == 1
                self._writes[event.node, of] = Writes(before.pending - 1, event.t_us if last else before.until_us)

    def on_crashed(self, event: NodeCrashed) -> None:
        forget(event.node, self._states, self._writes)

    def on_unanswered(self, event: RequestUnanswered) -> None:
        if not (event.in_time and isinstance(event.request, FetchRequest)):
            self._ended(event)  # polls that find nothing are not simulated: such a one may have come just now

    def _answered_late(self, event: RequestAnswered) -> None:
        if type(event.request) is not FetchRequest and event.is_current:
            self._ended(event)  # polls that find nothing are not simulated: it may have come later

    def _ended(self, event: RequestUnanswered | RequestAnswered) -> None:
        request = event.request
        if not isinstance(request, Request):
            return
        reached = self._undisturbed(event, request)
        if reached is None or _waits_for_replicas(request):
            return
        since_us = max(event.since_us, reached.since_us, self._written_us(event.node, request))
        self._look_at(event, request, event.client, since_us, reached)

    def look(self, moment: Moment) -> None:
        for broker in self.cluster.registrations:
            self._note(broker, moment.t_us)

    def _note(self, broker: int, now_us: int) -> None:
        """Note that nothing disturbs a broker now, if it is so."""
        since_us = None if broker in self.now.impaired else self.now.reached_since_us(broker)
        if since_us is not None:
            before = self._reached.setdefault(broker, [])
            if before and before[-1].since_us == since_us:
                before.pop()
            before.append(Undisturbed(since_us, now_us))

    def _undisturbed(self, event: RequestUnanswered | RequestAnswered, request: Request) -> Undisturbed | None:
        """The longest time in which a broker has had a request, and nothing has disturbed it. What waits for another
        broker may have lost what it waits for in a disturbance: then that of before."""
        if request.api.name in CONTROLLERS:
            excused = event.node in self.now.impaired or self._is_lost(event.node, event.since_us)
            return None if excused else Undisturbed(event.since_us, event.t_us)
        self._note(event.node, event.t_us)
        found = [one for one in self._reached.get(event.node, ()) if one.until_us > event.since_us]
        if request.api.name in self._asking:
            found = [one for one in found if one.since_us <= event.since_us]
        return max(found, key=lambda one: one.until_us - max(one.since_us, event.since_us), default=None)

    def _is_lost(self, broker: int, since_us: int) -> bool:
        """Whether an event of a broker's controller may have no answer. It is answered, or refused, whichever broker
        the controller is, but where something disturbs the broker, or it resigns as it handles the event."""
        free_us = self.now.worked_since_us(broker)
        return free_us is None or free_us > since_us or self._resigned_us.get(broker, -1) >= since_us

    def on_remembered(self, event: Remembered) -> None:
        if event.role != "broker" or event.occasion != "rest" or not is_settled(self, event):
            return
        in_hand: Any = event.memories["in_hand"]
        free_us = self.now.reached_since_us(event.node) or 0
        for client, request, since_us in in_hand:
            if request.api.name in CONTROLLERS and self._is_lost(event.node, since_us):
                continue  # the event may have failed
            written = self._replicas_work(event.node)
            if isinstance(request, WriteTxnMarkersRequest) and not self.start.stop_answers:
                written &= self._leads_all(event.node, request)
            if (written and request.api.name != PRODUCE) or not _waits_for_replicas(request):
                until_us = 0 if written else self._written_us(event.node, request)
                since_us, reached = max(since_us, free_us, until_us), Undisturbed(free_us, event.t_us)
                self._look_at(event, request, client, since_us, reached)

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

    def _leads_all(self, broker: int, request: Request) -> bool:
        """Whether a broker leads all that ``request`` writes to. Up to 2.3 one whose replica was removed meanwhile is
        answered when its time is over (KAFKA-9198)."""
        return all(self.cluster.leads(broker, tp) is not None for tp in request.topic_partitions())

    def _is_everywhere(self, broker: int, tp: TopicPartition) -> bool:
        """Whether all in-sync replicas have the whole log of their leader."""
        log, others = self._logs.get(broker, tp), [self._logs.get(one, tp) for one in self.cluster.isr(tp)]
        return all(one is None or log is None or one.end_offset >= log.end_offset for one in others)

    def _look_at(
        self, event: RequestUnanswered | RequestAnswered | Remembered, request: Request, client: int, since_us: int,
        reached: Undisturbed,
    ) -> None:  # fmt: skip
        name = request.api.name
        if self._is_removed(event.node, request, since_us):
            return
        held_us = reached.until_us - since_us
        if name in IN_STATE:
            held_us = self._in_vain_us(event.node, request, since_us, reached.until_us)
        undisturbed_us = since_us - reached.since_us
        vain = InVain(1, held_us, held_us - self._may_wait_us(request, name, undisturbed_us))
        if isinstance(event, RequestAnswered):
            facts: Facts = AnsweredLate(event.node, name, client, held_us)
        else:
            if isinstance(event, RequestUnanswered) and vain.vain_us > 0:
                vain = self.history.answers.given_up((event.node, client, type(request)), vain)
            facts = NeverAnswered(event.node, name, client, vain.held_us, vain.times)
        if vain.vain_us > (GIVEN_UP_US if isinstance(event, RequestUnanswered) else SLACK_US):
            self.violated(event, facts, None, (event.node,))

    def _is_removed(self, broker: int, request: Request, since_us: int) -> bool:
        """Whether ``request`` waits for the assignment of a member that has been removed since."""
        if not isinstance(request, SyncGroupRequest):
            return False
        return self._removed.get((broker, request.member_id), -1) >= since_us

    def _written_us(self, broker: int, request: Request) -> int:
        """Until when ``request`` may wait for what its coordinator writes."""
        names: list[str] = []
        if isinstance(request, OffsetCommitRequest):
            names = [offset_name(request.group, each.tp) for each in request.offsets]
        elif isinstance(request, (OfTransaction, InitProducerIdRequest)):
            names = [f"{ID}{request.transactional_id}"]
        return max([self._writes.get((broker, name), NONE).until_us for name in names], default=-1)

    def _may_wait_us(self, request: Request, name: str, undisturbed_us: int) -> int:
        """``undisturbed_us``: for how long nothing had disturbed its broker as it was taken up."""
        if isinstance(request, FetchRequest):
            return request.max_wait_us
        if name in CONTROLLERS:
            return QUEUED_US
        if name not in WRITTEN and hasattr(request, "timeout_us"):
            return int(request.timeout_us)
        asked_us = self._timeout_us if name in self._asking else 0
        return 0 if name == IDENTIFIED and undisturbed_us > asked_us else asked_us

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
