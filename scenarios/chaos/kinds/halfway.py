"""The one who acts is cut off halfway: a controller after some messages of a fan-out, a leader between two writes of an
ISR, a broker while it registers, a follower while it truncates.

Elsewhere a fault's place is drawn apart from its moment. Here it hits the one that is in the middle of something.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import field, frozen

from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Draft, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.chaos.kinds.hunting import ASKED, CONTROLLER, REGISTRATION, STATE
from scenarios.faults.actions.brokers import BrokerPause, ZkExpire
from scenarios.faults.actions.elections import ElectionPreferred
from scenarios.faults.actions.intercepted import MessageCut, MessageHold
from scenarios.faults.actions.zookeeper import ControllerResign
from scenarios.language.chaos import COUNT, chaos
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import Target
from scenarios.language.triggers import At, WhenMessage, WhenZk
from scenarios.profiles import PROFILES

WRITES_HELD = 0.25
"""The share of episodes in which a controller's write waits, after it has read what it is based on."""
HALFWAY = ((4, (1, 2)), (3, (3, 5)), (2, (6, 12)))
"""Which message or write of the actor: a fan-out has one for each broker."""

Halfway = tuple[WhenMessage | WhenZk, Target]
"""A moment in which someone is in the middle of something, and who it is."""


def _controller_sends(_scope: Scope, draws: Draws, nth: int, since_us: int) -> Halfway:
    name = draws.weighted(((4, "any control"), (2, "LeaderAndIsr"), (2, "StopReplica"), (2, "UpdateMetadata")))
    edge = draws.weighted(((4, "sent"), (2, "delivered"), (2, "answered")))
    return WhenMessage(message=name, edge=edge, source=CONTROLLER, occurrence=nth, since=since_us), CONTROLLER


def _controller_writes(_scope: Scope, draws: Draws, nth: int, since_us: int) -> Halfway:
    zk = draws.weighted(((3, "any"), (2, "setData"), (1, "delete"), (1, "create")))
    edge = draws.weighted(((1, "before"), (3, "applied"), (2, "answered")))
    return WhenZk(zk=zk, edge=edge, source=CONTROLLER, occurrence=nth, since=since_us), CONTROLLER


def _leader_changes_isr(scope: Scope, draws: Draws, nth: int, since_us: int) -> Halfway:
    leader = Target(role=f"leader({scope.partition(draws)})")
    if PROFILES[scope.draft.scenario.profile].policies.alters_isr:
        edge = draws.choice(("sent", "delivered", "answered"))
        return WhenMessage(message="AlterIsr", edge=edge, source=leader, occurrence=nth, since=since_us), leader
    edge = draws.weighted(((1, "before"), (3, "applied"), (2, "answered")))
    path = draws.weighted(((3, STATE), (1, "/isr_change_notification/*")))
    zk = "setData" if path == STATE else "create"
    return WhenZk(zk=zk, path=path, edge=edge, source=leader, occurrence=nth, since=since_us), leader


def _broker_registers(scope: Scope, draws: Draws, nth: int, since_us: int) -> Halfway:
    broker = Target(brokers=(draws.choice(scope.draft.replicas(scope.partition(draws))),))
    path = draws.weighted(((3, REGISTRATION), (1, None)))
    edge = draws.choice(("before", "applied", "answered"))
    zk = "create" if path else "any"
    return WhenZk(zk=zk, path=path, edge=edge, source=broker, occurrence=nth if path is None else 1, since=since_us), (
        broker
    )


def _broker_is_told(scope: Scope, draws: Draws, nth: int, since_us: int) -> Halfway:
    """A broker has just got a request of the controller, or is about to answer one."""
    broker = Target(brokers=(draws.choice(scope.draft.replicas(scope.partition(draws))),))
    name = draws.weighted(((4, "LeaderAndIsr"), (2, "StopReplica"), (2, "UpdateMetadata")))
    edge = draws.choice(("delivered", "answered"))
    return WhenMessage(message=name, edge=edge, target=broker, occurrence=nth, since=since_us), broker


