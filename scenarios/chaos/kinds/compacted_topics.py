"""Topics that are compacted (cleanup.policy=compact), those of coordinators too."""

from __future__ import annotations

from typing import Any

from attrs import evolve, field, frozen

from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Draft, Strike
from scenarios.chaos.kind import DrawnChaos
from scenarios.chaos.kinds.coordinated import INTERNAL, Transactions
from scenarios.chaos.kinds.shape import Possible, drawn
from scenarios.cluster.clients.behaviours.transactional import Transactional
from scenarios.faults.actions.disks import DiskCorrupt
from scenarios.language.chaos import SHARE, chaos
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import Target
from scenarios.language.topic_spec import TopicSpec
from scenarios.language.triggers import At
from scenarios.profiles import PROFILES
from scenarios.profiles.profile import is_before

SINCE = "1.0"
"""Releases from then on compact here as they did."""
ON_TOPICS = 0.6
"""The share of topics that are compacted."""
TRANSACTIONS = 0.5
"""The share of seeds without coordinators in which transactions are written to what is compacted."""
SPOILT = 0.25
"""The share of seeds in which a log cannot be compacted any more, as a batch of it cannot be read."""
SEGMENTS = ((2, 1_500), (2, 5_000), (1, 20_000))
SETTINGS: Possible = (
    ("min.cleanable.dirty.ratio", ((2, 0.01), (2, 0.3), (1, None))),
    ("delete.retention.ms", ((2, 500), (2, 5_000), (1, None))),
    ("min.compaction.lag.ms", ((4, None), (1, 3_000))),
    ("max.compaction.lag.ms", ((4, None), (1, 4_000))),
)
OF_CLEANERS: Possible = (
    ("log.cleaner.backoff.ms", ((3, 200), (3, 2_000), (1, None))),
    ("log.cleaner.io.max.bytes.per.second", ((3, None), (1, 20_000), (1, 200_000))),
)


@chaos(
    "compaction",
    "topics that are compacted, those of coordinators too: short segments, slow cleaners, tombstones that soon go",
)
@frozen(kw_only=True)
class Compaction(DrawnChaos):
    turn = 1

    share: float = field(default=0.5, metadata=key(SHARE, "the share of seeds that have it"))

    def draw(self, draft: Draft, draws: Draws) -> None:
        """Draw the settings, and keys for transactions; those of other loads come again by themselves. A topic that the
        file states keeps its own settings."""
        if is_before(PROFILES[draft.scenario.profile].release, SINCE) or not draft.scenario.topics:
            return
        if not draft.internal and draws.sub("transactions").chance(TRANSACTIONS):
            Transactions().draw(draft, draws.sub("transactions/how"))
        scenario = draft.scenario
        topics = tuple(self._topic(topic, draws.sub(topic.name)) for topic in scenario.topics)
        config: dict[str, Any] = drawn(draws.sub("cleaners"), OF_CLEANERS)
        for name, prefix in INTERNAL.items():
            config[f"{prefix}.segment.bytes"] = draws.sub(name).sub("made").weighted(SEGMENTS)
        cluster = scenario.cluster
        clients = [
            evolve(client, keys=draws.sub(client.id).choice((1, 3, 7))) if isinstance(client, Transactional) else client
            for client in scenario.clients
        ]
        draft.change(topics=topics, cluster=evolve(cluster, config={**config, **cluster.config}), clients=clients)
        compacted = [name for topic in topics if "cleanup.policy" in topic.config for name in topic.partition_names]
        draft.notes.append(f"compacted: {', '.join(compacted) or 'what coordinators write'}")
        if compacted and draws.sub("spoilt").chance(SPOILT):
            self._spoil(draft, draws.sub("spoilt"), draws.choice(compacted))

    @staticmethod
    def _topic(topic: TopicSpec, draws: Draws) -> TopicSpec:
        internal = topic.name in INTERNAL
        if not internal and not draws.chance(ON_TOPICS):
            return topic
        policy = "compact" if internal else draws.weighted(((3, "compact"), (1, "compact,delete")))
        own: dict[str, Any] = {"cleanup.policy": policy, "segment.bytes": draws.weighted(SEGMENTS)}
        if not internal:
            own |= drawn(draws.sub("settings"), SETTINGS)
        elif draws.sub("ratio").chance(0.7):
            own |= {"min.cleanable.dirty.ratio": 0.01, "delete.retention.ms": draws.choice((500, 60_000))}
        kept = {name: value for name, value in topic.config.items() if name not in ("segment.bytes",)}
        return evolve(topic, config={**own, **kept})

    @staticmethod
    def _spoil(draft: Draft, draws: Draws, partition: str) -> None:
        broker = Target(brokers=(draws.choice(draft.replicas(partition)),))
        series = [Strike(DiskCorrupt(partition=partition, batch=draws.choice(("first", "last"))), broker)]
        if draws.chance(0.6):
            restart = strikes.short_crash(draft.scope(), draws, broker)
            series.append(restart._replace(gap_us=draws.spread((100 * MS, 8 * SECOND))))
        draft.add(At(draft.moment(draws)), series)
