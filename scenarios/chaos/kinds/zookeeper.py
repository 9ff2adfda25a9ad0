"""ZooKeeper as a whole."""

from __future__ import annotations

from attrs import field, frozen

from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.faults.actions.brokers import ZkExpire
from scenarios.faults.actions.intercepted import MessageHold
from scenarios.faults.actions.zookeeper import EXPIRE, SURVIVE, ZooKeeperSlow, ZooKeeperStop
from scenarios.language.chaos import COUNT, chaos
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import Target
from scenarios.language.triggers import At, WhenZk


@chaos(
    "zookeeper-outages", "ZooKeeper is unavailable to all for a while; the sessions survive or are gone when it is back"
)
@frozen(kw_only=True)
class ZooKeeperOutages(Episodes):
    times: Range = field(default=(1, 1), metadata=key(COUNT, "how many outages there are in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        sessions = draws.weighted(((2, SURVIVE), (1, EXPIRE)))
        strike = Strike(ZooKeeperStop(sessions=sessions), None, strikes.lasting(draws))
        scope.draft.add(At(scope.draft.moment(draws)), [strike])


@chaos("slow-zookeeper", "ZooKeeper does one request after the other, slowly; sessions live")
@frozen(kw_only=True)
class SlowZooKeeper(Episodes):
    times: Range = field(default=(1, 1), metadata=key(COUNT, "how often it is slow in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        slow = ZooKeeperSlow(write_us=draws.spread((MS, 500 * MS)), read_us=draws.choice((None, MS, 50 * MS)))
        scope.draft.add(At(scope.draft.moment(draws)), [Strike(slow, None, strikes.lasting(draws))])


@chaos(
    "late-registrations",
    "a broker loses its session, and learns late that it is registered again: the controller knows it before",
)
@frozen(kw_only=True)
class LateRegistrations(Episodes):
    times: Range = field(default=(1, 2), metadata=key(COUNT, "how often it happens in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        """Hold the answer to a broker's registration. Until it comes, controllers send requests with an epoch of the
        broker that it does not know (KAFKA-9839)."""
        at_us = scope.draft.moment(draws)
        broker = Target(brokers=(draws.choice(scope.brokers),))
        registered = WhenZk(zk="create", path=f"/brokers/ids/{broker.brokers[0]}", source=broker, since=at_us)
        scope.draft.add(At(at_us), [Strike(ZkExpire(), broker)])
        held = Strike(MessageHold(), None, draws.spread((100 * MS, 3 * SECOND)))
        scope.draft.add(registered, [held], at_us=at_us)
