"""What a broker does when it has been elected: steps F1 to F9, in Kafka's order (kafka-behaviour §3)."""

from typing import TYPE_CHECKING

from controller.operations import deletion, preferred
from controller.steps import Procedure
from emulator.protocol import znodes

if TYPE_CHECKING:
    from controller.controller import Controller

FAILOVER = Procedure(
    "failover",
    {
        "failover.F1": "register the ZooKeeper handlers",
        "failover.F2": "delete old ISR-change and log-dir notifications",
        "failover.F3": "load brokers, topics, assignments and leaders",
        "failover.F4": "find the topics to delete",
        "failover.F5": "send UpdateMetadata with the live brokers",
        "failover.F6": "start the replica state machine",
        "failover.F7": "start the partition state machine, electing leaders",
        "failover.F8": "resume reassignments",
        "failover.F9": "resume topic deletions and preferred elections",
    },
    aliases={
        "failover.1.1": "failover.F6",
        "failover.1.2": "failover.F6",
        "failover.2.1": "failover.F7",
        "failover.2.2": "failover.F7",
        "failover.3": "failover.F8",
        "failover.4": "failover.F9",
    },
)
"""The order of Kafka's onControllerFailover. The aliases are the controller page's numbers for the same work."""


async def take_over(c: "Controller") -> None:
    """Begin the term.

    Raises: ControllerMoved, SessionExpired, IllegalState; none of them leaves a half-begun term behind, see
    ``election.elect``.
    """
    async with c.step("failover.F1"):
        await _watch(c)
    async with c.step("failover.F2"):
        await _delete_notifications(c)
    async with c.step("failover.F3"):
        await _load(c)
    async with c.step("failover.F4"):
        await deletion.load(c)
    async with c.step("failover.F5"):
        # Before the state machines: a broker refuses a leader that it has not heard of (KAFKA-4443).
        c.send_update_metadata(c.context.live_or_shutting_down)
    async with c.step("failover.F6"):
        await c.replicas.start()
    async with c.step("failover.F7"):
        await c.partitions.start()
    async with c.step("failover.F8"):
        await c.policies.reassignment.resume(c)
    async with c.step("failover.F9"):
        await deletion.resume_all(c)
        await preferred.take_up(c)
        c.rebalance.begin(c)


async def _watch(c: "Controller") -> None:
    c.watches.cluster(every_move_change=c.policies.reassignment.follows_znode)
    if c.policies.replicas.know_topic_deletion:
        c.watches.deletions()
    await c.store.exists(znodes.PREFERRED_REPLICA_ELECTION)
    await c.store.exists(znodes.REASSIGN_PARTITIONS)


async def _delete_notifications(c: "Controller") -> None:
    """What they announce is about to be read anyway."""
    for parent in (znodes.LOG_DIR_EVENT_NOTIFICATION, znodes.ISR_CHANGE_NOTIFICATION):
        await c.store.delete([f"{parent}/{name}" for name in await c.store.children(parent)])


async def _load(c: "Controller") -> None:
    context = c.context
    context.set_brokers(await c.store.brokers())
    names = await c.store.topics()
    for topic in names:
        c.watches.topic(topic)
    await c.store.load_assignments(names)
    context.leadership.update(await c.store.states(list(context.partitions())))
    for broker in context.brokers:
        c.channels.add(broker)
    await c.policies.reassignment.load(c)
