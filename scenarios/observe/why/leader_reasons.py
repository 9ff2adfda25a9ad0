"""Reasons for a leader: which controller elected it, and after what; or why a partition has none."""

from __future__ import annotations

from typing import Any

from emulator.protocol.events import LeaderElected
from emulator.protocol.types import NO_LEADER
from emulator.trace.events import Step
from emulator.zookeeper import ZOOKEEPER
from scenarios.observe.why.answer import Answer, ids, when
from scenarios.observe.why.partition_past import PartitionPast
from scenarios.observe.why.replica_reasons import Circumstance, cannot_lead

_BY_SELECTOR = {
    "new": "as the first leader of the new partition",
    "preferred": "because it is the preferred leader, the first of the replicas",
    "reassigned": "because a reassignment leaves the leader before it out of the replicas",
    "unclean": "because an administrator asked for an unclean election",
}


def leader(past: PartitionPast) -> Answer:
    """The leader of the partition, and how it was elected."""
    tp, at = past.tp, when(past.at_us)
    state = past.state
    if state is None:
        return Answer.of(f"who leads {tp} at {at}", (), f"{tp} does not exist at {at}.")
    if state.leader == NO_LEADER:
        return _none(past)
    elected = past.of_partition(LeaderElected)
    question = f"who elected leader {state.leader} of {tp} at {at}"
    if elected is None:
        return Answer.of(question, (), f"Broker {state.leader} has led {tp} since before the first event.")
    stopped = past.stopped(state.leader)
    controller = past.controller_of(elected.controller_epoch)
    sentence = (
        f"Controller {controller} (epoch {elected.controller_epoch}) elected broker {elected.leader} at "
        f"{when(elected.t_us)}, {_why(past, elected)}; leader epoch {state.leader_epoch}, ISR {ids(state.isr)}."
    )
    if elected.leader_epoch < state.leader_epoch:
        sentence = sentence.replace(
            f"; leader epoch {state.leader_epoch}",
            f" (leader epoch {elected.leader_epoch}; since then the epoch was raised and the leader kept); "
            f"leader epoch {state.leader_epoch}",
        )
    if stopped is not None:
        what = "down" if state.leader in past.moment.down else "paused"
        sentence += f" It has been {what} since {when(stopped.t_us)}{_not_noticed(past)}."
    return Answer.of(question, (*_evidence(past, elected), stopped), sentence)


def _why(past: PartitionPast, elected: LeaderElected) -> str:
    if elected.selector in _BY_SELECTOR:
        return _BY_SELECTOR[elected.selector]
    before = _leader_before(past, elected)
    if elected.selector == "controlled-shutdown":
        return f"because leader {before} was shut down"
    if elected.unclean:
        return "uncleanly: no replica in the ISR was alive, and unclean.leader.election.enable is on"
    if before == NO_LEADER:
        return "when a replica of the ISR was back"
    if before == elected.leader:
        return "again, after it had been gone"
    expired = past.expired(before, elected.seq)
    if expired is not None:
        return f"after the ZooKeeper session of leader {before} had expired at {when(expired.t_us)}"
    return f"after leader {before} was gone"


def _leader_before(past: PartitionPast, elected: LeaderElected) -> int:
    earlier = [one for one in past.stated if one.state is not None and one.state.leader_epoch < elected.leader_epoch]
    return earlier[-1].leader if earlier else NO_LEADER


def _evidence(past: PartitionPast, elected: LeaderElected) -> tuple[Any, ...]:
    """The chain of the election; of the leader that it replaces, how it went."""
    before = _leader_before(past, elected)
    if elected.selector != "offline" or before == NO_LEADER:
        return past.causes(elected.seq)
    stopped, cut = past.stopped(before), past.cut(before, ZOOKEEPER)
    gone = tuple(event for event in (stopped, cut) if event is not None and event.seq < elected.seq)
    faults = tuple(link for event in gone for link in past.causes(event.seq))
    return (*faults, past.expired(before, elected.seq), *past.causes(elected.seq))


def _not_noticed(past: PartitionPast) -> str:
    if past.moment.controller < 0:
        return ", and there is no controller to elect another one"
    if past.moment.zookeeper_stopped:
        return ", and ZooKeeper, which would tell the controller, is stopped"
    return ", and its ZooKeeper session has not expired yet"


def _none(past: PartitionPast) -> Answer:
    """Why the partition has no leader."""
    found = no_leader(past)
    return Answer.of(
        f"why has {past.tp} no leader at {when(past.at_us)}", found.events, f"{past.tp} has had {found.clause}."
    )


def no_leader(past: PartitionPast) -> Circumstance:
    """The time since which there is none, the controller that refused to elect one, and why it is still so."""
    lost = past.changed(lambda stated: stated.leader == NO_LEADER)
    since = "" if lost is None else f" since {when(lost.event.t_us)}"
    causes = () if lost is None else past.causes(lost.event.seq)
    deciding = next((one for one in causes if isinstance(one, Step)), None)
    who = "" if lost is None else f", when controller {lost.event.client} found no replica that may lead"
    why, unable = _because(past)
    clauses = [f"no leader{since}{who}: {why}", *(f"Broker {one}: {found.clause}" for one, found in unable.items())]
    return Circumstance(". ".join(clauses), (*causes, deciding, *(found.events[-1] for found in unable.values())))


def _because(past: PartitionPast) -> tuple[str, dict[int, Circumstance]]:
    """Why no replica is elected, and what keeps each replica of the ISR from leading."""
    assert past.state is not None
    isr = past.state.isr
    found = {broker: cannot_lead(past, broker) for broker in isr}
    unable = {broker: one for broker, one in found.items() if one is not None}
    if past.moment.controller < 0:
        return "there is no controller to elect one", unable
    if not isr:
        return "its ISR in ZooKeeper is empty, and an election outside it would be unclean", unable
    if len(unable) == len(isr):
        alive = "no broker is alive" if all(map(past.stopped, isr)) else "no replica can lead"
        return f"of the ISR {ids(isr)} {alive}, and an election outside it would be unclean", unable
    return f"a replica of the ISR {ids(isr)} is alive, and the controller has not elected it yet", unable
