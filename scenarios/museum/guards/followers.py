"""Guards of fetcher threads, and of consumers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fetchers.manager import AbstractFetcherManager
from fetchers.partitions import Partitions
from fetchers.ports import InitialFetchState
from fetchers.state import PartitionFetchState
from fetchers.thread import FetcherRounds
from scenarios.cluster.clients.consuming import Position
from scenarios.museum.guards.guard import Guard, TakenOut

_AGAIN_US = 1_000_000


def _tries_again(mark_failed: Callable[..., None]) -> Callable[..., None]:
    def and_again(self: FetcherRounds, state: PartitionFetchState, error: str, reason: str) -> None:
        mark_failed(self, state, error, reason)
        thread = self.thread
        start = InitialFetchState(
            state.tp, thread.leader, state.leader_epoch, state.offset, state.log, state.adding, thread.address
        )
        self._process.call_later(_AGAIN_US, thread.add_partitions, [start])

    return and_again


def _goes_back(lead_by: Callable[..., bool]) -> Callable[..., bool]:
    def and_goes_back(self: Position, leader: int, epoch: int, **more: Any) -> bool:
        changed = lead_by(self, leader, epoch, **more)
        if changed and self.offset > 0:
            self.offset -= 1
        return changed

    return and_goes_back


GUARDS = (
    Guard(
        name="one_role",
        title="fetchers keep the partitions that they should give up",
        here="A partition stays with its fetcher when its broker becomes the leader.",
        also=("idle_fetchers_end", "fetchers_fit"),
        taken_out=(
            TakenOut(
                owner=AbstractFetcherManager,
                function="remove_fetcher_for_partitions",
                instead=lambda _remove: lambda *_of, **_more: None,
            ),
        ),
    ),
    Guard(
        name="failed_until_epoch",
        title="a fetcher takes up a partition again on which it has given up",
        here="A partition that has failed (KIP-461) is fetched again a second later, under the same leader epoch.",
        taken_out=(TakenOut(owner=FetcherRounds, function="_mark_partition_failed", instead=_tries_again),),
    ),
    Guard(
        name="idle_fetchers_end",
        title="threads without partitions are kept",
        here="A fetcher thread whose last partition has gone to another leader stays, and asks the old leader for "
        "nothing.",
        taken_out=(
            TakenOut(
                owner=AbstractFetcherManager,
                function="shutdown_idle_fetcher_threads",
                instead=lambda _end: lambda _self: None,
            ),
        ),
    ),
    Guard(
        name="fetches_back_off",
        title="a fetcher that has lost its leader leaves no partition out",
        here="A fetcher whose leader does not answer waits for one back-off, and asks for all its partitions again.",
        taken_out=(TakenOut(owner=Partitions, function="delay_all", instead=lambda _delay: lambda *_of: None),),
    ),
    Guard(
        name="polls_go_on",
        title="a consumer goes back when it learns of another leader",
        here="A consumer continues a message before the end of its last poll when the leader changes, so that its "
        "application gets that message twice.",
        taken_out=(TakenOut(owner=Position, function="lead_by", instead=_goes_back),),
    ),
)
