"""Logs: what is lost, diverges or is truncated wrongly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from brokers.log.log import UnexpectedAppendOffset
from brokers.partition.isr import ByZooKeeper
from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    IsrProposed,
    LogLoaded,
    NodeCrashed,
    PartitionFailed,
    ReplicaStopped,
    Truncated,
)
from emulator.protocol.types import TopicPartition
from fetchers.truncation import Kip101, ToHighWatermark
from scenarios.observe.checkers.converged import FETCHED, IN_SYNC, NOTHING_ASKED
from scenarios.runs.known.reason import (
    CONVERGED,
    DIVERGENCES,
    LOSSES,
    Known,
    always,
    and_what_follows,
    and_where_it_led,
    keeps_its_place,
    of_partition,
    of_replica,
    of_violation,
    or_awaited,
)

if TYPE_CHECKING:
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents

FORGETS = ("append_shape", "truncate_safety")
"""What sees that a log has forgotten a leader epoch."""

_LEARNED = re.compile(r"when its high watermark moves: log start (\d+), high watermark (-?\d+)")


@of_violation
def _no_controller_shrank(past: KeptEvents, violation: Violation) -> bool:
    """The replica came back before any controller had come to take it out of its ISRs."""
    crash, tp = past.lost_unflushed(violation), past.partition(violation)
    if crash is None or tp is None:
        return False
    return not past.found_gone(tp, crash) and not past.failure_handled(crash.node, crash.seq, violation.seq)


@of_violation
def _failover_left_it(past: KeptEvents, violation: Violation) -> bool:
    """A controller was elected while the replica was dead, and left it in the ISR."""
    crash, tp = past.lost_unflushed(violation), past.partition(violation)
    return crash is not None and tp is not None and past.found_gone(tp, crash)


@of_violation
def _not_in_its_memory(past: KeptEvents, violation: Violation) -> bool:
    """A controller has handled the failure of the replica's broker, and had the replica in none of the ISRs that it
    knew."""
    crash, tp = past.lost_unflushed(violation), past.partition(violation)
    return crash is not None and tp is not None and past.in_no_memory(tp, crash, violation.seq)


@of_partition
def _deleted_in_the_isr(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """A replica was deleted after a move that was cancelled or changed had dropped it, stayed in the ISR, and came back
    empty as it was assigned again."""
    stops = [event for event in past.of(ReplicaStopped) if event.deleted and (event.topic, event.partition) == tp]
    loads = [event for event in past.of(LogLoaded) if (event.topic, event.partition) == tp and not event.log_end_offset]
    return any(
        stop.node == loaded.node
        and stop.seq < loaded.seq <= violation.seq
        and any(drop.seq < stop.seq for drop in past.drops(tp, stop.node))
        and past.stayed_in_isr(tp, stop.node, stop.seq, loaded.seq)
        for loaded in loads
        for stop in stops
    )


@of_partition
def _leads_on_with_less(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """A leader has crashed, has lost what it had not flushed or could not recover, and has then led again in the leader
    epoch that it had."""
    return _led_on_with_less(past, tp, violation.seq)


def _led_on_with_less(past: KeptEvents, tp: TopicPartition, until_seq: int) -> bool:
    led = [e for e in past.of(BecameLeader) if (e.topic, e.partition) == tp and e.seq < until_seq]
    return any(
        before.seq < crash.seq < again.seq
        and past.loses(tp, crash, again.seq)
        and past.stayed_in_isr(tp, crash.node, crash.seq, again.seq, before.leader_epoch)
        and not past.found_gone(tp, crash)
        for place, before in enumerate(led)
        for again in led[place + 1 :]
        if (before.node, before.leader_epoch) == (again.node, again.leader_epoch)
        for crash in past.of(NodeCrashed)
        if crash.node == before.node
    )


@or_awaited
def _refuses_its_batch(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """A follower of such a leader that has given up, or is not in the ISR, was ahead of it, and gave up with a batch
    that begins before its end."""
    return _led_on_with_less(past, tp, violation.seq) and any(
        event.error == UnexpectedAppendOffset.__name__
        for event in past.of(PartitionFailed)
        if (event.node, event.topic, event.partition) == (broker, *tp)
    )


@of_partition
def _emptied(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The replica at fault began to follow with a log that retention had emptied, under a leader one of whose epochs,
    of which that log knows nothing, began before its start; and was not truncated to there."""
    broker = violation.broker
    return any(
        0 < event.log_end_offset == past.log_start(tp, broker, event.seq)
        and any(keeps_its_place(past, event, led.log_end_offset) for led in _new_to(past, tp, event))
        for event in past.of(BecameFollower)
        if (event.node, event.topic, event.partition) == (broker, *tp) and event.seq < violation.seq
    )


