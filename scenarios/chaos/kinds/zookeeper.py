"""ZooKeeper as a whole."""

from __future__ import annotations

from attrs import field, frozen

from scenarios.chaos import strikes
from scenarios.chaos.draft import Scope, Strike
from scenarios.chaos.draws import MS, Draws
from scenarios.chaos.kind import Episodes
from scenarios.faults.actions.zookeeper import EXPIRE, SURVIVE, ZooKeeperSlow, ZooKeeperStop
from scenarios.language.chaos import COUNT, chaos
from scenarios.language.schema.reader import key
from scenarios.language.schema.spans import Range
from scenarios.language.triggers import At


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
