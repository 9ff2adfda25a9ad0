"""Single faults at single brokers, which attrition, storms and hunting consist of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Scope, Strike
from scenarios.faults.actions.brokers import (
    BrokerControlledShutdown,
    BrokerPause,
    BrokerStop,
    FetcherFailPartition,
    ZkExpire,
)
from scenarios.faults.actions.links import HostIsolate, LinkCut, LinkDelay
from scenarios.language.actions import DelaySpec
from scenarios.language.targets import BROKERS_PEER, ZOOKEEPER_PEER, Target

MOMENT, SHORT, AROUND_A_SESSION, LONG = (
    (20 * MS, 400 * MS),
    (400 * MS, 4 * SECOND),
    (4 * SECOND, 12 * SECOND),
    (12 * SECOND, 30 * SECOND),
)
"""The lengths of faults: shorter than most watches take, shorter than a ZooKeeper session, about as long, longer."""
AT_COORDINATORS = 0.25
"""The share of strikes at partitions of internal topics, where there are any."""


def lasting(draws: Draws) -> int:
    """The length of a fault."""
    return draws.spread(draws.weighted(((3, MOMENT), (3, SHORT), (3, AROUND_A_SESSION), (1, LONG))))


def until_healed(draws: Draws, share: float = 0.15) -> int | None:
    """The length of a fault; None, in that share of the cases: until healing."""
    duration_us = lasting(draws)
    return None if draws.chance(share) else duration_us


def role(scope: Scope, draws: Draws, partition: str) -> Target:
    """One of the brokers that count for a partition: its leader, a follower, the controller, one by its id. Where there
    are coordinators, every fourth strike is about a partition of theirs."""
    if scope.draft.internal and draws.sub("internal").chance(AT_COORDINATORS):
        partition = draws.sub("internal/which").choice(scope.draft.internal)
    ids = [broker for broker in scope.draft.replicas(partition) if broker in scope.brokers] or scope.brokers
    by_id = Target(brokers=(draws.choice(ids),))
    if len(scope.brokers) < scope.draft.scenario.cluster.brokers:
        return by_id
    roles = ((5, f"leader({partition})"), (3, f"any isr({partition})-leader"), (2, "controller"), (4, ""))
    name = draws.weighted(roles)
    return Target(role=name) if name else by_id


def crash(scope: Scope, draws: Draws, target: Target) -> Strike:
    return Strike(scope.draft.crash(draws), target, until_healed(draws))


def short_crash(scope: Scope, draws: Draws, target: Target) -> Strike:
    return Strike(scope.draft.crash(draws), target, draws.spread(SHORT))


def stop(scope: Scope, draws: Draws, target: Target) -> Strike:
    return Strike(BrokerStop(), target, until_healed(draws))


def shut_down(scope: Scope, draws: Draws, target: Target) -> Strike:
    return Strike(BrokerControlledShutdown(), target, until_healed(draws))


def pause(scope: Scope, draws: Draws, target: Target) -> Strike:
    return Strike(BrokerPause(), target, lasting(draws))


def expire(scope: Scope, draws: Draws, target: Target) -> Strike:
    return Strike(ZkExpire(), target)


def isolate(scope: Scope, draws: Draws, target: Target) -> Strike:
    return Strike(HostIsolate(), target, until_healed(draws))


def cut(scope: Scope, draws: Draws, target: Target) -> Strike:
    """Cut a link to ZooKeeper or to the other brokers, one way or both."""
    peer = draws.weighted(((2, ZOOKEEPER_PEER), (3, BROKERS_PEER), (1, Target(role="controller"))))
    direction = draws.weighted(((3, "both"), (1, "to"), (1, "from")))
    return Strike(LinkCut(peer=(peer,), direction=direction), target, until_healed(draws))


def clog(scope: Scope, draws: Draws, target: Target) -> Strike:
    peer = draws.weighted(((3, BROKERS_PEER), (1, ZOOKEEPER_PEER), (1, Target(role="controller"))))
    latency_us = draws.spread((5 * MS, 3 * SECOND))
    jitter_us = draws.choice((0, latency_us // 2 // MS * MS))
    delay = DelaySpec(latency_us=latency_us, jitter_us=jitter_us)
    direction = draws.weighted(((2, "both"), (1, "to"), (1, "from")))
    return Strike(LinkDelay(peer=(peer,), direction=direction, delay=delay), target, lasting(draws))


def fail_partition(partition: str, draws: Draws) -> Strike:
    cause = draws.weighted(((3, "append"), (2, "truncate"), (1, "unexpected")))
    target = Target(role=f"any isr({partition})-leader")
    return Strike(FetcherFailPartition(partition=partition, cause=cause), target)


AT_A_BROKER: Sequence[tuple[int, Callable[[Scope, Draws, Target], Strike]]] = (
    (6, crash), (1, stop), (2, shut_down), (2, pause), (2, expire), (2, isolate), (2, cut), (2, clog)
)  # fmt: skip
"""The faults of a broker, by weight."""


def strike(scope: Scope, draws: Draws, target: Target) -> Strike:
    """Any of these faults."""
    return draws.weighted(AT_A_BROKER)(scope, draws, target)
