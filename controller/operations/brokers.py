"""Brokers come, go and bounce (kafka-behaviour §4; the page's onBrokerStartup and onBrokerFailure)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from controller.context import Replica
from controller.operations import deletion
from controller.reassignment import admin
from controller.states.names import PartitionState, ReplicaState
from controller.steps import Label, Procedure
from emulator.protocol.errors import Errors
from emulator.protocol.leader_and_isr import LeaderAndIsrResponse

if TYPE_CHECKING:
    from controller.controller import Controller

BROKER_FAILURE = Procedure.numbered(
    "broker-failure",
    "partitions without leader become OfflinePartition",
    "offline and new partitions elect a leader",
    "replicas on the failed broker become OfflineReplica",
)
BROKER_STARTUP = Procedure.numbered(
    "broker-startup",
    "send UpdateMetadata to the broker",
    "replicas on the broker become OnlineReplica",
    "offline and new partitions elect a leader",
    "resume moves and topic deletions that wait for the broker",
)

Registered = list[tuple[int, int]]
"""Brokers with their epochs."""


async def changed(c: "Controller") -> None:
    """Compare ZooKeeper with memory: new brokers, then those that bounced (same id, newer epoch: KIP-380),
    then the dead."""
    known = c.context.brokers
    now = dict(await c.store.brokers())
    new = [(broker, epoch) for broker, epoch in now.items() if broker not in known]
    bounced = [(broker, epoch) for broker, epoch in now.items() if epoch > known.get(broker, epoch)]
    dead = [broker for broker in known if broker not in now]

    _update_channels(c, new, bounced, dead)
    if new:
        c.context.add_brokers(new)
        await _started(c, [broker for broker, _ in new])
    if bounced:
        ids = [broker for broker, _ in bounced]
        c.context.remove_brokers(ids)
        await _failed(c, ids)
        c.context.add_brokers(bounced)
        await _started(c, ids)
    if dead:
        c.context.remove_brokers(dead)
        await _failed(c, dead)


def _update_channels(c: "Controller", new: Registered, bounced: Registered, dead: Sequence[int]) -> None:
    for broker, _ in new:
        c.channels.add(broker)
    for broker, _ in bounced:
        c.channels.remove(broker)
        c.channels.add(broker)
    for broker in dead:
        c.channels.remove(broker)


async def _started(c: "Controller", brokers: Sequence[int]) -> None:
    labels = [Label(broker=broker) for broker in brokers]
    context = c.context
    for broker in brokers:
        context.offline_dirs.pop(broker, None)
    async with c.step("broker-startup.1", *labels):
        c.send_update_metadata(tuple(b for b in context.live_or_shutting_down if b not in brokers))
        c.send_update_metadata(tuple(brokers), tuple(context.leadership))
    async with c.step("broker-startup.2", *labels):
        await c.replicas.handle(context.replicas_on(brokers), ReplicaState.ONLINE)
    async with c.step("broker-startup.3", *labels):
        await c.partitions.elect_where_missing()
    async with c.step("broker-startup.4", *labels):
        await admin.brokers_started(c, brokers)
        await deletion.brokers_started(c, brokers)


async def _failed(c: "Controller", brokers: Sequence[int]) -> None:
    for broker in brokers:
        c.context.offline_dirs.pop(broker, None)
        c.context.shutting_down.pop(broker, None)
    await _replicas_offline(c, c.context.replicas_on(brokers), [Label(broker=broker) for broker in brokers])


async def _replicas_offline(c: "Controller", replicas: Sequence[Replica], labels: Sequence[Label]) -> None:
    """Three steps. Electing first takes the failed leader out of the ISR with it, so that the third step
    finds nothing to write for that partition."""
    context = c.context
    led = [(tp, state.leader) for tp, state in context.leadership.items() if not context.is_deleting(tp.topic)]
    leaderless = [tp for tp, leader in led if not context.is_online(leader, tp)]
    staying = [(tp, broker) for tp, broker in replicas if not context.is_deleting(tp.topic)]
    async with c.step("broker-failure.1", *labels):
        await c.partitions.handle(leaderless, PartitionState.OFFLINE)
    async with c.step("broker-failure.2", *labels):
        await c.partitions.elect_where_missing()
    async with c.step("broker-failure.3", *labels):
        await c.replicas.handle(staying, ReplicaState.OFFLINE)
    await deletion.replicas_failed(c, replicas)
    if not leaderless:
        c.send_update_metadata(context.live_or_shutting_down)


async def answered(c: "Controller", broker: int, response: LeaderAndIsrResponse) -> None:
    """A LeaderAndIsr also asks whether the replicas' log directories work: KAFKA_STORAGE_ERROR takes one offline."""
    if response.error is not Errors.NONE:
        return
    before = c.context.offline_dirs.get(broker, {})
    offline = dict(before)
    for tp, error in response.partitions:
        if error is Errors.KAFKA_STORAGE_ERROR:
            offline[tp] = None
        elif error is Errors.NONE:
            offline.pop(tp, None)
    c.context.offline_dirs[broker] = offline
    newly = [(tp, broker) for tp in offline if tp not in before]
    if newly:
        await _replicas_offline(c, newly, [Label(broker=broker)])
