"""Faults on the requests and links of real clients of a served cluster. Where none is attached they hit nothing."""

from __future__ import annotations

from attrs import field, frozen

from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.faults.actions.links import LinkCut
from scenarios.faults.actions.requests import OnRequests, RequestDelay, RequestDrop, RequestFail, RequestSilence
from scenarios.language.chaos import COUNT, chaos
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import CLIENTS, Target
from scenarios.language.triggers import At

APIS = (
    (8, "Produce"), (3, "Fetch"), (2, "Metadata"), (2, "OffsetCommit"), (1, "OffsetFetch"), (2, "FindCoordinator"),
    (1, "JoinGroup"), (1, "SyncGroup"), (2, "Heartbeat"), (2, "InitProducerId"), (2, "AddPartitionsToTxn"),
    (3, "EndTxn"), (1, "ListOffsets"),
)  # fmt: skip
"""The APIs whose requests go wrong, by weight: those of writing most, since a lost answer there is written again."""
ERRORS = {
    "Produce": (
        "NOT_LEADER_FOR_PARTITION", "NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "REQUEST_TIMED_OUT",
    ),
    "Fetch": ("NOT_LEADER_FOR_PARTITION", "UNKNOWN_TOPIC_OR_PARTITION"),
    "OffsetCommit": ("COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS"),
    "Heartbeat": ("NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE"),
    "EndTxn": ("NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS", "CONCURRENT_TRANSACTIONS"),
}  # fmt: skip
"""Errors that brokers give by themselves, and that a client has to go on after. A produce request may have been carried
out before the last two."""
OF_A_REBALANCE = ("JoinGroup", "SyncGroup")
"""APIs that are never silent here: clients wait for their answer as long as a rebalance may last, for five minutes."""
AFTER_THE_APPEND = ("NOT_ENOUGH_REPLICAS_AFTER_APPEND", "REQUEST_TIMED_OUT")


@chaos("client-requests", "requests of real clients are dropped, late, never answered, or answered with an error")
@frozen(kw_only=True)
class ClientRequests(Episodes):
    times: Range = field(default=(1, 6), metadata=key(COUNT, "how often it happens in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        api = draws.weighted(APIS)
        some = draws.weighted(((4, 1), (2, 2), (1, 5)))
        at = At(scope.draft.moment(draws))
        way = draws.weighted(((4, "drop"), (2, "delay"), (1, "silence"), (3, "fail")))
        scope.draft.add(at, [Strike(self._action(way, api, some, draws), None, strikes.lasting(draws))])

    def _action(self, way: str, api: str, count: int, draws: Draws) -> OnRequests:
        performed = draws.chance(0.7)
        if way == "fail" and api in ERRORS:
            error = draws.choice(ERRORS[api])
            return RequestFail(api=api, count=count, error=error, performed=error in AFTER_THE_APPEND)
        if way == "delay":
            return RequestDelay(api=api, count=count, latency_us=draws.spread((20 * MS, 8 * SECOND)))
        if way == "silence" and api not in OF_A_REBALANCE:
            return RequestSilence(api=api, count=1, performed=performed)
        return RequestDrop(api=api, count=count, performed=performed)


@chaos("client-links", "links between real clients and a broker are cut, one way or both")
@frozen(kw_only=True)
class ClientLinks(Episodes):
    def episode(self, scope: Scope, draws: Draws) -> None:
        target = strikes.role(scope, draws, scope.partition(draws))
        cut = LinkCut(peer=Target(role=CLIENTS), direction=draws.choice(("both", "to", "from")))
        scope.draft.add(At(scope.draft.moment(draws)), [Strike(cut, target, strikes.lasting(draws))])
