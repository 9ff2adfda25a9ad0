"""Disks that fail, fill up, become slow or spoil data; partitions whose fetcher fails."""

from __future__ import annotations

from attrs import evolve, field, frozen

from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Draft, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.chaos.kinds.histories import passing
from scenarios.faults.actions.brokers import BrokerCrash, ZkExpire
from scenarios.faults.actions.disks import DiskCorrupt, DiskFail, DiskFull, DiskHeal, DiskSlow, LogDirOffline
from scenarios.faults.actions.elections import ElectionPreferred
from scenarios.faults.actions.zookeeper import ControllerResign
from scenarios.language.actions import Action
from scenarios.language.chaos import COUNT, chaos
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import Target
from scenarios.language.triggers import At


@chaos("disk-trouble", "disks return errors, are full, slow, or hold spoilt batches; log directories go offline")
@frozen(kw_only=True)
class DiskTrouble(Episodes):
    times: Range = field(default=(1, 2), metadata=key(COUNT, "how often a disk is in trouble in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        partition = scope.partition(draws)
        if draws.sub("recovery").chance(0.25):
            self._recovery(scope, draws.sub("recovery/of"), partition)
            return
        action = self._action(scope, draws, partition)
        target = strikes.role(scope, draws, partition)
        lasts_us = None if action.undo is None else strikes.lasting(draws)
        scope.draft.add(At(scope.draft.moment(draws)), [Strike(action, target, lasts_us)])

    @staticmethod
    def _recovery(scope: Scope, draws: Draws, partition: str) -> None:
        """Kill a broker and start it again, on a disk that cannot truncate damaged batches of a log."""
        broker = Target(brokers=(draws.choice(scope.draft.replicas(partition)),))
        spoilt = Strike(DiskCorrupt(partition=partition, batch="last"), broker)
        fails = DiskFail(partition=partition, operation="truncate")
        killed = Strike(BrokerCrash(kind="process"), broker, draws.spread(strikes.SHORT), draws.spread((MS, 200 * MS)))
        series = [spoilt, Strike(fails, broker, draws.spread(strikes.AROUND_A_SESSION)), killed]
        scope.draft.add(At(scope.draft.moment(draws)), series)

    @staticmethod
    def _action(scope: Scope, draws: Draws, partition: str) -> Action:
        operation = draws.choice(("any", "append", "read", "truncate", "flush"))
        log_dir = draws.choice(scope.draft.scenario.cluster.log_dir_names)
        slow = DiskSlow(latency_us=draws.spread((MS, SECOND)), write=draws.choice((None, 100_000, 1_000_000)))
        fail = DiskFail(partition=partition, operation=operation, times=draws.choice((None, 1, 3)))
        possible: tuple[tuple[int, Action], ...] = (
            (4, slow), (3, fail), (1, DiskFull(log_dir=log_dir)), (2, LogDirOffline(log_dir=log_dir, restart=False)),
            (2, DiskCorrupt(partition=partition, batch=draws.choice(("first", "last")))),
        )  # fmt: skip
        return draws.weighted(possible)


@chaos("failing-partitions", "the fetcher of a follower fails on one partition (KIP-461)")
@frozen(kw_only=True)
class FailingPartitions(Episodes):
    times: Range = field(default=(1, 2), metadata=key(COUNT, "how many partitions fail in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        strike = strikes.fail_partition(scope.partition(draws), draws)
        scope.draft.add(At(scope.draft.moment(draws)), [strike])


@chaos(
    "lost-directories",
    "a broker of several log directories loses one and lives on; then it restarts, or the controller changes",
)
@frozen(kw_only=True)
class LostDirectories(Episodes):
    turn = 1

    times: Range = field(default=(1, 2), metadata=key(COUNT, "how many directories are lost in a run"))

    def draw(self, draft: Draft, draws: Draws) -> None:
        cluster = draft.scenario.cluster
        draft.change(cluster=evolve(cluster, log_dirs=max(2, cluster.log_dirs)))
        super().draw(draft, draws)

    def episode(self, scope: Scope, draws: Draws) -> None:
        partition = scope.partition(draws)
        broker = Target(brokers=(draws.choice(scope.draft.replicas(partition)),))
        log_dir = draws.choice(scope.draft.scenario.cluster.log_dir_names)
        series = [Strike(LogDirOffline(log_dir=log_dir), broker)]
        while len(series) < 4 and draws.chance(0.6):
            first, *rest = self._then(scope, draws, partition, broker)
            series += [first._replace(gap_us=draws.spread((MS, 10 * SECOND))), *rest]
        if draws.sub("works").chance(0.5):
            series += self._works_again(scope, draws.sub("works/then"), broker)
        if draws.chance(0.4):
            controller = strikes.short_crash(scope, draws, Target(role="controller"))
            series = [controller, series[0]._replace(gap_us=draws.spread((MS, SECOND))), *series[1:]]
        scope.draft.add(At(scope.draft.moment(draws)), series)

    @staticmethod
    def _then(scope: Scope, draws: Draws, partition: str, broker: Target) -> list[Strike]:
        """The strikes or requests after the loss."""
        restart = strikes.short_crash(scope, draws, broker)
        elsewhere = strikes.strike(scope, draws, strikes.role(scope, draws, partition))
        one = ((2, restart), (2, Strike(ControllerResign())), (1, Strike(ZkExpire(), broker)), (2, elsewhere))
        elected = Strike(ElectionPreferred())
        own = draws.sub("asked")
        asked = passing(scope, own.sub("passing")) if not scope.draft.heals_core and own.chance(0.5) else [elected]
        return asked if own.chance(0.25) else [draws.weighted(one)]

    @staticmethod
    def _works_again(scope: Scope, draws: Draws, broker: Target) -> list[Strike]:
        """The disk works again while its broker lives: the directory is lost all the same, until a restart."""
        series = [Strike(DiskHeal(), broker, gap_us=draws.spread((100 * MS, 8 * SECOND)))]
        if draws.chance(0.7):
            restart = strikes.short_crash(scope, draws, broker)
            series.append(restart._replace(gap_us=draws.spread((MS, 8 * SECOND))))
        return series


@chaos("spoilt-logs", "a batch of a log of short segments is spoilt, and its broker dies: the start recovers the log")
@frozen(kw_only=True)
class SpoiltLogs(Episodes):
    turn = 1

    times: Range = field(default=(1, 1), metadata=key(COUNT, "how many logs are spoilt in a run"))

    def draw(self, draft: Draft, draws: Draws) -> None:
        cluster = draft.scenario.cluster
        short = {"log.segment.bytes": draws.sub("logs").choice((2_000, 8_000, 64 << 10))}
        draft.change(cluster=evolve(cluster, config={**short, **cluster.config}))
        super().draw(draft, draws)

    def episode(self, scope: Scope, draws: Draws) -> None:
        partition = scope.partition(draws)
        broker = Target(brokers=(draws.choice(scope.draft.replicas(partition)),))
        series = []
        for _ in range(draws.between((1, 2))):
            spoilt = DiskCorrupt(partition=partition, batch=draws.choice(("first", "last")))
            series.append(Strike(spoilt, broker, gap_us=draws.spread((MS, SECOND))))
            killed = scope.draft.crash(draws) if draws.chance(0.7) else BrokerCrash(kind="host")
            series.append(Strike(killed, broker, draws.spread(strikes.SHORT), draws.spread((MS, 4 * SECOND))))
        if draws.chance(0.5):  # the others read from it
            away = strikes.short_crash(scope, draws, Target(role=f"leader({partition})"))
            series.append(away._replace(gap_us=draws.spread((SECOND, 8 * SECOND))))
        scope.draft.add(At(scope.draft.moment(draws)), series)
