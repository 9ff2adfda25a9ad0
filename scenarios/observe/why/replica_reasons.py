"""Why is a replica not in the ISR? How it left, and what keeps it out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from emulator.protocol.events import (
    BecameFollower,
    ControlResponse,
    Fault,
    FetcherStopped,
    FetchPosition,
    IsrChanged,
    IsrProposed,
    IsrUpdateFailed,
    LeaderElected,
    LogLoaded,
    PartitionFailed,
    PartitionFailureCleared,
    ReplicaOffline,
    ReplicaStopped,
)
from emulator.protocol.znodes import topic_path
from emulator.trace.events import Step, ZkWritten
from emulator.zookeeper import ZOOKEEPER
from scenarios.observe.past.cluster_past import HEAL
from scenarios.observe.timeline.quota_words import exhausted, held_back
from scenarios.observe.timeline.words import words
from scenarios.observe.why.answer import Answer, ids, when
from scenarios.observe.why.partition_past import PartitionPast, Stated
from scenarios.units import counted


class Circumstance(NamedTuple):
    """One thing that is the case, as the end of a sentence, with the events that show it.

    Attributes:
        replicas: the replicas that have to join the ISR, where that is awaited.
    """

    clause: str
    events: tuple[Any, ...]
    replicas: tuple[int, ...] = ()


def replica(past: PartitionPast, broker: int) -> Answer:
    """Why a broker is not in the ISR of the partition; or since when it is."""
    tp, at = past.tp, when(past.at_us)
    state = past.state
    if state is None:
        return Answer.of(f"why is broker {broker} not in the ISR of {tp} at {at}", (), f"{tp} does not exist at {at}.")
    if broker in state.isr:
        joined = past.changed(lambda stated: broker in stated.isr)
        question = f"since when is broker {broker} in the ISR of {tp}, at {at}"
        return Answer.of(question, *_in_sync(past, broker, joined))
    question = f"why is broker {broker} not in the ISR of {tp} at {at}"
    if broker not in state.replicas:
        return Answer.of(question, *_no_replica(past, broker))
    left = how_it_left(past, broker)
    obstacle = what_keeps_it_out(past, broker)
    sentence = f"Broker {broker} is not in the ISR {ids(state.isr)} of {tp} at {at}: {left.clause}; {obstacle.clause}."
    return Answer.of(question, (*left.events, *obstacle.events), sentence)


def _in_sync(past: PartitionPast, broker: int, joined: Stated | None) -> tuple[tuple[Any, ...], str]:
    assert past.state is not None
    if joined is None:
        return (), f"Broker {broker} has been in the ISR of {past.tp} since the partition was created."
    write = joined.event
    decided = past.of_partition(IsrProposed, lambda event: broker in event.replicas, write.seq)
    evidence = (decided, write, *past.causes(write.seq)[:-1])
    return (
        evidence,
        f"Broker {broker} has been in the ISR {ids(past.state.isr)} of {past.tp} since {when(write.t_us)}.",
    )


def _no_replica(past: PartitionPast, broker: int) -> tuple[tuple[Any, ...], str]:
    assert past.state is not None
    stopped = past.of_partition(ReplicaStopped, lambda event: event.node == broker)
    path = topic_path(past.tp.topic)
    assigned = past.last(ZkWritten, lambda write: write.path == path, None if stopped is None else stopped.seq)
    gone = "" if stopped is None else f"; the controller had it stop at {when(stopped.t_us)}"
    return (stopped, None if stopped is None else assigned), (
        f"Broker {broker} is not a replica of {past.tp} at {when(past.at_us)}, whose replicas are "
        f"{ids(past.state.replicas)}{gone}."
    )


# -- how it left ------------------------------------------------------------------------------------------------------


def how_it_left(past: PartitionPast, broker: int) -> Circumstance:
    """When and why a replica left the ISR."""
    left = past.changed(lambda stated: broker in stated.isr)
    if left is None:
        deleted = past.of_partition(ReplicaStopped, lambda event: event.node == broker and event.deleted)
        since = 0 if deleted is None else deleted.seq
        loaded = past.first(LogLoaded, lambda event: past.names(event) and event.node == broker and event.seq > since)
        begun = "" if loaded is None else f" since it got its log at {when(loaded.t_us)}"
        return Circumstance(f"it has never been in sync{begun}", (loaded,))
    write = left.event
    shrunk = past.of_partition(IsrChanged, lambda event: event.kind == "shrink" and event.zk_version == write.version)
    proposed = past.of_partition(
        IsrProposed, lambda event: event.kind == "shrink" and broker in event.replicas, write.seq
    )
    if shrunk is not None and proposed is not None:
        return _dropped_by_leader(proposed, write, broker)
    return _removed_by_controller(past, left, broker)


def _dropped_by_leader(proposed: IsrProposed, write: ZkWritten, broker: int) -> Circumstance:
    overdue_us = proposed.overdue_us[proposed.replicas.index(broker)]
    behind = proposed.log_end_offset - proposed.ends[proposed.replicas.index(broker)]
    why = f"it had been behind for {overdue_us / 1e6:.1f} s (replica.lag.time.max.ms={proposed.lag_time_us // 1000})"
    if proposed.max_messages >= 0 and overdue_us <= proposed.lag_time_us:
        why = f"it was {counted(behind, 'records')} behind (replica.lag.max.messages={proposed.max_messages})"
    return Circumstance(
        f"leader {proposed.node} dropped it from the ISR at {when(write.t_us)}, because {why}", (proposed, write)
    )


def _removed_by_controller(past: PartitionPast, left: Stated, broker: int) -> Circumstance:
    write = left.event
    causes = past.causes(write.seq)
    elected = past.of_partition(LeaderElected, lambda event: event.t_us >= write.t_us and event.isr == left.isr)
    evidence = (*causes, elected)
    by = f"the controller (broker {write.client}) took it out of the ISR at {when(write.t_us)}"
    expired = past.expired(broker, write.seq)
    shut_down = next((e for e in causes if isinstance(e, Step) and e.step.startswith("shutdown.")), None)
    if shut_down is not None:
        return Circumstance(f"{by}, when it was shut down", evidence)
    if elected is not None and elected.unclean:
        return Circumstance(f"{by}, with the unclean election of {elected.leader}", evidence)
    if expired is not None:
        stopped = past.stopped(broker)
        return Circumstance(
            f"{by}, after its ZooKeeper session expired at {when(expired.t_us)}", (*evidence, expired, stopped)
        )
    deregistered = past.deregistered(broker, write.seq)
    if deregistered is not None:
        return Circumstance(f"{by}, after its registration in ZooKeeper was gone", (*evidence, deregistered))
    return Circumstance(by, evidence)


# -- what keeps it out ------------------------------------------------------------------------------------------------


def what_keeps_it_out(past: PartitionPast, broker: int) -> Circumstance:
    """Why it is not back yet: the first of the conditions of a replica that joins which does not hold."""
    for look in _OBSTACLES:
        found = look(past, broker)
        if found is not None:
            return found
    return Circumstance("it fetches, and has not reached the leader's log end", ())


def down(past: PartitionPast, broker: int) -> Circumstance | None:
    stopped = past.stopped(broker)
    if stopped is None:
        return None
    what = "down" if broker in past.moment.down else "paused"
    return Circumstance(f"it has been {what} since {when(stopped.t_us)}", (*past.causes(stopped.seq)[:-1], stopped))


def _offline(past: PartitionPast, broker: int) -> Circumstance | None:
    offline = past.of_partition(ReplicaOffline, lambda event: event.node == broker)
    if offline is None or past.of_partition(LogLoaded, lambda event: event.node == broker and event.seq > offline.seq):
        return None
    since = f"its log directory has been offline since {when(offline.t_us)}"
    return Circumstance(f"{since}{_UNTIL_RESTART}", (*past.causes(offline.seq), offline))


_UNTIL_RESTART = ", and will be until the broker restarts"


def _directory_failed(past: PartitionPast, broker: int) -> Circumstance | None:
    """The broker has refused the partition since one of its log directories failed (KIP-112)."""
    failed = past.failed_directory(broker)
    if failed is None or past.of_partition(LogLoaded, lambda log: log.node == broker and log.seq > failed.seq):
        return None
    sent = past.requested("LeaderAndIsr", broker, failed.seq)
    answer = None if sent is None else past.last(ControlResponse, lambda event: event.cause == sent.seq)
    if answer is None or str(past.tp) not in answer.refused:
        return None
    since = f"its log directory {failed.directory} has been offline since {when(failed.t_us)}"
    return Circumstance(f"{since}{_UNTIL_RESTART}", (failed, sent, answer))


def cannot_lead(past: PartitionPast, broker: int) -> Circumstance | None:
    """Why a replica that is in the ISR cannot be elected; None: it can."""
    return next((found for look in _UNABLE if (found := look(past, broker)) is not None), None)


def _not_assigned(past: PartitionPast, broker: int) -> Circumstance | None:
    """The replica was removed from the assignment; elections choose among the replicas that are assigned."""
    assert past.state is not None
    if broker in past.state.replicas:
        return None
    assigned = past.last(ZkWritten, lambda write: write.path == topic_path(past.tp.topic))
    what = f"it is none of the replicas {ids(past.state.replicas)}, among which a leader is elected"
    return Circumstance(what, (assigned,))


def unregistered(past: PartitionPast, broker: int) -> Circumstance | None:
    """The broker's registration is gone, so it is dead for the controller."""
    write = past.registration(broker)
    if write is None or write.op != "delete":
        return None
    cut = past.cut(broker, ZOOKEEPER)
    why = "" if cut is None else f"; the network between them has been cut since {when(cut.t_us)}"
    return Circumstance(f"its registration in ZooKeeper has been gone since {when(write.t_us)}{why}", (write, cut))


