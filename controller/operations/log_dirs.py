"""Brokers announce that a log directory of theirs has failed (KIP-112; kafka-behaviour §4)."""

from typing import TYPE_CHECKING

from controller.states.names import ReplicaState
from emulator.protocol import znodes

if TYPE_CHECKING:
    from controller.controller import Controller


async def read(c: "Controller") -> None:
    """Send LeaderAndIsr for all replicas of the brokers that are named, then delete the announcements.

    The answer tells which replicas the broker lost: KAFKA_STORAGE_ERROR takes one offline (``brokers.answered``).
    """
    names = await c.store.children(znodes.LOG_DIR_EVENT_NOTIFICATION)
    brokers = await c.store.log_dir_events(names)
    await c.replicas.handle(c.context.replicas_on(brokers), ReplicaState.ONLINE)
    await c.store.delete([f"{znodes.LOG_DIR_EVENT_NOTIFICATION}/{name}" for name in names])
