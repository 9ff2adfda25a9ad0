"""Bursts of related faults: what one breaks the next one meets, within a second or a few."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import field, frozen

from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.chaos.kinds.hunting import CONTROLLER, OCCURRENCES, steps
from scenarios.faults.actions.brokers import BrokerPause, ZkExpire
from scenarios.faults.actions.elections import ElectionPreferred
from scenarios.faults.actions.links import LinkCut
from scenarios.faults.actions.zookeeper import ControllerResign
from scenarios.language.chaos import COUNT, SHARE, chaos
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import ZOOKEEPER_PEER, Target
from scenarios.language.triggers import At, Trigger, When

Pattern = Callable[[Scope, Draws, str], list[Strike]]


def _crash(scope: Scope, draws: Draws, target: Target, down: Range = strikes.SHORT) -> Strike:
    return Strike(scope.draft.crash(draws), target, draws.spread(down))


def _leader(partition: str) -> Target:
    return Target(role=f"leader({partition})")


def _follower(partition: str) -> Target:
    return Target(role=f"any isr({partition})-leader")


def follower_then_leader(scope: Scope, draws: Draws, partition: str) -> list[Strike]:
    """A follower restarts, and before it has caught up its leader dies (KIP-101)."""
    return [_crash(scope, draws, _follower(partition), strikes.MOMENT), _crash(scope, draws, _leader(partition))]


def two_elections(scope: Scope, draws: Draws, partition: str) -> list[Strike]:
    """Leader after leader loses its session or dies (KIP-279, KAFKA-10706)."""
    one = draws.choice((Strike(ZkExpire(), _leader(partition)), _crash(scope, draws, _leader(partition))))
    return [one] * draws.between((2, 3))


def all_replicas(scope: Scope, draws: Draws, partition: str) -> list[Strike]:
    """All replicas die, one after the other, and start again in another order (KIP-101, the last one in the ISR)."""
    replicas = [broker for broker in scope.draft.replicas(partition) if broker in scope.brokers] or scope.brokers
    return [
        _crash(scope, draws, Target(brokers=(b,)), strikes.AROUND_A_SESSION)
        for b in draws.some(replicas, len(replicas))
    ]


def zombie_leader(scope: Scope, draws: Draws, partition: str) -> list[Strike]:
    """A broker hangs, or loses ZooKeeper, for longer than its session, while leaders change (KIP-320)."""
    target = draws.choice((_leader(partition), _follower(partition)))
    away = draws.choice((BrokerPause(), LinkCut(peer=ZOOKEEPER_PEER)))
    return [Strike(away, target, draws.spread((6 * SECOND, 20 * SECOND))), Strike(ZkExpire(), _leader(partition))]


def controller_then_leader(scope: Scope, draws: Draws, partition: str) -> list[Strike]:
    """A leader dies while the new controller is only taking over, or the other way round."""
    pair = [_crash(scope, draws, CONTROLLER), _crash(scope, draws, _leader(partition))]
    return pair if draws.chance(0.5) else pair[::-1]


def replica_then_controller(scope: Scope, draws: Draws, partition: str) -> list[Strike]:
    """A replica's broker dies, and before its session ends the controller is replaced (KAFKA-3143)."""
    down = draws.choice((strikes.AROUND_A_SESSION, strikes.LONG))
    gone = draws.choice((_crash(scope, draws, CONTROLLER), Strike(ZkExpire(), CONTROLLER), Strike(ControllerResign())))
    return [_crash(scope, draws, draws.choice((_leader(partition), _follower(partition))), down), gone]


def session_and_broker(scope: Scope, draws: Draws, partition: str) -> list[Strike]:
    """A broker's session expires, and it dies or hangs before, or soon after, it has registered again."""
    target = Target(brokers=(draws.choice(scope.draft.replicas(partition)),))
    return [Strike(ZkExpire(), target), strikes.strike(scope, draws, target)]


def there_and_back(scope: Scope, draws: Draws, partition: str) -> list[Strike]:
    """Leadership goes away by a controlled shutdown, and back by an election (KAFKA-7482, KAFKA-7164)."""
    shut = strikes.shut_down(scope, draws, _leader(partition))._replace(duration_us=draws.spread(strikes.SHORT))
    return [shut, Strike(ElectionPreferred(partitions=(partition,)))]


def anything(scope: Scope, draws: Draws, partition: str) -> list[Strike]:
    """Two to four faults at brokers that count for one partition."""
    count = draws.between((2, 4))
    return [strikes.strike(scope, draws, strikes.role(scope, draws, partition)) for _ in range(count)]


PATTERNS: Sequence[tuple[int, Pattern]] = (
    (3, follower_then_leader), (2, two_elections), (2, all_replicas), (2, zombie_leader), (2, controller_then_leader),
    (2, replica_then_controller), (1, session_and_broker), (1, there_and_back), (4, anything),
)  # fmt: skip
GAPS = ((2, (MS, 50 * MS)), (4, (50 * MS, SECOND)), (2, (SECOND, 8 * SECOND)))


@chaos("storms", "bursts of two to four related faults on one partition, at a moment or at a step of a protocol")
@frozen(kw_only=True)
class Storms(Episodes):
    turn = 3

    times: Range = field(default=(1, 3), metadata=key(COUNT, "how many bursts there are in a run"))
    share: float = field(default=0.6, metadata=key(SHARE, "the share of seeds that have it"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        partition = scope.partition(draws)
        gaps = draws.weighted(GAPS)
        series = draws.weighted(PATTERNS)(scope, draws, partition)
        spaced = [strike._replace(gap_us=draws.spread(gaps)) for strike in series]
        scope.draft.add(self._trigger(scope, draws), spaced)

    @staticmethod
    def _trigger(scope: Scope, draws: Draws) -> Trigger:
        at = At(scope.draft.moment(draws))
        step = draws.choice(tuple(steps(scope.draft)))
        occurrence = draws.between(draws.weighted(OCCURRENCES))
        when = When(steps=step, edge=draws.choice(("before", "after")), occurrence=occurrence)
        possible: tuple[tuple[int, Trigger], ...] = ((3, at), (1, when))
        return draws.weighted(possible)