def _failed(past: PartitionPast, broker: int) -> Circumstance | None:
    failed = past.of_partition(PartitionFailed, lambda event: event.node == broker)
    if failed is None or past.of_partition(
        PartitionFailureCleared, lambda event: event.node == broker and event.seq > failed.seq
    ):
        return None
    return Circumstance(
        f"its fetcher gave the partition up at {when(failed.t_us)} ({failed.reason}) and takes it up again only with a "
        "higher leader epoch (KIP-461)",
        (failed,),
    )


def _leaderless(past: PartitionPast, broker: int) -> Circumstance | None:
    assert past.state is not None
    if past.state.leader >= 0:
        return None
    return Circumstance("the partition has no leader to fetch from", ())


def _leader_down(past: PartitionPast, broker: int) -> Circumstance | None:
    assert past.state is not None
    leader = past.state.leader
    stopped = past.stopped(leader)
    if stopped is None:
        return None
    what = "down" if leader in past.moment.down else "paused"
    return Circumstance(f"leader {leader} has been {what} since {when(stopped.t_us)}", (stopped,))


def _cut(past: PartitionPast, broker: int) -> Circumstance | None:
    assert past.state is not None
    cut = past.cut(broker, past.state.leader)
    if cut is None:
        return None
    return Circumstance(
        f"the network between it and leader {past.state.leader} has been cut since {when(cut.t_us)}",
        (*past.causes(cut.seq)[:-1], cut),
    )


