"""Controllers and brokers: failover, shutdown, requests, deletion."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from controller.operations.brokers import LOST_DIRS
from emulator.protocol.events import (
    ControllerElected,
    ControllerResigned,
    ControlRequest,
    ControlResponse,
    LeaderElected,
    LogDirFailed,
    NodeCrashed,
)
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import (
    ALL_BROKERS,
    BROKER_IDS,
    CONTROLLER,
    CONTROLLER_EPOCH,
    DELETE_TOPICS,
    REASSIGN_PARTITIONS,
    broker_path,
    decode_config,
    state_path,
    topic_entity,
    topic_path,
)
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.checkers.converged import UNCLEAN
from scenarios.observe.checkers.counts_true import OF_A_TERM
from scenarios.observe.findings.control_facts import NotNotified, ReplicasChangedUnasked, RequestTakenOut
from scenarios.observe.findings.convergence_facts import DoesNotLead, LeaderGone, NeverLed, RequestStays
from scenarios.observe.findings.gauge_facts import CountWrong, GaugeNegative
from scenarios.observe.findings.memory_facts import BrokerRemembers, ControllerRemembers, ResignedKeeps
from scenarios.observe.findings.metadata_facts import KnowsEarlierEpoch, KnowsOtherThanZooKeeper
from scenarios.runs.known.ledger import witnesses
from scenarios.runs.known.reason import (
    Reason,
    Shows,
    always,
    asks_for_moves,
    of_lacking,
    of_partition,
    of_replica,
    of_violation,
    or_awaited,
)

if TYPE_CHECKING:
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents

SHUTDOWN = "shutdown."
UNKNOWN = "UNKNOWN_SERVER_ERROR"
"""With which a broker refuses what is for a later broker epoch than it knows (KAFKA-9839)."""
ELECT_OFFLINE = (("broker-failure.2", "after"), ("broker-startup.3", "after"))
NAMED_BY_EACH = ("live_brokers", "controller")
"""The memories of a broker that each UpdateMetadata replaces, also one about no partition."""
LOOKS_AT_BROKERS = ("broker-failure.", "broker-startup.")


@or_awaited
def _behind_its_epoch(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """A replica without its role, given up, or out of the ISR, on a broker that has refused metadata, as if the request
    were wrong, for a later broker epoch than it knew of, since it was started, and has had no role in the partition
    since it took metadata after that."""
    answers = _answers_about_metadata(past, broker, violation.seq)
    refused = [event.seq for event in answers if event.error == UNKNOWN][-1:]
    taken = [
        event.seq for event in answers if event.error == "NONE" and event.seq > min(refused, default=violation.seq)
    ]
    role = past.last_role(tp, broker, violation.seq)
    return bool(refused) and (role is None or role.seq < min(taken, default=violation.seq))


@of_replica
def _has_refused_metadata(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The broker that knows nothing of the partition, or another leader, has refused metadata, as if the request were
    wrong, since it was started, and the partition has had its leader and leader epoch since before that."""
    if not isinstance(violation.facts, KnowsOtherThanZooKeeper):
        return False
    raised = _raised(past, tp, violation.seq)
    return any(
        event.error == UNKNOWN and max(raised, default=0) < event.seq
        for event in _answers_about_metadata(past, broker, violation.seq)
    )


@of_violation
def _goes_on_with_earlier_metadata(past: KeptEvents, violation: Violation) -> bool:
    """The broker has refused metadata, as if the request were wrong, since it was started: after the last change of the
    partition of which it knows earlier replicas or an earlier ISR; or last of all, where it knows other live brokers or
    another controller, which each UpdateMetadata names."""
    facts, tp = violation.facts, violation.partition
    if not isinstance(facts, BrokerRemembers):
        return False
    answers = _answers_about_metadata(past, facts.broker, violation.seq)
    if facts.memory in NAMED_BY_EACH:
        return [event.error for event in answers[-1:]] == [UNKNOWN]
    if facts.memory != "metadata" or tp is None:
        return False
    changed = _last_change(past, tp, violation.seq)
    return any(event.error == UNKNOWN and changed < event.seq for event in answers)


