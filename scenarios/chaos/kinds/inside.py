"""Faults inside the handling of another one: between two messages or two writes of one chain of effects, and at the
k-th attempt of a request that fails again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import field, frozen

from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.chaos.kinds.histories import move, passing
from scenarios.chaos.kinds.hunting import ASKED, CONTROLLER, REGISTRATION, STATE
from scenarios.faults.actions.brokers import BrokerPause, ZkExpire
from scenarios.faults.actions.intercepted import MessageCut, MessageDelay, MessageHold
from scenarios.faults.actions.zookeeper import ControllerResign
from scenarios.language.actions import DelaySpec
from scenarios.language.chaos import COUNT, chaos
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import Target
from scenarios.language.triggers import At, WhenMessage, WhenZk
from scenarios.profiles import PROFILES

EFFECTS = ((3, (1, 2)), (3, (3, 6)), (3, (7, 16)), (2, (17, 48)))
"""Which message or write after the first fault the second one meets: most of what follows from a fault is over soon."""
Inside = WhenMessage | WhenZk


def _role_or_broker(scope: Scope, draws: Draws) -> Target:
    return draws.weighted(((3, CONTROLLER), (4, strikes.role(scope, draws, scope.partition(draws)))))


def _trouble(scope: Scope, draws: Draws) -> Strike:
    """A strike at the message or write itself, or at a broker at that moment."""
    lasts_us = draws.spread((5 * MS, 12 * SECOND))
    late = MessageDelay(delay=DelaySpec(latency_us=draws.spread((5 * MS, 5 * SECOND))))
    target = _role_or_broker(scope, draws)
    killed = Strike(scope.draft.crash(draws), target, strikes.until_healed(draws))
    return draws.weighted(
        (
            (4, Strike(MessageCut())), (4, Strike(MessageHold(), None, lasts_us)), (1, Strike(late, None, lasts_us)),
            (4, killed), (2, Strike(ZkExpire(), target)), (2, Strike(ControllerResign())),
            (1, Strike(BrokerPause(), target, lasts_us)),
        )
    )  # fmt: skip


@chaos(
    "second-faults",
    "a fault or a request of an operator, and a second fault at one of the messages and writes that follow from it",
)
@frozen(kw_only=True)
class SecondFaults(Episodes):
    turn = 3

    times: Range = field(default=(1, 2), metadata=key(COUNT, "how many first faults there are in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        draft = scope.draft
        asked = [at_us for at_us, action in draft.times() if action in ASKED]
        if asked and draws.chance(0.4):
            at_us = draws.choice(asked)
        else:
            at_us = draft.moment(draws)
            draft.add(At(at_us), [self._first(scope, draws.sub("first"))])
        for number in range(draws.weighted(((3, 1), (2, 2)))):
            own = draws.sub(number)
            draft.add(self._inside(scope, own, at_us), [_trouble(scope, own)], at_us=at_us)

    @staticmethod
    def _first(scope: Scope, draws: Draws) -> Strike:
        target = _role_or_broker(scope, draws)
        return draws.weighted(((5, strikes.strike(scope, draws, target)), (2, Strike(ControllerResign()))))

    @staticmethod
    def _inside(scope: Scope, draws: Draws, since_us: int) -> Inside:
        """One of the messages and writes from ``since_us`` on."""
        occurrence = draws.between(draws.weighted(EFFECTS))
        if draws.chance(0.45):
            source = draws.weighted(((2, None), (2, CONTROLLER)))
            edge = draws.weighted(((1, "before"), (3, "applied"), (2, "answered")))
            return WhenZk(zk="any", edge=edge, source=source, occurrence=occurrence, since=since_us)
        broker = Target(brokers=(draws.choice(scope.brokers),))
        message = draws.weighted(((5, "any control"), (1, "Fetch"), (1, "OffsetsForLeaderEpoch")))
        edge = draws.weighted(((2, "sent"), (2, "delivered"), (2, "answered")))
        return WhenMessage(
            message=message, edge=edge, target=draws.weighted(((2, None), (1, broker))), occurrence=occurrence,
            since=since_us,
        )  # fmt: skip


# -- the k-th attempt -------------------------------------------------------------------------------------------------


def _isr_write(scope: Scope, draws: Draws, occurrence: int, since_us: int) -> Inside:
    """A leader's write of an ISR, or its request for one."""
    leader = Target(role=f"leader({scope.partition(draws)})")
    if PROFILES[scope.draft.scenario.profile].policies.alters_isr:
        return WhenMessage(message="AlterIsr", source=leader, occurrence=occurrence, since=since_us)
    return WhenZk(zk="setData", path=STATE, edge="before", source=leader, occurrence=occurrence, since=since_us)


