"""Leaders announce changes of ISRs in batches of their own; the controller tells all brokers (kafka-behaviour §4)."""

from typing import TYPE_CHECKING

from emulator.protocol import znodes

if TYPE_CHECKING:
    from controller.controller import Controller


async def read(c: "Controller") -> None:
    """Refresh what is announced, tell everybody, delete the announcements. Until then the cache is stale."""
    names = await c.store.children(znodes.ISR_CHANGE_NOTIFICATION)
    partitions = await c.store.isr_changes(names)
    if partitions:
        c.context.leadership.update(await c.store.states(partitions))
        c.send_update_metadata(c.context.live_or_shutting_down, tuple(partitions))
    await c.store.delete([f"{znodes.ISR_CHANGE_NOTIFICATION}/{name}" for name in names])
