"""Replicas that are copied to another log directory while something else happens to them.

A copy takes part in most of what concerns its replica: roles, moves, deletions, retention, markers of transactions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import evolve, field, frozen

from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Draft, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.chaos.kinds.histories import deletes_topics, new_topic
from scenarios.chaos.kinds.operator_work import copies_replicas, load_on_passing
from scenarios.cluster.clients.behaviours.transactional import Transactional
from scenarios.faults.actions.config_actions import ConfigSet
from scenarios.faults.actions.disks import DiskHeal, LogDirOffline
from scenarios.faults.actions.elections import ElectionPreferred
from scenarios.faults.actions.reassignments import ReassignExecute
from scenarios.faults.actions.records_deleted import RecordsDelete
from scenarios.faults.actions.topic_actions import TopicCreate, TopicDelete
from scenarios.language.chaos import COUNT, chaos
from scenarios.language.plan import Move, Plan
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import Target
from scenarios.language.topic_spec import split_partition
from scenarios.language.triggers import At

OF_TRANSACTIONS, INTERNAL, OF_ITS_OWN = 0.5, 0.3, 0.3
"""The shares of copies of what transactions are written to, of a coordinators' topic, and of a topic that the kind
makes."""
THROTTLES = ((2, 1_000), (2, 20_000), (1, None))
"""The speed of copies in bytes a second: most last long enough for something to happen."""

Happens = Callable[[Scope, Draws, str, Sequence[int]], list[Strike]]


def _copy(scope: Scope, draws: Draws, partition: str, replicas: Sequence[int]) -> list[Strike]:
    """A copy of all replicas of the partition, each to a directory that is drawn."""
    directories = scope.draft.scenario.cluster.log_dir_names
    topic, number = split_partition(partition)
    log_dirs = tuple(draws.choice(directories) for _ in replicas)
    plan = Plan(partitions=[Move(topic=topic, partition=number, replicas=tuple(replicas), log_dirs=log_dirs)])
    return [Strike(ReassignExecute(plan=plan, log_dirs_throttle=draws.weighted(THROTTLES)))]


def _role_changes(scope: Scope, draws: Draws, partition: str, _replicas: Sequence[int]) -> list[Strike]:
    target = Target(role=draws.choice((f"leader({partition})", f"leader({partition})", f"any isr({partition})-leader")))
    ways = ((3, strikes.expire), (3, strikes.shut_down), (2, strikes.short_crash), (1, strikes.pause))
    away = draws.weighted(ways)(scope, draws, target)
    lasts_us = away.duration_us and draws.spread(strikes.SHORT)
    back = Strike(ElectionPreferred(partitions=(partition,)), gap_us=draws.spread((500 * MS, 6 * SECOND)))
    return [away._replace(duration_us=lasts_us), back]


def _moves(scope: Scope, draws: Draws, partition: str, replicas: Sequence[int]) -> list[Strike]:
    """A move that takes the copied replica away, or has another one beside it."""
    topic, number = split_partition(partition)
    there = tuple(draws.some(scope.brokers, len(replicas)))
    if topic in {spec.name for spec in scope.draft.scenario.topics}:
        scope.draft.moved(partition, there)
    return [Strike(ReassignExecute(plan=Plan(partitions=[Move(topic=topic, partition=number, replicas=there)])))]


def _deletes_records(scope: Scope, draws: Draws, partition: str, _replicas: Sequence[int]) -> list[Strike]:
    return [Strike(RecordsDelete(partitions=(partition,), timeout_us=draws.spread((100 * MS, 8 * SECOND))))]


def _sets(_scope: Scope, draws: Draws, partition: str, _replicas: Sequence[int]) -> list[Strike]:
    short = draws.choice(({"retention.ms": 2_000}, {"retention.bytes": 4_000}, {"segment.bytes": 4 << 10}))
    return [Strike(ConfigSet(config={**short}, topic=split_partition(partition)[0]))]


def _loses_directory(scope: Scope, draws: Draws, _partition: str, replicas: Sequence[int]) -> list[Strike]:
    """The directory of the copy, or of the replica, is lost, and its disk works again."""
    broker = Target(brokers=(draws.choice(replicas),))
    lost = LogDirOffline(log_dir=draws.choice(scope.draft.scenario.cluster.log_dir_names))
    return [Strike(lost, broker), Strike(DiskHeal(), broker, gap_us=draws.spread((100 * MS, 4 * SECOND)))]


HAPPENS: Sequence[tuple[int, Happens]] = (
    (5, _role_changes), (2, _moves), (2, _deletes_records), (2, _sets), (2, _copy), (1, _loses_directory)
)  # fmt: skip


@chaos(
    "copies-meet",
    "a replica is copied to another log directory, and meanwhile its role changes, it is moved or deleted (KIP-113)",
)
@frozen(kw_only=True)
class CopiesMeet(Episodes):
    times: Range = field(default=(1, 2), metadata=key(COUNT, "how often in a run"))
    meets: Range = field(default=(1, 3), metadata=key(COUNT, "how much happens to a copy"))

    def draw(self, draft: Draft, draws: Draws) -> None:
        """Draw copies, where the release has them."""
        if not copies_replicas(draft) or draft.heals_core:
            return
        cluster = draft.scenario.cluster
        draft.change(cluster=evolve(cluster, log_dirs=max(2, cluster.log_dirs)))
        super().draw(draft, draws)

    def episode(self, scope: Scope, draws: Draws) -> None:
        at_us, series = scope.draft.moment(draws), list[Strike]()
        own = draws.sub("made").chance(OF_ITS_OWN)
        if own:
            topic = new_topic(scope, draws.sub("topic"))
            load_on_passing(scope.draft, draws.sub("load"), topic, at_us)
            series.append(Strike(TopicCreate(topic=topic)))
            assert topic.assignment is not None
            partition, replicas = topic.partition_names[0], tuple(topic.assignment[0])
        else:
            partition = self._partition(scope, draws.sub("which"))
            replicas = scope.draft.replicas(partition)
        copied = _copy(scope, draws.sub("copy"), partition, replicas)
        series += [one._replace(gap_us=draws.spread((500 * MS, 6 * SECOND))) for one in copied]
        for number in range(draws.between(self.meets)):
            part = draws.sub(number)
            first, *rest = part.weighted(HAPPENS)(scope, part, partition, replicas)
            series += [first._replace(gap_us=part.spread((MS, 3 * SECOND))), *rest]
        if own and deletes_topics(scope) and draws.chance(0.7):
            gone = TopicDelete(topic=split_partition(partition)[0])
            series.append(Strike(gone, gap_us=draws.spread((MS, 3 * SECOND))))
        scope.draft.add(At(at_us), series)

    @staticmethod
    def _partition(scope: Scope, draws: Draws) -> str:
        """A partition that is there from the start: often one that transactions or a coordinator write to."""
        known = scope.draft.scenario.assignments()
        written = [
            name
            for client in scope.draft.scenario.clients
            if isinstance(client, Transactional)
            for name in client.partitions
            if name in known
        ]
        if scope.draft.internal and draws.chance(INTERNAL):
            return draws.choice(scope.draft.internal)
        return draws.choice(written) if written and draws.chance(OF_TRANSACTIONS) else scope.partition(draws)
