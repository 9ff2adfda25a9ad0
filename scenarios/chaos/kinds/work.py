"""The amount of work: requests that take time, logs of many short segments, many partitions, other protocols."""

from __future__ import annotations

from typing import Any

from attrs import evolve, field, frozen

from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Draft
from scenarios.chaos.kinds.shape import FEW, Shape, drawn, size
from scenarios.errors import BadInput
from scenarios.language.chaos import SHARE, Names, chaos
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.topic_spec import TopicSpec
from scenarios.language.workloads import WorkloadSpec

SOME = key(SHARE, "the share of seeds that have it")
WIDE = "wide"


@chaos("service-times", "requests occupy the threads that handle them, few of them, behind a queue that may be short")
@frozen(kw_only=True)
class ServiceTimes(Shape):
    share: float = field(default=0.5, metadata=SOME)

    def draw(self, draft: Draft, draws: Draws) -> None:
        """Draw service times. A broker can do more than is asked of it, or no cluster would ever converge."""
        cluster = draft.scenario.cluster
        times: dict[str, int] = {
            "Produce": draws.weighted(((1, 0), (2, 100), (2, 500))),
            "Fetch": draws.weighted(((1, 0), (2, 50), (2, 200))),
            "LeaderAndIsr": draws.weighted(((1, 0), (2, MS), (2, 20 * MS), (1, 300 * MS))),
            "LeaderAndIsr/partition": draws.weighted(((2, 0), (1, MS), (1, 20 * MS))),
            "StopReplica": draws.weighted(((2, 0), (1, 5 * MS), (1, 200 * MS))),
            "UpdateMetadata": draws.weighted(((2, 0), (1, 5 * MS), (1, 200 * MS))),
            "Metadata": draws.weighted(((2, 0), (1, 2 * MS))),
        }
        threads = {
            "num.io.threads": draws.weighted(((3, 1), (2, 2), (1, 8))),
            "queued.max.requests": draws.weighted(((2, 1), (2, 4), (2, 500))),
        }
        service = {name: time_us for name, time_us in times.items() if time_us}
        config: dict[str, Any] = {**threads, **cluster.config}
        draft.change(cluster=evolve(cluster, service={**service, **cluster.service}, config=config))
        draft.notes.append(f"requests take time; {config['num.io.threads']} threads handle them")


@chaos("short-logs", "segments of few batches, which are soon deleted, on all topics that do not state their own")
@frozen(kw_only=True)
class ShortLogs(Shape):
    share: float = field(default=0.5, metadata=SOME)

    def draw(self, draft: Draft, draws: Draws) -> None:
        found = drawn(
            draws,
            (
                ("log.segment.bytes", ((2, 2_000), (2, 16 << 10), (1, 128 << 10))),
                ("log.retention.bytes", ((2, None), (1, 4_000), (1, 64 << 10))),
                ("log.retention.ms", ((1, None), (2, 1_500), (1, 6_000))),
                ("log.retention.check.interval.ms", ((2, 500), (2, 2_000), (1, 5_000))),
                ("log.segment.delete.delay.ms", ((2, None), (1, 200))),
                ("log.roll.ms", ((3, None), (1, 1_000), (1, 4_000))),
            ),
        )
        cluster = draft.scenario.cluster
        draft.change(cluster=evolve(cluster, config={**found, **cluster.config}))
        draft.notes.append("segments are short, and soon deleted")


@chaos("wide-topics", "a topic of many partitions, each written to now and then")
@frozen(kw_only=True)
class WideTopics(Shape):
    share: float = field(default=0.5, metadata=SOME)
    partitions: Range = field(default=(6, 16), metadata=key(FEW, "how many partitions it has"))

    def draw(self, draft: Draft, draws: Draws) -> None:
        brokers = draft.scenario.cluster.ids
        replicas = draws.between((1, min(3, len(brokers))))
        count = draws.between(self.partitions)
        topic = TopicSpec(name=WIDE, assignment=tuple(tuple(draws.some(brokers, replicas)) for _ in range(count)))
        load = WorkloadSpec(
            topic=WIDE, producer_rate=2 * count, message_size=100, linger_us=2 * SECOND,
            acks=draws.weighted(((3, "all"), (2, "1"), (1, "0"))), stop_us=draws.between((10, 40)) * SECOND,
        )  # fmt: skip
        scenario = draft.scenario
        draft.change(topics=(*scenario.topics, topic), workloads=(*scenario.workloads, load))
        draft.notes.append(f"topic {WIDE}: {size(count, replicas)}")

    def check(self, names: Names) -> None:
        if WIDE in names.topics:
            raise BadInput(f"the file has a topic {WIDE} of its own; call it otherwise", where="kind")


STRATEGIES = ("kafka-6794", "width-2", "wiki")
"""The strategies that run under every release; the others need a release of their own, or an API."""


@chaos("protocols", "moves are stepped by another protocol than that of the release")
@frozen(kw_only=True)
class Protocols(Shape):
    share: float = field(default=0.5, metadata=SOME)

    def draw(self, draft: Draft, draws: Draws) -> None:
        strategy = draft.scenario.strategy
        if strategy.stated is None:
            name = draws.choice(STRATEGIES)
            draft.change(strategy=evolve(strategy, name=name))
            draft.notes.append(f"strategy {name}")
