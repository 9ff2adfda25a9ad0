"""Guards of what stands still: logs, fetchers, announcements, and what is left of topics."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from brokers import metadata_cache
from brokers.log.log import Log
from controller.operations.notifications import Notifications
from emulator.protocol.types import LEADER_DURING_DELETE
from emulator.protocol.update_metadata import PartitionMetadata
from fetchers.manager import AbstractFetcherManager
from scenarios.museum.guards.guard import Guard, TakenOut, nothing


def _begins_one(begin_epoch: Callable[..., None]) -> Callable[..., None]:
    def begins(self: Log, epoch: int, start_offset: int) -> None:
        if not self.epochs.entries:
            begin_epoch(self, epoch, start_offset)

    return begins


def _keeps_deleted(updated: Callable[..., metadata_cache.Topics]) -> Callable[..., metadata_cache.Topics]:
    def keeps(before: metadata_cache.Topics, update: Sequence[PartitionMetadata]) -> metadata_cache.Topics:
        return updated(before, tuple(state for state in update if state.leader != LEADER_DURING_DELETE))

    return keeps


def _looks_away(_process: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def looks_away(_self: Notifications) -> None:
        return None

    return looks_away


GUARDS = (
    Guard(
        name="logs_reload",
        title="a log notes its first leader epoch only",
        here="A log that has a leader epoch notes no other one (KIP-101). The epochs of its records say more.",
        also=("append_shape", "answers_true"),
        taken_out=(TakenOut(owner=Log, function="begin_epoch", instead=_begins_one),),
    ),
    Guard(
        name="fetchers_fit",
        title="fetchers keep partitions that were removed from them",
        here="A broker that leads a partition now goes on fetching it from the leader before.",
        also=("one_role", "idle_fetchers_end", "converged"),
        taken_out=(TakenOut(owner=AbstractFetcherManager, function="remove_fetcher_for_partitions", instead=nothing),),
    ),
    Guard(
        name="gone_topics_forgotten",
        title="a broker keeps deleted topics in its metadata",
        here="A broker takes over an UpdateMetadata that says that a topic is deleted, and keeps the topic.",
        also=("metadata_kept",),
        taken_out=(TakenOut(owner=metadata_cache, function="_updated", instead=_keeps_deleted),),
    ),
    Guard(
        name="notifications_taken",
        title="a controller looks away from announced ISRs",
        here="A controller that hears of an announcement below /isr_change_notification does nothing, and leaves it "
        "there.",
        also=("broker_remembers", "controller_remembers"),
        taken_out=(TakenOut(owner=Notifications, function="process_isr_changes", instead=_looks_away),),
    ),
)