def _not_told(past: PartitionPast, broker: int) -> Circumstance | None:
    """The broker has not become a follower under the current leader epoch."""
    assert past.state is not None
    state = past.state
    follower = past.of_partition(BecameFollower, lambda event: event.node == broker)
    if follower is not None and follower.leader_epoch >= state.leader_epoch:
        return None
    raised = past.changed(lambda stated: stated.state is not None and stated.state.leader_epoch == state.leader_epoch)
    since = 0 if raised is None else raised.event.seq
    sent = past.requested("LeaderAndIsr", broker, since)
    knows = "" if follower is None else f", only under {follower.leader_epoch}"
    what = f"it has not become a follower under leader epoch {state.leader_epoch}{knows}"
    if sent is None:
        why, cut = _unsent(past, broker)
        return Circumstance(f"{what}: {why}", (raised and raised.event, follower, cut))
    answer = past.last(ControlResponse, lambda event: event.cause == sent.seq)
    if answer is None:
        how = "has no answer"
    else:
        refusals = dict(zip(answer.refused, answer.errors, strict=True))
        refused = refusals.get(str(past.tp))
        how = f"was answered with {answer.error}" + (
            f", but the partition was refused with {refused}" if refused else ""
        )
    return Circumstance(f"{what}: the LeaderAndIsr of {when(sent.t_us)} {how}", (follower, sent, answer))


def _unsent(past: PartitionPast, broker: int) -> tuple[str, Any]:
    """Why a broker was sent no LeaderAndIsr, with the event that shows it."""
    controller = past.moment.controller
    if controller < 0:
        return "there is no controller to send it a LeaderAndIsr", None
    cut = past.cut(controller, broker)
    since = "" if cut is None else f", and the network between them has been cut since {when(cut.t_us)}"
    return f"controller {controller} has not sent it a LeaderAndIsr yet{since}", cut