def _state_write(_scope: Scope, draws: Draws, occurrence: int, since_us: int) -> Inside:
    """A controller's write of a partition's state."""
    edge = draws.choice(("before", "answered"))
    return WhenZk(zk="setData", path=STATE, edge=edge, source=CONTROLLER, occurrence=occurrence, since=since_us)


def _registration(_scope: Scope, draws: Draws, occurrence: int, since_us: int) -> Inside:
    edge = draws.choice(("before", "answered"))
    return WhenZk(zk="create", path=REGISTRATION, edge=edge, occurrence=occurrence, since=since_us)


def _told(draws: Draws) -> str:
    """The request that a controller sends again and again."""
    return draws.sub("message").weighted(((3, "LeaderAndIsr"), (2, "UpdateMetadata"), (4, "StopReplica")))


def _control(scope: Scope, draws: Draws, occurrence: int, since_us: int) -> Inside:
    """A controller's request to one broker."""
    return WhenMessage(
        message=_told(draws), edge=draws.choice(("sent", "answered")),
        target=Target(brokers=(draws.choice(scope.brokers),)), occurrence=occurrence, since=since_us,
    )  # fmt: skip


def _fetch(scope: Scope, draws: Draws, occurrence: int, since_us: int) -> Inside:
    """A follower's fetch, or its question where its log departs from the leader's."""
    message = draws.weighted(((3, "Fetch"), (2, "OffsetsForLeaderEpoch")))
    broker = Target(brokers=(draws.choice(scope.draft.replicas(scope.partition(draws))),))
    return WhenMessage(
        message=message, edge=draws.choice(("sent", "answered")), source=broker, occurrence=occurrence, since=since_us
    )


Attempt = Callable[[Scope, Draws, int, int], Inside]
ATTEMPTS: Sequence[tuple[int, Attempt]] = (
    (4, _isr_write), (2, _state_write), (1, _registration), (5, _control), (2, _fetch)
)  # fmt: skip
PROVOKED = 0.7
"""The share of lost requests for which something is done that has them sent."""


def _sends(scope: Scope, draws: Draws, which: Draws, attempt: Attempt) -> list[Strike]:
    """The strikes that have such a request be sent. A deletion, a move or a shutdown ends replicas, no fault does."""
    target = strikes.role(scope, draws, scope.partition(draws))
    if attempt is _control and _told(which) == "StopReplica":
        return draws.weighted(((4, passing), (2, move)))(scope, draws) or [strikes.shut_down(scope, draws, target)]
    ways = ((3, strikes.short_crash), (3, strikes.expire), (2, strikes.pause), (2, strikes.isolate))
    return [draws.weighted(ways)(scope, draws, target)]


@chaos("retries", "a request is lost several times in a row, and something happens at its next attempt")
@frozen(kw_only=True)
class Retries(Episodes):
    turn = 3

    times: Range = field(default=(1, 1), metadata=key(COUNT, "how many requests are lost again and again in a run"))
    lost: Range = field(default=(1, 4), metadata=key(COUNT, "how often one is lost"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        draft, since_us = scope.draft, scope.draft.moment(draws)
        attempt, lost = draws.weighted(ATTEMPTS), draws.between(self.lost)
        first = draws.weighted(((3, 1), (2, 2), (1, 3)))
        for number in range(first, first + lost):  # each from the same stream: of the same request
            draft.add(attempt(scope, draws.sub("which"), number, since_us), [Strike(MessageCut())], at_us=since_us)
        last = attempt(scope, draws.sub("which"), first + lost, since_us)
        draft.add(last, [_trouble(scope, draws.sub("then"))], at_us=since_us)
        if draws.chance(PROVOKED):
            own = draws.sub("provoked")
            series = _sends(scope, own, draws.sub("which"), attempt)
            draft.add(At(since_us + own.spread((MS, SECOND))), series)
