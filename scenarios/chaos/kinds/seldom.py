"""Messages and writes that are few: each kind of them is as likely as any other, however often it is sent."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve, field, frozen

from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Draft, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.cluster.clients.behaviours.administrator import Administrator
from scenarios.cluster.clients.behaviours.group_member import GroupMember
from scenarios.cluster.clients.behaviours.transactional import Transactional
from scenarios.faults.actions.brokers import ZkExpire
from scenarios.faults.actions.elections import ElectionPreferred
from scenarios.faults.actions.intercepted import MessageCut, MessageDelay, MessageHold
from scenarios.faults.actions.programs import ClientCrash
from scenarios.faults.actions.zookeeper import ControllerResign
from scenarios.language.actions import DelaySpec
from scenarios.language.chaos import COUNT, chaos
from scenarios.language.known_names import KnownNames
from scenarios.language.messages import ZNODES
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import Target
from scenarios.language.triggers import WhenMessage, WhenZk
from scenarios.profiles import PROFILES

OF_CLIENTS = {
    GroupMember: (
        "FindCoordinator", "JoinGroup", "SyncGroup", "Heartbeat", "OffsetCommit", "OffsetFetch", "LeaveGroup",
    ),
    Transactional: (
        "InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn", "WriteTxnMarkers",
    ),
    Administrator: ("CreateTopics", "DeleteTopics", "CreatePartitions", "AlterConfigs"),
}  # fmt: skip
"""The requests that each of these clients brings about."""
OCCURRENCES = ((4, (1, 2)), (3, (3, 6)), (1, (7, 15)))
"""Which message or write of its kind, by weight."""


def _sent(draft: Draft) -> Iterator[str]:
    """The requests that the scenario's clients bring about."""
    for behaviour, names in OF_CLIENTS.items():
        if any(isinstance(client, behaviour) for client in draft.scenario.clients):
            yield from names


def _sent_by_brokers(draft: Draft) -> Iterator[str]:
    """The requests that brokers and the controller send each other, without fetches."""
    yield from ("LeaderAndIsr", "StopReplica", "UpdateMetadata", "OffsetsForLeaderEpoch", "ListOffsets")
    if PROFILES[draft.scenario.profile].policies.alters_isr:
        yield "AlterIsr"


def _asked_for(draft: Draft) -> list[tuple[int, str]]:
    """The requests that operators' actions bring about, each with the time of its action."""
    known = KnownNames(evolve(draft.scenario, method=()))
    found = [(at_us, name) for at_us, entry in draft.entries() for name in entry.action.sends(known)]
    return [(at_us, name) for at_us, name in found if name != "Metadata"]


def _moment(scope: Scope, draws: Draws, since_us: int) -> tuple[WhenMessage | WhenZk, int]:
    """A message or write, and the time from which on it is waited for."""
    occurrence, response = draws.between(draws.weighted(OCCURRENCES)), draws.chance(0.4)
    edge = draws.choice(("sent", "delivered"))
    by_clients, asked = tuple(_sent(scope.draft)), _asked_for(scope.draft)
    way = draws.weighted(((2, "brokers"), (3, "znodes"), (5 * bool(by_clients), "clients"), (3 * bool(asked), "asked")))
    if way == "znodes":
        where = draws.choice(("before", "applied", "answered"))
        return WhenZk(zk="any", path=draws.choice(ZNODES), edge=where, occurrence=occurrence, since=since_us), since_us
    if way == "asked":
        times: dict[str, list[int]] = {}
        for at_us, name in asked:
            times.setdefault(name, []).append(at_us)
        name = draws.choice(tuple(times))
        since_us, occurrence = draws.choice(times[name]), 1 if draws.chance(0.7) else 2
    else:
        name = draws.choice(by_clients if way == "clients" else tuple(_sent_by_brokers(scope.draft)))
    when = WhenMessage(message=name, response=response, edge=edge, occurrence=occurrence, since=since_us)
    return when, since_us


def _change(scope: Scope, draws: Draws) -> Strike:
    """The end of someone's term, session or life; where there are coordinators, mostly of one."""
    partition = scope.partition(draws)
    if scope.draft.internal and draws.chance(0.7):
        partition = draws.choice(scope.draft.internal)
    target = Target(
        role=draws.weighted(((4, f"leader({partition})"), (1, f"any isr({partition})-leader"), (2, "controller")))
    )
    way = draws.weighted(((4, "crash"), (3, "expire"), (2, "pause"), (2, "elect"), (2, "client"), (1, "resign")))
    if way == "elect":
        return Strike(ElectionPreferred())
    if way == "client":
        return Strike(ClientCrash(), Target(role="any client"), draws.spread((20 * MS, 15 * SECOND)))
    if way == "resign":
        return Strike(ControllerResign())
    if way == "expire":
        return Strike(ZkExpire(), target)
    return {"crash": strikes.short_crash, "pause": strikes.pause}[way](scope, draws, target)


@chaos(
    "seldom-messages",
    "a message or write of a kind that is seldom sent is lost or late, or something happens at it",
)
@frozen(kw_only=True)
class SeldomMessages(Episodes):
    turn = 3

    times: Range = field(default=(1, 5), metadata=key(COUNT, "how often in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        since_us = scope.draft.moment(draws)
        lasts_us = draws.spread((5 * MS, 12 * SECOND))
        late = MessageDelay(delay=DelaySpec(latency_us=draws.spread((5 * MS, 5 * SECOND))))
        first = draws.weighted(
            ((4, Strike(MessageCut())), (3, Strike(MessageHold(), None, lasts_us)), (1, Strike(late, None, lasts_us)),
             (4, _change(scope, draws.sub("first"))))
        )  # fmt: skip
        series = [first]
        if draws.chance(0.5):
            series.append(_change(scope, draws.sub("second"))._replace(gap_us=draws.spread((MS, 3 * SECOND))))
        when, at_us = _moment(scope, draws.sub("moment"), since_us)
        scope.draft.add(when, series, at_us=at_us)