def _follower_truncates(scope: Scope, draws: Draws, nth: int, since_us: int) -> Halfway:
    """A follower asks where its log departs from the leader's, or has just got the answer."""
    partition = scope.partition(draws)
    follower = Target(brokers=(draws.choice(scope.draft.replicas(partition)),))
    whom = draws.choice((follower, Target(role=f"leader({partition})")))
    edge = draws.choice(("sent", "delivered", "answered"))
    when = WhenMessage(message="OffsetsForLeaderEpoch", edge=edge, source=follower, occurrence=nth, since=since_us)
    return when, whom


MOMENTS: Sequence[tuple[int, Callable[[Scope, Draws, int, int], Halfway]]] = (
    (5, _controller_sends), (4, _controller_writes), (4, _leader_changes_isr), (2, _broker_registers),
    (3, _broker_is_told), (2, _follower_truncates),
)  # fmt: skip


def _end(scope: Scope, draws: Draws, target: Target) -> Strike:
    """The end of what someone does: mostly of its session or term, as state that outlives these is the commonest
    mistake."""
    if target == CONTROLLER and draws.chance(0.3):
        return Strike(ControllerResign())
    kind = draws.weighted(((4, "expire"), (4, "crash"), (2, "cut"), (1, "pause"), (1, "shut-down")))
    if kind == "cut":
        return Strike(MessageCut())
    if kind == "expire":
        return Strike(ZkExpire(), target)
    if kind == "pause":
        return Strike(BrokerPause(), target, strikes.lasting(draws))
    way = strikes.short_crash if kind == "crash" else strikes.shut_down
    return way(scope, draws, target)


def _provoked(scope: Scope, draws: Draws, draft: Draft) -> int:
    """The time of something that has someone act: of what was drawn before, or of a strike that is added."""
    asked = [at_us for at_us, action in draft.times() if action in ASKED]
    if asked and draws.chance(0.5):
        return draws.choice(asked)
    at_us = draft.moment(draws)
    target = strikes.role(scope, draws, scope.partition(draws))
    ways = ((3, strikes.short_crash), (3, strikes.expire), (2, strikes.shut_down), (2, strikes.pause))
    elected = Strike(ElectionPreferred())
    draft.add(At(at_us), [draws.weighted(((6, draws.weighted(ways)(scope, draws, target)), (1, elected)))])
    return at_us


def _held(scope: Scope, draws: Draws) -> None:
    """A controller is about to write what a change of leaders is based on, while a follower that was away comes back
    and joins: the ISR is another one by then."""
    draft, partition = scope.draft, scope.partition(draws)
    at_us, away_us = draft.moment(draws), draws.spread((7 * SECOND, 12 * SECOND))
    gone = Strike(draft.crash(draws), Target(role=f"any isr({partition})-leader"), away_us)
    leader = Target(role=f"leader({partition})")
    ways = ((3, strikes.shut_down), (3, strikes.short_crash), (2, strikes.expire))
    change = draws.weighted(((5, draws.weighted(ways)(scope, draws, leader)), (2, Strike(ElectionPreferred()))))
    gap_us = away_us + draws.spread((MS, 2 * SECOND))
    draft.add(At(at_us), [gone, change._replace(gap_us=gap_us)])
    since_us = at_us + gap_us
    when = WhenZk(zk="setData", path=STATE, edge="before", source=CONTROLLER, occurrence=1, since=since_us)
    draft.add(when, [Strike(MessageHold(), None, draws.spread((200 * MS, 6 * SECOND)))], at_us=since_us)


@chaos(
    "cut-off-halfway",
    "who is in the middle of something loses its session, term or life: between two messages, writes or answers",
)
@frozen(kw_only=True)
class CutOffHalfway(Episodes):
    turn = 3

    times: Range = field(default=(1, 3), metadata=key(COUNT, "how often in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        draft, held = scope.draft, draws.sub("held")
        if held.chance(WRITES_HELD):
            _held(scope, held)
        since_us = _provoked(scope, draws.sub("provoked"), draft)
        nth = draws.between(draws.weighted(HALFWAY))
        when, whom = draws.weighted(MOMENTS)(scope, draws.sub("moment"), nth, since_us)
        series = [_end(scope, draws.sub("end"), whom)]
        if draws.chance(0.3):  # what it did halfway meets another change before it is put right
            target = strikes.role(scope, draws, scope.partition(draws))
            series.append(strikes.strike(scope, draws, target)._replace(gap_us=draws.spread((MS, 2 * SECOND))))
        draft.add(when, series, at_us=since_us)
