"""The loads: what producers write and consumers read. Steady, bursts, idle stretches, few keys, idempotent, acks of all
kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve, field, frozen

from scenarios import units
from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Draft, Scope, Strike
from scenarios.chaos.kind import DrawnChaos, Episodes
from scenarios.chaos.kinds.shape import ALWAYS
from scenarios.faults.actions.brokers import BrokerCrash, BrokerPause
from scenarios.faults.actions.intercepted import MessageCut
from scenarios.language.chaos import chaos
from scenarios.language.schema.kinds import Integer, Quantity
from scenarios.language.schema.spans import Range, RangeOf
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import Target
from scenarios.language.topic_spec import TopicSpec
from scenarios.language.triggers import At, WhenMessage
from scenarios.language.workloads import ConsumerSpec, WorkloadSpec
from scenarios.profiles import PROFILES

BATCHES = RangeOf(Integer(1, 1000))
SLOW = 2_000
"""Messages a second of a slow consumer, which processes each of them."""


@frozen(kw_only=True)
class OnTopics(DrawnChaos):
    """Draws a load for each topic that does not have one."""

    turn = 1

    share: float = field(default=1.0, metadata=ALWAYS)


@chaos(
    "loads",
    "producers for each topic without one: their rate, acks, keys, batches, timeouts, bursts and idle stretches",
)
@frozen(kw_only=True)
class Loads(OnTopics):
    batches: Range = field(
        default=(1, 6), metadata=key(BATCHES, "batches a second and partition, while the load is on")
    )
    gives_up_us: int | None = field(
        default=None,
        metadata=key(
            Quantity(units.parse_duration, units.format_duration, "10s", "microseconds", low=2 * SECOND),
            "delivery.timeout.ms of loads on topics that the run creates and may delete; absent = Kafka's two minutes",
            name="gives_up",
        ),
    )

    def draw(self, draft: Draft, draws: Draws) -> None:
        draft.gives_up_us = self.gives_up_us
        loaded = [load.topic for load in draft.scenario.workloads]
        for topic in draft.scenario.topics:
            if topic.name not in loaded:
                self._load(draft, topic, draws.sub(topic.name))

    def _load(self, draft: Draft, topic: TopicSpec, draws: Draws) -> None:
        batches = draws.between(self.batches)
        keys = draws.weighted(((3, None), (1, 1), (1, 3)))
        fetch_us = 2 * draft.scenario.cluster.network.latency_us
        dense = fetch_us >= 20 * MS and draws.sub("dense").chance(0.3)
        if dense:  # more often than a fetch takes; on one partition only, since runs would take too long otherwise
            batches, keys = SECOND * 4 // (3 * fetch_us), 1
        each = draws.weighted(((4, 1), (6, 5), (2, 50), (1, 2_000)))
        acks = draws.weighted(((7, "all"), (2, "1"), (1, "0")))
        if PROFILES[draft.scenario.profile].policies.counts_acks and draws.sub("counted").chance(0.4):
            acks = "2"
        load = WorkloadSpec(
            topic=topic.name,
            producer_rate=max(1, batches * each * topic.partitions),
            message_size=draws.weighted(((3, 100), (3, 1024), (1, 8 << 10))) if each < 1_000 else 10,
            keys=keys,
            partitioner=draws.sub("partitioner").choice(("round-robin", "sticky")),
            producers=draws.weighted(((3, 1), (1, min(2, batches)))),
            acks=acks,
            linger_us=SECOND // batches,
            stop_us=self._stop(draft, draws, dense=dense),
            config=self._config(draws.sub("config"), acks, SECOND // batches, dense=dense),
        )
        times = [(load.start_us, load.stop_us)] if dense else self._times(draft, draws.sub("times"))
        parts = [evolve(load, start_us=start, stop_us=stop) for start, stop in times]
        draft.change(workloads=(*draft.scenario.workloads, *parts))
        draft.notes.append(
            f"load on {topic.name}: acks={acks}, {batches} batches/s{'' if len(parts) == 1 else ', bursts'}"
        )

    @staticmethod
    def _stop(draft: Draft, draws: Draws, *, dense: bool) -> int | None:
        """The end of a load. A dense one that goes on ends some time after healing: a cluster under it never settles,
        and the run would last to its horizon."""
        if not dense:
            return draft.stop_us
        on = draft.stop_us is None or draws.sub("dense/on").chance(0.5)
        return draft.faults[1] + draft.goes_on_us if on else draft.stop_us

    @staticmethod
    def _config(draws: Draws, acks: str, linger_us: int, *, dense: bool) -> Mapping[str, Any]:
        """The settings of a producer. A dense load has many requests in flight: else it would fall behind all the time,
        and write what it owes for minutes."""
        idempotent = acks == "all" and draws.sub("idempotent").chance(0.35)
        flight = None if dense else draws.sub("flight").weighted(((4, None), (2, 1), (1, 2)))
        timeout_ms = draws.sub("timeout").weighted(((3, None), (1, 1_000), (1, 5_000)))
        delivery_ms = draws.sub("delivery").weighted(((3, None), (1, 8_000), (1, 40_000)))
        found: dict[str, Any] = {
            "enable.idempotence": True if idempotent else None,
            "max.in.flight.requests.per.connection": flight,
            "request.timeout.ms": timeout_ms,
            "delivery.timeout.ms": max(delivery_ms, linger_us // MS + (timeout_ms or 30_000)) if delivery_ms else None,
            "retry.backoff.ms": draws.sub("backoff").weighted(((4, None), (1, 10), (1, 1_000))),
        }
        return {name: value for name, value in found.items() if value is not None}

    @staticmethod
    def _times(draft: Draft, draws: Draws) -> list[tuple[int, int | None]]:
        """The times of the load: all the time; or some stretches, with idle ones between them."""
        start_us = draws.weighted(((3, 0), (1, 2 * SECOND)))
        if draws.chance(0.7):
            return [(start_us, draft.stop_us)]
        stretches: list[tuple[int, int | None]] = []
        while start_us < draft.end_us - SECOND and len(stretches) < 6:
            stop_us = min(draft.end_us, start_us + draws.spread((200 * MS, 20 * SECOND)))
            stretches.append((start_us, stop_us))
            start_us = stop_us + draws.spread((SECOND, 20 * SECOND))
        return stretches


@chaos("consumers", "a consumer for each topic without one")
@frozen(kw_only=True)
class Consumers(OnTopics):
    share: float = field(default=0.6, metadata=ALWAYS)

    def draw(self, draft: Draft, draws: Draws) -> None:
        read = [consumer.topic for consumer in draft.scenario.consumers]
        made = []
        for topic in draft.scenario.topics:
            own = draws.sub(topic.name)
            if topic.name not in read:
                reset = own.weighted(((3, "earliest"), (2, "latest")))
                loads = [load for load in draft.scenario.workloads if load.topic == topic.name]
                fast = sum(load.producer_rate for load in loads) > SLOW
                poll_us = own.weighted(((4, 0), (1, 0 if fast else 50 * MS)))
                start_us = own.weighted(((3, 0), (1, 10 * SECOND)))
                made.append(ConsumerSpec(topic=topic.name, offset_reset=reset, poll_us=poll_us, start_us=start_us))
        draft.change(consumers=(*draft.scenario.consumers, *made))


@chaos(
    "more-clients",
    "a second producer and a second consumer for a topic, with settings that few use: no retries, small fetches, keys",
)
@frozen(kw_only=True)
class MoreClients(Episodes):
    times: Range = field(default=(1, 1), metadata=key(BATCHES, "how many topics get them"))
    turn = 1

    def episode(self, scope: Scope, draws: Draws) -> None:
        draft, topic = scope.draft, draws.choice(scope.topics)
        start_us = draws.moment((0, draft.faults[1]))
        draft.change(
            workloads=(*draft.scenario.workloads, self._producer(draft, topic, start_us, draws.sub("producer"))),
            consumers=(*draft.scenario.consumers, self._consumer(draft, topic, start_us, draws.sub("consumer"))),
        )

    @staticmethod
    def _producer(draft: Draft, topic: TopicSpec, start_us: int, draws: Draws) -> WorkloadSpec:
        counted = PROFILES[draft.scenario.profile].policies.counts_acks
        acks = draws.weighted(((2, "all"), (2, "1"), (2, "0"), (2, "2" if counted else "1")))
        found = {
            "retries": draws.weighted(((2, None), (2, 0), (1, 3))),
            "batch.size": draws.weighted(((1, None), (1, 250), (1, 1_000))),
            "max.in.flight.requests.per.connection": draws.weighted(((1, None), (1, 1), (1, 20))),
            "request.timeout.ms": draws.weighted(((1, None), (1, 500), (1, 2_000))),
        }
        return WorkloadSpec(
            topic=topic.name, producer_rate=10 * topic.partitions, message_size=100, keys=10,
            key_skew=draws.choice((0.0, 1.0)), acks=acks, linger_us=draws.choice((100 * MS, 500 * MS)),
            config={name: value for name, value in found.items() if value is not None},
            start_us=start_us, stop_us=max(start_us, draft.end_us) + SECOND,
        )  # fmt: skip

    @staticmethod
    def _consumer(draft: Draft, topic: TopicSpec, start_us: int, draws: Draws) -> ConsumerSpec:
        loads = [load for load in draft.scenario.workloads if load.topic == topic.name]
        fetch_us = 2 * draft.scenario.cluster.network.latency_us
        # The bytes of four fetches: a reader that gets less at a time could fall behind for ever.
        least = sum(load.producer_rate * load.message_size for load in loads) * 4 * fetch_us // SECOND
        found = {
            "fetch.min.bytes": draws.weighted(((2, None), (1, 1_000), (1, 1 << 20))),
            "fetch.max.wait.ms": draws.weighted(((2, None), (1, 100), (1, 1_000))),
            "max.partition.fetch.bytes": draws.weighted(((2, None), (1, max(20_000, least)), (1, max(100_000, least)))),
            "fetch.max.bytes": draws.weighted(((2, None), (1, max(50_000, least)))),
        }
        # Otherwise each fetch would wait for the longest time that is allowed.
        if found["max.partition.fetch.bytes"] or found["fetch.max.bytes"]:
            found["fetch.min.bytes"] = found["fetch.min.bytes"] and 1_000
        return ConsumerSpec(
            topic=topic.name, offset_reset=draws.choice(("earliest", "latest")), start_us=start_us,
            config={name: value for name, value in found.items() if value is not None},
        )  # fmt: skip


def _write_around(
    scope: Scope, partition: str, span_us: tuple[int, int], acks: str, config: dict[str, Any] | None = None
) -> None:
    """A dense load on the topic of ``partition`` for a while."""
    topic = next(topic for topic in scope.topics if partition in topic.partition_names)
    load = WorkloadSpec(
        topic=topic.name, producer_rate=20 * topic.partitions, message_size=100, acks=acks, linger_us=50 * MS,
        config=config or {}, start_us=max(0, span_us[0]), stop_us=span_us[1],
    )  # fmt: skip
    draft = scope.draft
    draft.change(workloads=(*draft.scenario.workloads, load))


@chaos(
    "repeated-sends",
    "an idempotent load whose requests time out as a follower pauses: it sends again what the leader has",
)
@frozen(kw_only=True)
class RepeatedSends(Episodes):
    times: Range = field(default=(1, 1), metadata=key(BATCHES, "how often it happens in a run"))
    turn = 1

    def episode(self, scope: Scope, draws: Draws) -> None:
        draft, partition = scope.draft, scope.partition(draws)
        at_us = draft.moment(draws)
        config = {"enable.idempotence": True, "request.timeout.ms": 500}
        _write_around(scope, partition, (at_us - SECOND, at_us + 5 * SECOND), "all", config)
        follower = Target(role=f"any isr({partition})-leader")
        draft.add(At(at_us), [Strike(BrokerPause(), follower, draws.spread((SECOND, 4 * SECOND)))])


@chaos(
    "queued-sends",
    "more batches wait in an idempotent producer than it may have under way, as its connection is lost",
)
@frozen(kw_only=True)
class QueuedSends(Episodes):
    times: Range = field(default=(1, 1), metadata=key(BATCHES, "how often it happens in a run"))
    turn = 1

    def episode(self, scope: Scope, draws: Draws) -> None:
        draft, partition = scope.draft, scope.partition(draws)
        topic = next(topic for topic in scope.topics if partition in topic.partition_names)
        at_us = draft.moment(draws)
        load = WorkloadSpec(
            topic=topic.name, producer_rate=50 * topic.partitions, message_size=100, acks="all", linger_us=20 * MS,
            start_us=max(0, at_us - SECOND // 2), stop_us=at_us + 5 * SECOND // 2,
            config={
                "enable.idempotence": True,
                "max.in.flight.requests.per.connection": draws.weighted(((3, 5), (1, 2), (1, 1))),
                "batch.size": 1_000, "retry.backoff.ms": draws.choice((10, 100)),
            },
        )  # fmt: skip
        draft.change(workloads=(*draft.scenario.workloads, load))
        leader = Target(role=f"leader({partition})")
        slow = Strike(BrokerPause(), Target(role=f"any isr({partition})-leader"), draws.spread((200 * MS, 2 * SECOND)))
        draft.add(At(at_us), [slow])
        first = draws.between((1, 30))
        for lost in range(draws.between((1, 4))):
            edge, response = draws.weighted(((2, ("sent", False)), (2, ("delivered", False)), (3, ("sent", True))))
            when = WhenMessage(
                message="Produce", response=response, edge=edge, partition=partition, occurrence=first + lost,
                since=at_us, source=leader if response else None, target=None if response else leader,
            )  # fmt: skip
            draft.add(when, [Strike(MessageCut())], at_us=at_us)
        if draws.chance(0.3):
            gone = draws.choice((strikes.short_crash, strikes.expire, strikes.shut_down))(scope, draws, leader)
            draft.add(At(at_us + draws.spread((10 * MS, 2 * SECOND))), [gone])


@chaos(
    "tail-loads",
    "a load with acks=1 whose leader then dies with its machine: what only it had, and had not flushed, is lost",
)
@frozen(kw_only=True)
class TailLoads(Episodes):
    times: Range = field(default=(1, 2), metadata=key(BATCHES, "how often it happens in a run"))
    turn = 1

    def episode(self, scope: Scope, draws: Draws) -> None:
        draft, partition = scope.draft, scope.partition(draws)
        at_us = draft.moment(draws)
        begins_us = at_us - draws.spread((50 * MS, 3 * SECOND))
        _write_around(scope, partition, (begins_us, at_us + SECOND), "1")
        crash = BrokerCrash(kind="host")
        leader = Target(role=f"leader({partition})")
        series = [Strike(crash, leader, strikes.until_healed(draws))]
        if draws.chance(0.5):
            series.append(Strike(crash, leader, strikes.lasting(draws), draws.spread((MS, 10 * SECOND))))
        draft.add(At(at_us), series)