def _not_fetching(past: PartitionPast, broker: int) -> Circumstance | None:
    position = past.of_partition(FetchPosition, lambda event: event.node == broker)
    if position is not None and position.offset >= 0:
        return None
    stopped = past.last(FetcherStopped, lambda event: event.node == broker)
    if stopped is not None and stopped.reason == "died":
        of = f"of {stopped.error} in {stopped.topic}-{stopped.partition}"
        return Circumstance(
            f"its fetcher thread died {of} at {when(stopped.t_us)}", (*past.causes(stopped.seq), stopped)
        )
    return Circumstance("it does not fetch the partition", (position, stopped))


def _throttled(past: PartitionPast, broker: int) -> Circumstance | None:
    """A quota is exhausted, and holds the replica back (KIP-73)."""
    held = past.held_back(broker)
    if held is None:
        return None
    use, replica = held
    position = past.of_partition(FetchPosition, lambda event: event.node == broker)
    clause = f"{exhausted(use)}, and it {held_back(use, replica, past.at_us)} {_log_ends(past, broker)}"
    return Circumstance(clause, (*past.throttle(use), position))


def _log_ends(past: PartitionPast, broker: int) -> str:
    assert past.state is not None
    return f"(its log ends at {past.log_end(broker) or 0}, the leader's at {past.log_end(past.state.leader)})"


def _behind(past: PartitionPast, broker: int) -> Circumstance | None:
    assert past.state is not None
    end, leaders = past.log_end(broker), past.log_end(past.state.leader)
    if end is None or leaders is None or end >= leaders:
        return None
    position, slowed = past.of_partition(FetchPosition, lambda event: event.node == broker), _slowed(past, broker)
    return Circumstance(
        f"it fetches from leader {past.state.leader} and is {counted(leaders - end, 'records')} behind "
        f"{_log_ends(past, broker)}{''.join(slowed)}",
        (position, *slowed.values()),
    )


def _slowed(past: PartitionPast, broker: int) -> dict[str, Any]:
    """The faults under which the replica, or its leader, is slow: clauses, with the event of each."""
    assert past.state is not None
    standing: dict[tuple[str, str], Fault] = {}
    for fault in past.events:
        if type(fault) is not Fault:
            continue
        if fault.action in _SLOWS:
            standing[_SLOWS[fault.action], fault.target] = fault
        elif fault.action == HEAL:
            standing.clear()
        else:
            standing.pop((fault.action, fault.target), None)
    found = [fault for fault in standing.values() if {broker, past.state.leader} & set(fault.brokers)]
    return {f"; {words(fault).removeprefix('FAULT ')} has lasted since {when(fault.t_us)}": fault for fault in found}


def _not_written(past: PartitionPast, broker: int) -> Circumstance | None:
    """The replica has caught up, and the leader's change of the ISR does not get through."""
    proposed = past.of_partition(IsrProposed, lambda event: event.kind == "expand" and broker in event.replicas)
    failed = past.of_partition(IsrUpdateFailed)
    if proposed is None:
        slowed = _slowed(past, broker)
        unseen = f"it has caught up, and the leader has not seen that in a fetch yet{''.join(slowed)}"
        return Circumstance(unseen, tuple(slowed.values()))
    if failed is not None and failed.seq > proposed.seq:
        return Circumstance(
            f"it has caught up, and the leader's change of the ISR was refused at {when(failed.t_us)}",
            (proposed, failed),
        )
    leader, cut = proposed.node, past.cut(proposed.node, ZOOKEEPER)
    clause = f"leader {leader} began to add it at {when(proposed.t_us)}, and has no answer yet"
    if cut is not None:
        clause += f": the network between it and ZooKeeper has been cut since {when(cut.t_us)}"
    return Circumstance(clause, (proposed, cut))


_OBSTACLES: tuple[Callable[[PartitionPast, int], Circumstance | None], ...] = (
    down, _offline, _directory_failed, _failed, _leaderless, _leader_down, _cut, _not_told, _not_fetching,
    _throttled, _behind, _not_written,
)  # fmt: skip
"""Obstacles, in the order in which a replica has to get past them."""

_UNABLE = (_not_assigned, down, unregistered, _offline, _directory_failed)
"""Obstacles with which a replica of the ISR cannot be elected."""

_SLOWS = {
    "disk.slow": "disk.heal", "broker.slow": "broker.fast", "link.delay": "link.heal", "link.limit": "link.heal",
    "link.loss": "link.heal",
}  # fmt: skip
"""Faults that make a replica slow, and what ends each."""


def out_of_sync(past: PartitionPast) -> Iterator[int]:
    """The replicas of the partition that are not in the ISR."""
    state = past.state
    if state is not None:
        yield from (broker for broker in state.replicas if broker not in state.isr)