def _last_change(past: KeptEvents, tp: TopicPartition, until_seq: int) -> int:
    """When the replicas or the state of a partition were written last; ``until_seq``: never."""
    paths = (state_path(tp), topic_path(tp.topic))
    return max((event.seq for event in past.of(ZkWritten) if event.path in paths), default=until_seq)


def _raised(past: KeptEvents, tp: TopicPartition, until_seq: int) -> list[int]:
    """When the partition got a leader, or its leader another epoch."""
    raised = [e.seq for e in past.of(LeaderElected) if (e.topic, e.partition) == tp and e.seq < until_seq]
    return raised + [
        seq
        for (_, before), (seq, after) in pairwise(past.states.get(tp, []))
        if before is not None and after is not None and before.leader_epoch < after.leader_epoch and seq < until_seq
    ]


@of_replica
def _obeyed_a_former_controller(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The replica leads or follows under an earlier leader epoch than ZooKeeper has, by a request of a controller that
    had been replaced; its broker has been restarted since, and remembers no controller epoch."""
    role, state = past.last_role(tp, broker, violation.seq), past.state(tp, violation.seq)
    if role is None or state is None or role.leader_epoch >= state.leader_epoch:
        return False
    request = next((event for event in past.of(ControlRequest) if event.seq == role.cause), None)
    if request is None:
        return False
    later = (event.seq for event in past.of(ControllerElected) if event.controller_epoch > request.controller_epoch)
    replaced = next(later, role.seq)
    return any(event.node == broker and replaced < event.seq < role.seq for event in past.of(NodeCrashed))


@of_replica
def _took_what_was_overtaken(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The broker has taken an UpdateMetadata after one that was made later, and the partition has got its leader or
    leader epoch since that was made, which may be long before it was sent for the last time: the last leader or epoch,
    where the broker is held against ZooKeeper."""
    if not isinstance(violation.facts, (KnowsEarlierEpoch, KnowsOtherThanZooKeeper)):
        return False
    raised = _raised(past, tp, violation.seq)
    taken = [e for e in _answers_about_metadata(past, broker, violation.seq + 1) if e.error == "NONE"]
    made, late = _overtaken(past, taken)
    if isinstance(violation.facts, KnowsOtherThanZooKeeper):
        return any(made[event] < max(raised, default=0) < event.seq for event in late)
    return any(event.seq == violation.seq and any(made[event] < seq < event.seq for seq in raised) for event in late)


@of_violation
def _remembers_what_was_overtaken(past: KeptEvents, violation: Violation) -> bool:
    """Such an UpdateMetadata is the last that the broker has taken, where it knows other live brokers; or the partition
    of which it knows earlier replicas or an earlier ISR has changed since it was made."""
    facts, tp = violation.facts, violation.partition
    if not isinstance(facts, BrokerRemembers):
        return False
    taken = [e for e in _answers_about_metadata(past, facts.broker, violation.seq) if e.error == "NONE"]
    made, late = _overtaken(past, taken)
    if facts.memory == "live_brokers":
        return bool(late) and taken[-1] is late[-1]
    if facts.memory != "metadata" or tp is None:
        return False
    changed = _last_change(past, tp, violation.seq)
    return any(made[event] < changed < event.seq for event in late)


def _overtaken(
    past: KeptEvents, taken: list[ControlResponse]
) -> tuple[dict[ControlResponse, int], list[ControlResponse]]:
    """When the controller made the requests that were taken, and those that were taken after one made later."""
    made = _when_made(past, taken)
    return made, [event for place, event in enumerate(taken) if any(made[event] < made[one] for one in taken[:place])]


def _when_made(past: KeptEvents, answers: list[ControlResponse]) -> dict[ControlResponse, int]:
    """When the controller made the requests that were answered; it sends one again until it has an answer
    (RequestSendThread.doWork)."""
    made = {event.seq: event.cause for event in past.of(ControlRequest)}
    return {answer: made.get(answer.cause, answer.cause) for answer in answers}


def _answers_about_metadata(past: KeptEvents, broker: int, until_seq: int) -> list[ControlResponse]:
    """A broker's answers to UpdateMetadata since it was started."""
    started = max((e.seq for e in past.of(NodeCrashed) if e.node == broker and e.seq < until_seq), default=0)
    return [
        event
        for event in past.of(ControlResponse)
        if (event.node, event.api) == (broker, "UpdateMetadata") and started < event.seq < until_seq
    ]


@of_partition
def _passed_over(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The partition was added to its topic while that was being deleted, as it is still."""
    facts = violation.facts
    if not isinstance(facts, ControllerRemembers) or facts.memory != "assignments":
        return False
    added = next((write for write, replicas in past.assignments(tp) if replicas), None)
    return added is not None and all(past.cluster.at(seq).is_deleting(tp.topic) for seq in (added.seq, violation.seq))


@of_violation
def _refused_to_delete(past: KeptEvents, violation: Violation) -> bool:
    """The topic is being deleted, and the last answer of a broker to a StopReplica about it is a refusal, as if the
    request were wrong."""
    topic = _undeleted(past, violation)
    asked = {
        event.seq: event.broker
        for event in past.of(ControlRequest)
        if event.api == "StopReplica" and event.detail.startswith(f"{topic}-")
    }
    last = {asked[event.cause]: event.error for event in past.of(ControlResponse) if event.cause in asked}
    return topic is not None and UNKNOWN in last.values()


def _undeleted(past: KeptEvents, violation: Violation) -> str | None:
    """The topic whose deletion does not end: the request for it stays, or a partition has no leader."""
    topic, tp = deleted_topic(violation), violation.partition
    if topic is None and tp is not None and _is_leaderless(violation):
        topic = tp.topic
    return topic if topic is not None and _is_deleting(past, topic) else None


def deleted_topic(violation: Violation) -> str | None:
    """The topic of which the request to delete it stays; None: the violation is about something else."""
    if not isinstance(violation.facts, RequestStays):
        return None
    path, _, topic = violation.facts.path.rpartition("/")
    return topic if path == DELETE_TOPICS else None


def _is_leaderless(violation: Violation) -> bool:
    """Whether it is about a partition without a leader."""
    facts = violation.facts
    return isinstance(facts, NeverLed) or (isinstance(facts, LeaderGone) and facts.leader < 0)


def _is_deleting(past: KeptEvents, topic: str) -> bool:
    """Whether the request to delete the topic is still there."""
    path = f"{DELETE_TOPICS}/{topic}"
    return [event.op for event in past.of(ZkWritten) if event.path == path][-1:] == ["create"]


def _not_notified(ticket: str) -> Shows:
    """The last election of the leader of which the broker was not notified was such a one."""

    @of_replica
    def shows(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
        state = past.state(tp, violation.seq)
        if state is None or not isinstance(violation.facts, NotNotified):
            return False
        elections = [
            event.seq
            for event in past.of(LeaderElected)
            if (event.topic, event.partition, event.leader) == (*tp, state.leader) and event.seq < violation.seq
        ]
        return any(witnesses(past, ticket, tp, broker, seq, seq) for seq in elections[-1:])

    return shows


@of_lacking
def _bounce_missed(past: KeptEvents, violation: Violation, _: TopicPartition, broker: int) -> bool:
    """The broker without its role, metadata or a LeaderAndIsr, or whose replica is not in the ISR, was away and is
    back, and the controller has handled neither."""
    facts, lacks = violation.facts, True
    if violation.invariant == "metadata_kept":
        lacks = isinstance(facts, KnowsOtherThanZooKeeper) and facts.known is None
    if violation.invariant == "replicas_notified":
        lacks = isinstance(facts, NotNotified)
    return lacks and _missed(past, broker, violation.seq) is not None


def _missed(past: KeptEvents, broker: int, until_seq: int) -> ZkWritten | None:
    """The deletion of a broker's znode at which no controller has begun to look since, nor at the broker that was
    registered again after it; None: there is none."""
    writes = [event for event in past.of(ZkWritten) if event.path == broker_path(broker) and event.seq < until_seq]
    if [event.op for event in writes[-2:]] != ["delete", "create"]:
        return None
    gone, back = writes[-2:]
    handled = any(
        (event.broker, event.edge) == (broker, "before")
        and gone.seq < event.seq < until_seq
        and event.step.startswith(LOOKS_AT_BROKERS)
        and event.detail != LOST_DIRS
        for event in past.of(Step)
    )
    return None if handled or past.elected_between(back.seq, until_seq) else gone


@of_violation
def _not_told_who_lives(past: KeptEvents, violation: Violation) -> bool:
    """The broker that knows other live brokers, or another controller, was away and is back, the controller has handled
    neither, and the broker has taken no metadata since, which always names them."""
    facts = violation.facts
    if not isinstance(facts, BrokerRemembers) or facts.memory not in NAMED_BY_EACH:
        return False
    gone = _missed(past, facts.broker, violation.seq)
    answers = _answers_about_metadata(past, facts.broker, violation.seq)
    return gone is not None and not any(event.error == "NONE" and event.seq > gone.seq for event in answers)


@of_violation
def _directories_failed_before(past: KeptEvents, violation: Violation) -> bool:
    """Each broker whose replicas the controller, or the metadata of a broker, has offline was away and is back, and the
    controller has handled neither: either would clear them (replicasOnOfflineDirs, 1.0). The broker had lost
    one before it was away."""
    facts, brokers = violation.facts, violation.brokers
    if isinstance(facts, BrokerRemembers):
        brokers = facts.offline
    elif not isinstance(facts, ControllerRemembers) or not (
        facts.memory == "offline_dirs" or (facts.memory, facts.kept) == ("replica_states", "offline")
    ):
        return False
    return bool(brokers) and all(_failed_before(past, broker, violation.seq) for broker in brokers)


def _failed_before(past: KeptEvents, broker: int, until_seq: int) -> bool:
    gone = _missed(past, broker, until_seq)
    return gone is not None and any(event.node == broker and event.seq < gone.seq for event in past.of(LogDirFailed))


@of_violation
def _deletion_waits_for_directories(past: KeptEvents, violation: Violation) -> bool:
    """The topic that is being deleted has a replica on such a broker: its deletion waits until that starts."""
    topic = _undeleted(past, violation)
    replicas = past.cluster.at(violation.seq).topics.get(topic, {}).values() if topic else ()
    return any(_failed_before(past, broker, violation.seq) for broker in dict.fromkeys(b for r in replicas for b in r))


@of_violation
def _offline_since_its_shutdown(past: KeptEvents, violation: Violation) -> bool:
    """Each broker whose replica the controller has offline had begun its controlled shutdown, which takes what it
    follows offline, before it was away and back, and the controller has handled neither."""
    facts = violation.facts
    if not isinstance(facts, ControllerRemembers) or (facts.memory, facts.kept) != ("replica_states", "offline"):
        return False
    return bool(violation.brokers) and all(
        _shut_down_unseen(past, broker, violation.seq) for broker in violation.brokers
    )


@of_violation
def _shuts_down_since(past: KeptEvents, violation: Violation) -> bool:
    """The partition has no leader, and each member of its ISR is such a broker, which had begun its controlled shutdown
    before it was away; or each open move has such a broker in its target."""
    tp = violation.partition
    if tp is None:
        moves = past.open_moves().values()
        return bool(moves) and all(
            any(_shut_down_unseen(past, broker, violation.seq) for broker in move.target) for move in moves
        )
    last = past.states[tp][-1][1] if past.states.get(tp) else None
    if last is None or last.leader >= 0 or not last.isr:
        return False
    return all(_shut_down_unseen(past, broker, violation.seq) for broker in last.isr)


def _shut_down_unseen(past: KeptEvents, broker: int, until_seq: int) -> bool:
    gone = _missed(past, broker, until_seq)
    return gone is not None and any(
        event.broker == broker and event.step.startswith(SHUTDOWN) and event.seq < gone.seq for event in past.of(Step)
    )


@of_violation
def _leaderless_topic(past: KeptEvents, violation: Violation) -> bool:
    """The topic is to be deleted, and a replica of a partition that never had a leader has not gone offline. Where the
    partition has one now, a controller that had been replaced wrote it, and none has read it since."""
    deleted, tp = deleted_topic(violation), violation.partition
    topic = deleted or ("" if tp is None else tp.topic)
    asked = any(event.path == f"{DELETE_TOPICS}/{topic}" for event in past.of(ZkWritten))
    return asked and any(
        (one.ticket, one.topic) == ("KAFKA-6650", topic)
        and _unled_in_memory(past, TopicPartition(topic, one.partition), one.seq)
        for one in past.run.witnesses
    )


def _unled_in_memory(past: KeptEvents, tp: TopicPartition, at_seq: int) -> bool:
    """Whether the controller that saw no leader of a partition at ``at_seq`` knows of none to this day. An earlier
    topic of that name may have had one."""
    written = [event for event in past.of(ZkWritten) if event.path == state_path(tp)]
    gone = max((event.seq for event in written if event.op == "delete" and event.seq < at_seq), default=-1)
    written = [event for event in written if event.seq > gone]
    return not written or (
        written[0].seq > at_seq
        and all(_was_replaced(past, event) for event in written)
        and not any(event.seq > at_seq for event in past.of(ControllerElected))
    )


@of_partition
def _allowed_too_late(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """Unclean elections were switched on, for the topic or for all brokers, after the last election in the partition,
    and nothing has made a controller elect since. The partition had no leader then, or the controller had found at its
    own election that the leader was gone, of which it writes nothing (KAFKA-3143)."""
    lost = [event.seq for event in past.of(ZkWritten) if event.path == state_path(tp)][-1:]
    entities = (f"/config/{topic_entity(tp.topic)}", f"/config/{ALL_BROKERS}")
    settings = [event for event in past.of(ZkWritten) if event.path in entities and event.op != "delete"]
    allowed = [event.seq for event in settings if decode_config(event.data).get(UNCLEAN) == "true"][-1:]
    elects = [event.seq for event in past.of(Step) if (event.step, event.edge) in ELECT_OFFLINE]
    elects += [event.seq for event in past.of(ControllerElected)]
    if max([*lost, *elects], default=0) >= max(allowed, default=0):
        return False
    state = past.state(tp, violation.seq)
    return _is_leaderless(violation) or (
        state is not None
        and past.down(state.leader, violation.seq)
        and _gone_at_an_election(past, state.leader, allowed[-1])
    )


def _gone_at_an_election(past: KeptEvents, broker: int, until_seq: int) -> bool:
    """Whether a broker's znode was gone when a controller was elected, and has not been there since."""
    writes = [event for event in past.of(ZkWritten) if event.path == broker_path(broker) and event.seq < until_seq][-1:]
    return any(event.op == "delete" and past.elected_between(event.seq, until_seq) for event in writes)


@of_violation
def _request_unseen(past: KeptEvents, violation: Violation) -> bool:
    """A controller that had been replaced deleted the last request for moves; what was asked for next is as it was, or
    is deleted with the move that its successor has in hand (removePartitionFromReassignedPartitions, 1.1.1)."""
    facts = violation.facts
    if not (asks_for_moves(violation) or (isinstance(facts, RequestTakenOut) and not facts.read)):
        return False
    writes = [e for e in past.of(ZkWritten) if e.path == REASSIGN_PARTITIONS and e.seq < violation.seq][-2:]
    return [event.op for event in writes] == ["delete", "create"] and _was_replaced(past, writes[0])


def _was_replaced(past: KeptEvents, event: ZkWritten) -> bool:
    """Whether the broker that wrote had been elected, and another one since: that has raised the controller epoch, and
    may not have the answer yet."""
    elected = [one.node for one in past.of(ControllerElected) if one.seq < event.seq]
    epochs = [one.client for one in past.of(ZkWritten) if one.path == CONTROLLER_EPOCH and one.seq < event.seq]
    return event.client in elected and any(last != event.client for last in (*elected[-1:], *epochs[-1:]))


@of_violation
def _by_a_replaced_controller(past: KeptEvents, violation: Violation) -> bool:
    """The broker that wrote, or that wrote the state with the leader whose election is wrong, had been elected, and
    another one since."""
    event = past.event(violation)
    if type(event) is LeaderElected:
        path, until = state_path(TopicPartition(event.topic, event.partition)), event.seq
        written = [write for write in past.of(ZkWritten) if write.path == path and write.seq < until]
        return bool(written) and _was_replaced(past, written[-1])
    return type(event) is ZkWritten and _was_replaced(past, event)


@of_partition
def _after_a_replaced_controller(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """One of the last two changes of the partition's assignment was made by a controller that had been replaced."""
    written = [(write, replicas) for write, replicas in past.assignments(tp) if write.seq < violation.seq]
    changes = [write for (_, before), (write, after) in pairwise(written) if before != after]
    return any(_was_replaced(past, write) for write in changes[-2:])


@of_partition
def _in_sync_outside_its_assignment(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """A controller that had been replaced made the last change of the partition's assignment, in which no member of the
    ISR is: none can be elected, and none is sent LeaderAndIsr as it starts. The leader has been away since."""
    found, state = violation.facts, past.state(tp, violation.seq)
    if state is None or not isinstance(found, DoesNotLead | ControllerRemembers):
        return False
    if isinstance(found, ControllerRemembers) and (found.memory, found.kept) != ("partition_states", "offline"):
        return False
    written = [(write, replicas) for write, replicas in past.assignments(tp) if write.seq < violation.seq]
    changes = [(write, after) for (_, before), (write, after) in pairwise(written) if before != after][-1:]
    return any(
        _was_replaced(past, write)
        and not set(state.isr) & set(after)
        and any(event.node == state.leader and write.seq < event.seq < violation.seq for event in past.of(NodeCrashed))
        for write, after in changes
    )


@of_partition
def _goes_on_with_a_request_taken_out(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """ZooKeeper asks for no move of the partition since a controller that had been replaced took the request out. The
    replicas change to what was asked for, or towards it, and no controller was elected since."""
    changed = violation.facts
    if not isinstance(changed, ReplicasChangedUnasked) or changed.asked is not None:
        return False
    writes = [event for event in past.of(ZkWritten) if event.path == REASSIGN_PARTITIONS and event.seq < violation.seq]
    taken = [event for event in writes if tp in past.cluster.before(event.seq).requested_moves()][-1:]
    return any(
        _was_replaced(past, event)
        and not past.elected_between(event.seq, violation.seq)
        and set(changed.now) <= {*changed.before, *past.cluster.before(event.seq).requested_moves()[tp]}
        for event in taken
    )


@of_violation
def _gone_before_it_was_looked_at(past: KeptEvents, violation: Violation) -> bool:
    """/controller was deleted before the broker that had created it looked at it again, which it does after its
    failover. That broker has run since, and none has become the controller, or has registered."""
    writes = [event for event in past.of(ZkWritten) if event.path == CONTROLLER and event.seq < violation.seq]
    if [event.op for event in writes[-2:]] != ["create", "delete"]:
        return False
    created, deleted = writes[-2:]
    looked = any(
        (event.node, event.step, event.edge) == (created.client, "failover.F9", "after")
        and created.seq < event.seq < deleted.seq
        for event in past.of(Step)
    )
    registers = any(
        event.path.startswith(f"{BROKER_IDS}/") and event.op == "create" and event.seq > deleted.seq
        for event in past.of(ZkWritten)
    )
    ended = any(event.node == created.client and event.seq > created.seq for event in past.of(NodeCrashed))
    return not (looked or registers or ended)


@of_violation
def _deposed_by_a_late_failover(past: KeptEvents, violation: Violation) -> bool:
    """The broker has created the /controller that is there; or another broker, which had created one before, deleted
    that of this broker, which has not resigned since."""
    broker = violation.broker
    writes = [event for event in past.of(ZkWritten) if event.path == CONTROLLER and event.seq < violation.seq]
    place = max((i for i, e in enumerate(writes) if (e.op, e.client) == ("create", broker)), default=len(writes))
    until = writes[place + 1 : place + 2]
    if broker is None or not until:
        return place < len(writes)
    resigned = any(e.node == broker and writes[place].seq < e.seq < violation.seq for e in past.of(ControllerResigned))
    creators = [event.client for event in writes[:place] if event.op == "create"]
    return until[0].client != broker and until[0].client in creators and not resigned


def _discounted(_past: KeptEvents, violation: Violation | None) -> bool:
    """Whether it is that gauge which is below zero."""
    found = None if violation is None else violation.facts
    return isinstance(found, GaugeNegative) and found.metric.endswith("name=PreferredReplicaImbalanceCount")


@of_violation
def _keeps_its_term(past: KeptEvents, violation: Violation) -> bool:
    """The broker keeps something of a term, its gauges or a handler without a watch, and has shown that it leaves all
    as it is; it has not resigned or ended since."""
    facts = violation.facts
    if not isinstance(facts, ResignedKeeps | BrokerRemembers | CountWrong):
        return False
    if (isinstance(facts, BrokerRemembers) and facts.memory != "watches") or (
        isinstance(facts, CountWrong) and facts.gauge not in OF_A_TERM
    ):
        return False
    ended = [
        event.seq
        for kind in (ControllerResigned, NodeCrashed)
        for event in past.of(kind)
        if event.node == facts.broker and event.seq < violation.seq
    ]
    return any(
        (one.ticket, one.replica) == ("KafkaController.triggerControllerMove", facts.broker)
        and max(ended, default=0) < one.seq < violation.seq
        for one in past.run.witnesses
    )


CONTROL: tuple[Reason, ...] = (
    Reason("KafkaController.triggerControllerMove (2.1.0 to 3.9)", _keeps_its_term),
    Reason("KAFKA-13572", _discounted),
    Reason("KafkaController.processControllerChange (1.1.0 to 2.7.2)", _gone_before_it_was_looked_at),
    Reason("KAFKA-7482", _not_notified("KAFKA-7482")),
    Reason("Election.leaderForOffline (2.3.1 to 2.7.2)", _not_notified("Election.leaderForOffline")),
    Reason("KAFKA-6612", _passed_over),
    Reason("KAFKA-6650", _leaderless_topic),
    Reason("KAFKA-6835", _allowed_too_late),
    Reason("KAFKA-6082", _by_a_replaced_controller),
    Reason("KAFKA-6082", _after_a_replaced_controller, effect=1),
    Reason("KAFKA-6082", _request_unseen, effect=2),
    Reason("KAFKA-6082", _deposed_by_a_late_failover, effect=3),
    Reason("KAFKA-6082", _goes_on_with_a_request_taken_out, effect=4),
    Reason("KAFKA-6082", _in_sync_outside_its_assignment, effect=5),
    Reason("KIP-380", _obeyed_a_former_controller),
    Reason("KAFKA-1120", _bounce_missed),
    Reason("KAFKA-1120", _shuts_down_since, effect=1),
    Reason("KAFKA-1120", _not_told_who_lives, effect=2),
    Reason("KAFKA-1120", _directories_failed_before, effect=3),
    Reason("KAFKA-1120", _offline_since_its_shutdown, effect=4),
    Reason("KAFKA-1120", _deletion_waits_for_directories, effect=5),
    Reason("KAFKA-9839", _behind_its_epoch),
    Reason("KAFKA-9839", _has_refused_metadata, effect=1),
    Reason("MetadataCache.updateMetadata (0.8.0 to 2.7.2)", _took_what_was_overtaken),
    Reason("MetadataCache.updateMetadata (0.8.0 to 2.7.2)", _remembers_what_was_overtaken, effect=1),
    Reason("KAFKA-9839", _refused_to_delete, effect=2),
    Reason("KAFKA-9839", _goes_on_with_earlier_metadata, effect=3),
    Reason("KAFKA-9539", always),
)
"""Reasons about controllers. Where two explain a finding, the more particular one comes first."""
