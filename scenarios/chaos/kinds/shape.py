"""The shape of the cluster: its brokers, topics and settings, and the time when faults end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, field, frozen

from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Draft
from scenarios.chaos.kind import DrawnChaos
from scenarios.errors import BadInput
from scenarios.language.chaos import SHARE, Names, chaos
from scenarios.language.schedules import FIFO
from scenarios.language.schema.kinds import DURATION, SOME_TIME, Integer
from scenarios.language.schema.spans import Range, RangeOf
from scenarios.language.schema.table_reader import key
from scenarios.language.topic_spec import TopicSpec
from scenarios.profiles import PROFILES
from scenarios.units import counted

FEW = RangeOf(Integer(1, 100))
ALWAYS = key(SHARE, "the share of seeds that have it")


def size(partitions: int, replicas: int) -> str:
    """The size of a topic, in words."""
    return f"{counted(partitions, 'partitions')} with {counted(replicas, 'replicas')}"


@frozen(kw_only=True)
class Shape(DrawnChaos):
    turn = 0

    share: float = field(default=1.0, metadata=ALWAYS)


@chaos("cluster", "how many brokers there are, in which racks, how far from each other, and what a crash loses")
@frozen(kw_only=True)
class ClusterShape(Shape):
    brokers: Range = field(default=(3, 5), metadata=key(FEW, "in the place of cluster.brokers"))
    racks: Range = field(default=(1, 3), metadata=key(FEW, "in the place of cluster.racks"))
    log_dirs: Range = field(default=(1, 2), metadata=key(FEW, "in the place of cluster.log_dirs"))

    def draw(self, draft: Draft, draws: Draws) -> None:
        spec = draft.scenario.cluster
        network, disk, zk = draws.sub("network"), draws.sub("disk"), draws.sub("zk")
        latency_us = network.weighted(((5, spec.network.latency_us), (1, 50), (1, 20 * MS)))
        # Polls without news are jumped over where a message takes at least 1 us (``Route.is_plain``).
        jitter_us = network.weighted(((2, spec.network.jitter_us), (2, latency_us // 2), (1, latency_us - 1)))
        cluster = evolve(
            spec,
            brokers=draws.between(self.brokers),
            racks=draws.between(self.racks),
            rack_names=(),
            log_dirs=draws.weighted(((2, self.log_dirs[0]), (1, self.log_dirs[1]))),
            network=evolve(spec.network, latency_us=latency_us, jitter_us=jitter_us),
            disk=evolve(
                spec.disk,
                writeback_us=disk.weighted(((2, spec.disk.writeback_us), (1, 1 * SECOND), (1, 5 * SECOND))),
            ),
            zk=evolve(
                spec.zk,
                rtt_us=zk.weighted(((4, spec.zk.rtt_us), (1, 200), (1, 30 * MS))),
                session_timeout_us=zk.weighted(((4, spec.zk.session_timeout_us), (1, 4 * SECOND), (1, 18 * SECOND))),
            ),
        )  # fmt: skip
        draft.change(cluster=cluster)
        draft.notes.append(f"{counted(cluster.brokers, 'brokers')} in {counted(cluster.racks, 'racks')}")

    def check(self, names: Names) -> None:
        if names.ids != range(len(names.ids)):
            raise BadInput("it draws brokers with ids from 0 on; leave cluster.broker_ids out, or this block")
        least = names.least_brokers
        if self.brokers[0] < least:
            raise BadInput(
                f"the file needs {least} brokers, with ids up to {least - 1}; write {least} or more", where="brokers"
            )


@chaos("topics", "topics of a few partitions, with replicas, min.insync.replicas, segments and retention of their own")
@frozen(kw_only=True)
class Topics(Shape):
    count: Range = field(default=(1, 2), metadata=key(FEW, "how many topics; they are called t0, t1, ..."))
    partitions: Range = field(default=(1, 3), metadata=key(FEW, "how many partitions each has"))
    replicas: Range = field(default=(2, 4), metadata=key(FEW, "how many replicas each partition has"))
    alike: float = field(
        default=0.0, metadata=key(SHARE, "the share of topics all of whose partitions have the same replicas")
    )

    def draw(self, draft: Draft, draws: Draws) -> None:
        made = [self._topic(draft, number, draws.sub(number)) for number in range(draws.between(self.count))]
        draft.change(topics=(*draft.scenario.topics, *made))
        draft.notes += [f"topic {topic.name}: {size(topic.partitions, topic.replication_factor)}" for topic in made]

    def _topic(self, draft: Draft, number: int, draws: Draws) -> TopicSpec:
        brokers = draft.scenario.cluster.ids
        replicas = min(draws.between(self.replicas), len(brokers))
        partitions = draws.between(self.partitions)
        config = drawn(draws.sub("config"), topic_settings(replicas))
        size = draws.weighted(((5, 0), (1, 64 << 10), (1, 1 << 20)))
        assignment = tuple(tuple(draws.some(brokers, replicas)) for _ in range(partitions))
        if draws.sub("alike").chance(self.alike):
            assignment = assignment[:1] * partitions
        return TopicSpec(name=f"t{number}", assignment=assignment, size_bytes=size, config=config)

    def check(self, names: Names) -> None:
        for number in range(self.count[1]):
            if f"t{number}" in names.topics:
                raise BadInput(f"the file has a topic t{number} of its own; call it otherwise", where="count")


Possible = Sequence[tuple[str, Sequence[tuple[int, Any]]]]
"""Settings, each with its possible values by weight; None leaves it as it is."""


def topic_settings(replicas: int) -> Possible:
    """The possible settings of a topic of so many replicas."""
    return (
        ("min.insync.replicas", ((3, None), (3, min(2, replicas)), (1, replicas))),
        ("unclean.leader.election.enable", ((5, None), (1, True))),
        ("segment.bytes", ((3, None), (1, 8 << 10), (1, 64 << 10))),
        ("retention.bytes", ((5, None), (1, 16 << 10))),
        ("retention.ms", ((5, None), (1, 5_000), (1, 20_000))),
        ("flush.messages", ((4, None), (1, 1), (1, 10))),
        ("flush.ms", ((5, None), (1, 1_000))),
    )


BROKER_SETTINGS: Possible = (
    ("replica.lag.time.max.ms", ((3, None), (1, 1_000), (1, 3_000), (1, 30_000))),
    ("num.replica.fetchers", ((4, None), (1, 2), (1, 4))),
    ("replica.high.watermark.checkpoint.interval.ms", ((3, None), (1, 500), (1, 60_000))),
    ("log.retention.check.interval.ms", ((1, None), (2, 2_000), (2, 7_000))),
    ("replica.fetch.wait.max.ms", ((5, None), (1, 50))),
    ("replica.fetch.max.bytes", ((4, None), (1, 4 << 10), (1, 1_000))),
    ("replica.fetch.backoff.ms", ((4, None), (1, 100))),
    ("replica.socket.timeout.ms", ((3, None), (1, 2_000))),
    ("controller.socket.timeout.ms", ((3, None), (1, 2_000))),
    ("leader.imbalance.check.interval.seconds", ((2, None), (2, 5), (1, 20))),
    ("log.segment.delete.delay.ms", ((2, None), (1, 1_000))),
    ("controlled.shutdown.retry.backoff.ms", ((4, None), (1, 500))),
    ("unclean.leader.election.enable", ((9, None), (1, True))),
    ("log.flush.interval.messages", ((6, None), (1, 1))),
)
"""The possible settings of brokers: the windows in which races happen are often as long as one of these."""
LAG_BY_MESSAGES: Possible = (("replica.lag.max.messages", ((2, None), (1, 3), (1, 200))),)
"""A setting of the brokers of some releases (before 0.9)."""


def drawn(draws: Draws, settings: Possible) -> dict[str, Any]:
    """A value for each setting that gets one, each from a stream of its own."""
    values = {name: draws.sub(name).weighted(values) for name, values in settings}
    return {name: value for name, value in values.items() if value is not None}


@chaos("settings", "broker settings other than their defaults, where the file does not state them")
@frozen(kw_only=True)
class BrokerSettings(Shape):
    share: float = field(default=0.7, metadata=ALWAYS)

    def draw(self, draft: Draft, draws: Draws) -> None:
        cluster = draft.scenario.cluster
        by_messages = LAG_BY_MESSAGES[0][0] in PROFILES[draft.scenario.profile].also_knows
        found: Mapping[str, Any] = drawn(draws, (*BROKER_SETTINGS, *(LAG_BY_MESSAGES if by_messages else ())))
        draft.change(cluster=evolve(cluster, config={**found, **cluster.config}))


@chaos("schedules", "what is under way at once happens in another order than first in, first out")
@frozen(kw_only=True)
class Schedules(Shape):
    share: float = field(default=0.3, metadata=ALWAYS)

    def draw(self, draft: Draft, draws: Draws) -> None:
        schedule = draws.weighted(((3, "random"), (1, "pct-2"), (2, "pct-3"), (1, "pct-5"), (2, "pos")))
        if draft.scenario.schedule == FIFO:
            draft.change(schedule=schedule)
            draft.notes.append(f"schedule {schedule}")


@chaos(
    "healing",
    "when faults begin, when all of them end, or those of a core of the brokers, and how long it may take to converge",
)
@frozen(kw_only=True)
class Healing(Shape):
    begin_us: int = field(default=3 * SECOND, metadata=key(DURATION, "no fault begins before", name="begin"))
    at: Range = field(
        default=(30 * SECOND, 60 * SECOND),
        metadata=key(RangeOf(SOME_TIME), "when all faults end: a moment that is drawn"),
    )
    within_us: int = field(default=120 * SECOND, metadata=key(SOME_TIME, "time after that to converge", name="within"))
    core: float = field(
        default=0.2, metadata=key(SHARE, "the share of seeds in which all brokers but one or two are healed")
    )
    loaded: float = field(default=0.25, metadata=key(SHARE, "the share of seeds in which the loads never stop"))
    goes_on_us: int | None = field(
        default=None,
        metadata=key(
            SOME_TIME, "time after that for which they go on instead; absent = to the end of the run", name="goes_on"
        ),
    )
    tools_us: int = field(
        default=30 * SECOND,
        metadata=key(
            SOME_TIME,
            "time after that by which tools that waited for ZooKeeper have set their throttles, which are then removed",
            name="tools",
        ),
    )

    def draw(self, draft: Draft, draws: Draws) -> None:
        heal_us = max(draws.moment(self.at), self.begin_us + 2 * SECOND)
        draft.faults = self.begin_us, heal_us
        draft.stop_us = heal_us + draws.moment((0, 10 * SECOND))
        draft.within_us, draft.tools_us = self.within_us, self.tools_us
        draft.goes_on_us = self.goes_on_us or draft.goes_on_us
        if draws.sub("loaded").chance(self.loaded):
            draft.stop_us = None if self.goes_on_us is None else heal_us + self.goes_on_us
            on = "never stop" if self.goes_on_us is None else f"go on for {self.goes_on_us / SECOND:g} s after that"
            draft.notes.append(f"the loads {on}")
        draft.heals_core = draws.sub("core").chance(self.core)