def _new_to(past: KeptEvents, tp: TopicPartition, follows: BecameFollower) -> list[BecameLeader]:
    """Where leader epochs begin that the follower's log knows nothing of, those after its last role before its process
    was started, and in which its leader has led or followed."""
    loaded = [e.seq for e in past.of(LogLoaded) if (e.node, e.topic, e.partition) == (follows.node, *tp)]
    since = max((seq for seq in loaded if seq < follows.seq), default=follows.seq)
    known = [
        role.leader_epoch
        for kind in (BecameLeader, BecameFollower)
        for role in past.of(kind)
        if (role.node, role.topic, role.partition) == (follows.node, *tp) and role.seq < since
    ]
    had = {role.leader_epoch for role in past.roles(tp, follows.leader)}
    return [
        led
        for led in past.of(BecameLeader)
        if (led.topic, led.partition) == tp
        and led.leader_epoch in had
        and max(known, default=-1) < led.leader_epoch <= follows.leader_epoch
    ]


@of_partition
def _cut_below_its_start(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The log at fault was truncated to before its start."""
    broker = violation.broker
    return any(
        event.log_end_offset < past.log_start(tp, broker, event.seq)
        for event in past.of(Truncated)
        if (event.node, event.topic, event.partition) == (broker, *tp) and event.seq < violation.seq
    )


@of_replica
def _learned_below_start(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """A follower has learned a high watermark from before the start of its log."""
    found = _LEARNED.search(violation.state)
    if found is None:
        return False
    start, high_watermark = map(int, found.groups())
    return 0 <= high_watermark < start and type(past.last_role(tp, broker, violation.seq)) is BecameFollower


@of_partition
def _cut_at_high_watermark(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The log at fault, or another one of the partition before, was cut at its own high watermark by a follower; or it
    ended there when it began to follow, beyond where its leader's epoch began, or with records of an epoch that the
    leader never had."""
    cut = any(
        event.log_end_offset == event.high_watermark and event.seq <= violation.seq
        for event in past.of(Truncated)
        if (event.topic, event.partition) == tuple(tp)
    )
    return cut or any(
        event.log_end_offset == event.high_watermark > 0
        and event.seq <= violation.seq
        and (_is_ahead(past, event) or _leads_without_its_epoch(past, event))
        for event in past.of(BecameFollower)
        if (event.topic, event.partition) == tuple(tp)
    )


def _is_ahead(past: KeptEvents, follows: BecameFollower) -> bool:
    """Whether a follower's log ends beyond where the epoch of its leader begins."""
    return any(
        led.log_end_offset < follows.log_end_offset
        for led in past.of(BecameLeader)
        if (led.node, led.topic, led.partition, led.leader_epoch)
        == (follows.leader, follows.topic, follows.partition, follows.leader_epoch)
    )


@of_partition
def _missed_elections(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The replica at fault has missed elections."""
    return any(_missed(past, violation, tp))


@of_partition
def _missed_within_a_session(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The same, while it followed its leader in another partition: it does not fetch this one as long as another broker
    leads, and a session in which nothing is left ends."""
    return any(_follows_elsewhere(past, role, again.seq) for role, again in _missed(past, violation, tp))


def _missed(
    past: KeptEvents, violation: Violation, tp: TopicPartition
) -> Iterator[tuple[BecameFollower, BecameLeader]]:
    """Where the replica at fault follows under an epoch after which another broker has led, and then its leader again:
    its role, and that leader's. Of logs that are held against each other at the end, it may have taken up another role
    since."""
    broker = violation.broker
    roles = [] if broker is None else past.roles(tp, broker, violation.seq)
    ends = [*(event.seq for event in roles), violation.seq][1:]
    spans = list(zip(roles, ends, strict=True)) if roles else []
    led = [event for event in past.of(BecameLeader) if (event.topic, event.partition) == tp]
    for role, until_seq in spans if violation.invariant == "isr_logs_identical" else spans[-1:]:
        if type(role) is not BecameFollower:
            continue
        others = [other for other in led if other.node != role.leader and other.leader_epoch > role.leader_epoch]
        for again in led:
            back = again.node == role.leader and again.seq < until_seq
            if back and any(other.leader_epoch < again.leader_epoch for other in others):
                yield role, again


@of_partition
def _leads_before_what_it_has(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The replica at fault has led in an epoch before that of its last records, and has not been truncated since: its
    log does not know where the later epoch began, so it is truncated to there."""
    return violation.invariant in FORGETS and any(_read_ahead(past, violation, tp))


@of_partition
def _leads_before_what_its_session_read(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The same, and it followed the leader of that later epoch in another partition as well."""
    return violation.invariant in FORGETS and any(
        _follows_elsewhere(past, role, later.seq) for role, later in _read_ahead(past, violation, tp)
    )


def _read_ahead(
    past: KeptEvents, violation: Violation, tp: TopicPartition
) -> Iterator[tuple[BecameFollower, BecameLeader]]:
    """Where the replica at fault has led in an epoch before that of its last records: its role before, in which it had
    read them, and the later leadership, in which the broker that it followed had written them."""
    broker = violation.broker
    for role, leads in pairwise([] if broker is None else past.roles(tp, broker, violation.seq)):
        if type(role) is not BecameFollower or type(leads) is not BecameLeader:
            continue
        for later in past.of(BecameLeader):
            ahead = (later.node, later.topic, later.partition) == (role.leader, *tp) and later.seq < leads.seq
            if (
                ahead
                and leads.leader_epoch < later.leader_epoch
                and later.log_end_offset < leads.log_end_offset
                and not _truncated_to(past, tp, leads, later.log_end_offset, violation.seq)
            ):
                yield role, later


def _truncated_to(past: KeptEvents, tp: TopicPartition, since: BecameLeader, offset: int, until_seq: int) -> bool:
    """Whether the log of a former leader was truncated to an offset, or to before it."""
    return any(
        (event.node, event.topic, event.partition) == (since.node, *tp)
        and event.log_end_offset <= offset
        and since.seq < event.seq < until_seq
        for event in past.of(Truncated)
    )


def _follows_elsewhere(past: KeptEvents, role: BecameFollower, at_seq: int) -> bool:
    """Whether the follower follows the same leader in another partition at an event."""
    tps = dict.fromkeys(TopicPartition.of(e.topic, e.partition) for e in past.of(BecameFollower) if e.node == role.node)
    lasts = [past.last_role(tp, role.node, at_seq) for tp in tps if tp != (role.topic, role.partition)]
    return any(type(last) is BecameFollower and last.leader == role.leader for last in lasts)


@of_partition
def _cut_by_an_answer(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The log at fault has followed a leader with records of an epoch that the leader never had: it was truncated to
    where the leader said that the epoch ends, or not at all."""
    broker = violation.broker
    return any(
        event.log_end_offset > 0 and event.seq <= violation.seq and _leads_without_its_epoch(past, event)
        for event in past.of(BecameFollower)
        if (event.node, event.topic, event.partition) == (broker, *tp)
    )


def _leads_without_its_epoch(past: KeptEvents, follows: BecameFollower) -> bool:
    """Whether the leader of a follower may never have had records of the last epoch in which the follower had a role
    before: there was another epoch since, the leader had no role in it or appended nothing in it, or its own begins no
    later."""
    tp, epoch = (follows.topic, follows.partition), follows.leader_epoch
    led = [e for e in past.of(BecameLeader) if (e.topic, e.partition) == tp]
    roles = [*led, *(e for e in past.of(BecameFollower) if (e.topic, e.partition) == tp)]
    before = [
        e.leader_epoch for e in roles if e.node == follows.node and e.seq < follows.seq and e.leader_epoch < epoch
    ]
    if not before:
        return False
    last = max(before)
    begins: dict[int, int] = {e.leader_epoch: e.log_end_offset for e in reversed(led)}
    leaders = [role for role in roles if (role.node, role.leader_epoch) == (follows.leader, last)]
    if last < epoch - 1 or not leaders or begins.get(epoch, 0) <= begins.get(last, -1):
        return True
    first = min(leaders, key=lambda role: role.seq)
    return begins.get(epoch) == first.log_end_offset and not any(
        (e.node, e.topic, e.partition) == (follows.leader, *tp) and first.seq < e.seq < follows.seq
        for e in past.of(Truncated)
    )


@of_partition
def _answered_without_an_offset(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """A follower cut its log at its own high watermark, and the log of its leader begins beyond that: the leader has
    deleted the records of the follower's latest epoch, and knew no epoch as early."""
    event = past.event(violation)
    if type(event) is not Truncated:
        return False
    role = next(
        (
            one
            for one in reversed(past.of(BecameFollower))
            if (one.node, one.topic, one.partition) == (event.node, *tp) and one.seq < event.seq
        ),
        None,
    )
    if role is None or event.log_end_offset != role.high_watermark:
        return False
    return past.log_start(tp, role.leader, event.seq) > event.log_end_offset


@of_partition
def _joined_before_it_was_read(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The replica at fault joined the ISR by a fetch from beyond the end of the leader's log."""
    return _joined_by(past, violation, tp, lambda wish, end: end > wish.log_end_offset)


@of_partition
def _joined_and_not_known(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """A leader added the replica at fault to the ISR in ZooKeeper, where it has been since, and took the write for
    failed."""
    broker = violation.broker
    if broker is None:
        return False
    return any(
        wish.kind == "expand" and broker in wish.replicas and past.stayed_in_isr(tp, broker, seq, violation.seq)
        for seq, wish in past.taken_for_refused(tp)
        if seq < violation.seq
    )


@of_partition
def _joined_below_epoch_start(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The replica at fault joined the ISR at the high watermark, before the start of the leader's epoch."""
    return _joined_by(past, violation, tp, lambda wish, end: end < wish.epoch_start_offset)


def _joined_by(
    past: KeptEvents, violation: Violation, tp: TopicPartition, joins: Callable[[IsrProposed, int], bool]
) -> bool:
    """Whether a leader has asked for the replica at fault in the ISR, which had reached ``end``, in such a way, and it
    has been in the ISR since."""
    return any(
        event.kind == "expand"
        and replica == violation.broker
        and joins(event, end)
        and (event.seq == violation.seq or _in_isr_since(past, tp, replica, event.seq, violation.seq))
        for event in past.of(IsrProposed)
        if (event.topic, event.partition) == tuple(tp) and event.seq <= violation.seq
        for replica, end in zip(event.replicas, event.ends, strict=True)
    )


def _in_isr_since(past: KeptEvents, tp: TopicPartition, broker: int, wish: int, until_seq: int) -> bool:
    """Whether ``broker`` was in the ISR from the first write after a wish on."""
    written = next((seq for seq, _ in past.states.get(tp, []) if seq > wish), until_seq)
    return written >= until_seq or past.stayed_in_isr(tp, broker, written, until_seq)


LOGS: tuple[Known, ...] = (
    Known(
        "KIP-101",
        "a follower under a new leader epoch cuts its log at its own high watermark, committed records included",
        (*LOSSES, *DIVERGENCES, "append_shape"),
        lambda policies: isinstance(policies.fetchers.truncation, ToHighWatermark),
        _cut_at_high_watermark,
    ),
    Known(
        "LeaderEpochFileCache.truncateFromEnd (2.3.1 to 2.7.2)",
        "a replica whose log retention has emptied knows no epoch after a restart: it goes on from where it was, "
        "though its new leader has less, and does not get what that leader writes in between",
        (*LOSSES, *DIVERGENCES),
        lambda policies: not isinstance(policies.fetchers.truncation, ToHighWatermark),
        and_what_follows(_emptied),
    ),
    Known(
        "Log.truncateTo (0.8.0 to 2.7.2)",
        "a replica that is truncated to before the start of its log is emptied and goes on from there: it does not get "
        "what its leader has before that",
        (*LOSSES, *DIVERGENCES),
        lambda _policies: True,
        and_what_follows(_cut_below_its_start),
    ),
    Known(
        "KAFKA-3143",
        "a controller that takes over leaves dead replicas in their ISRs, also one that then comes back with less",
        (*LOSSES, *DIVERGENCES),
        lambda policies: not policies.controller.replicas.shrink_at_failover,
        and_what_follows(_failover_left_it),
    ),
    Known(
        "KIP-966",
        "a replica comes back into its ISR without what it had not flushed, or could not recover, before any "
        "controller has removed it",
        (*LOSSES, *DIVERGENCES, "append_shape"),
        lambda _policies: True,
        and_what_follows(_no_controller_shrank),
    ),
    Known(
        "ReplicaStateMachine.handleStateChange (0.8.0)",
        "a controller leaves a dead replica in an ISR to which a leader has added it, as it goes by the ISR that it "
        "knows; the replica comes back without what it had not flushed",
        (*LOSSES, *DIVERGENCES),
        lambda policies: policies.controller.replicas.trusts_memory,
        and_what_follows(_not_in_its_memory),
    ),
    Known(
        "Log.updateHighWatermark (2.4)",
        "a follower takes over a high watermark from before the start of its own log",
        ("offset_bounds",),
        lambda policies: not policies.brokers.start_raises_learned_high_watermark,
        _learned_below_start,
    ),
    Known(
        "KafkaController.updateCurrentReassignment (2.4.1 to 2.7.2)",
        "a move that is cancelled or changed deletes its new replicas also where they are all of the ISR, in which "
        "they stay: one that is assigned again is elected without anything",
        (*LOSSES, *DIVERGENCES),
        lambda policies: policies.controller.topic_znodes == 2,
        and_what_follows(_deleted_in_the_isr),
    ),
    Known(
        "KIP-966",
        "a leader that has crashed leads again in the leader epoch that it had, without what it had not flushed",
        (*LOSSES, *DIVERGENCES),
        lambda _policies: True,
        _leads_on_with_less,
    ),
    Known(
        "KIP-966",
        "a follower that is ahead of such a leader gives up with a batch that begins before its end, until the next "
        "leader epoch (KIP-461); a move may wait for it",
        (CONVERGED,),
        lambda _policies: True,
        _refuses_its_batch,
        statements=(FETCHED, IN_SYNC, NOTHING_ASKED),
    ),
    Known(
        "KAFKA-7128",
        "a follower joins the ISR at the high watermark of a new leader, without what its predecessor had committed",
        (*LOSSES, *DIVERGENCES, "joins_caught_up"),
        lambda policies: not policies.brokers.join_needs_epoch_start,
        and_where_it_led(_joined_below_epoch_start),
    ),
    Known(
        "KafkaApis.handleFetchRequest (0.8.0 to 0.8.1.1)",
        "a follower's fetch counts before it is read: one that is ahead of its leader joins the ISR, and cuts its log "
        "once the fetch is refused",
        (*LOSSES, *DIVERGENCES, "joins_caught_up"),
        lambda policies: policies.brokers.records_fetch_first,
        and_where_it_led(_joined_before_it_was_read),
    ),
    Known(
        "KAFKA-1382",
        "an ISR that is in ZooKeeper though its write seemed to fail: the leader commits without a replica that it has "
        "added",
        (*LOSSES, *DIVERGENCES),
        lambda policies: policies.brokers.isr_writes == ByZooKeeper(compares=False),
        and_what_follows(_joined_and_not_known),
    ),
    Known(
        "KIP-320",
        "a follower that missed elections goes on fetching from the broker that it knew as the leader, which leads "
        "again with other records",
        (*LOSSES, *DIVERGENCES),
        lambda policies: not policies.brokers.checks_epochs,
        and_what_follows(_missed_elections),
    ),
    Known(
        "KAFKA-9338",
        "a session is not held against a new leader epoch: a follower that missed elections goes on fetching within it "
        "from the broker that it knew as the leader, which leads again with other records",
        (*LOSSES, *DIVERGENCES),
        lambda policies: policies.brokers.checks_epochs and not policies.brokers.sessions_keep_epochs,
        and_what_follows(_missed_within_a_session),
    ),
    Known(
        "KIP-320",
        "a follower that missed elections reads what is written under a later epoch than the one in which it then "
        "leads, by a request that was late: its log forgets the later epoch",
        (*LOSSES, *DIVERGENCES, "append_shape"),
        lambda policies: not policies.brokers.checks_epochs,
        and_what_follows(_leads_before_what_it_has),
    ),
    Known(
        "KAFKA-9338",
        "the same within a session, which is not held against a new leader epoch",
        (*LOSSES, *DIVERGENCES, "append_shape"),
        lambda policies: policies.brokers.checks_epochs and not policies.brokers.sessions_keep_epochs,
        and_what_follows(_leads_before_what_its_session_read),
    ),
    Known(
        "KIP-279",
        "a follower truncates to where the leader says that an epoch ends which the leader never had: too little",
        (*LOSSES, "append_shape", *(checker for checker in DIVERGENCES if checker != "truncate_safety")),
        lambda policies: isinstance(policies.fetchers.truncation, Kip101) and not policies.brokers.answers_with_epoch,
        and_what_follows(_cut_by_an_answer),
    ),
    Known(
        "KIP-279",
        "a leader whose records of the follower's latest epoch retention has deleted answers with no offset: the "
        "follower cuts its log at its own high watermark",
        ("truncate_safety",),
        lambda policies: isinstance(policies.fetchers.truncation, Kip101) and not policies.brokers.answers_with_epoch,
        _answered_without_an_offset,
    ),
    Known(
        "KIP-207",
        "a new leader answers a consumer's request for the latest offset before it knows what is committed",
        ("applied_high_watermark",),
        lambda policies: not policies.brokers.latest_is_committed,
        always,
    ),
)
"""Where two explain a finding, the more particular one comes first."""
