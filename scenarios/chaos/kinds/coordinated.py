"""Clients with a coordinator: members of consumer groups, and transactional producers."""

from __future__ import annotations

from typing import Any, ClassVar

from attrs import evolve, field, frozen

from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Draft
from scenarios.chaos.kind import DrawnChaos
from scenarios.cluster.clients.behaviours.group_member import GroupMember
from scenarios.cluster.clients.behaviours.transactional import Transactional
from scenarios.language.chaos import SHARE, chaos
from scenarios.language.clients import Behaviour
from scenarios.language.schema.table_reader import key
from scenarios.profiles import PROFILES
from scenarios.profiles.profile import is_before

SINCE = "0.11"
"""The first release with transactions (KIP-98), whose groups are in brokers as those of later ones."""
GROUP = "readers"
ONE_OR_THREE = ((3, 1), (1, 3))


@frozen(kw_only=True)
class Coordinated(DrawnChaos):
    turn: ClassVar[int] = 1

    share: float = field(default=0.5, metadata=key(SHARE, "the share of seeds that have it"))

    def draw(self, draft: Draft, draws: Draws) -> None:
        """Draw the clients, and internal topics of few partitions: 50 of them, as Kafka has by default, take most of a
        run's time and find nothing more."""
        scenario = draft.scenario
        if is_before(PROFILES[scenario.profile].release, SINCE) or not scenario.topics:
            return
        cluster, topics = scenario.cluster, draws.sub("topics")
        replicas = min(3, cluster.brokers)
        found: dict[str, Any] = {
            "offsets.topic.num.partitions": topics.weighted(ONE_OR_THREE),
            "offsets.topic.replication.factor": replicas,
            "transaction.state.log.num.partitions": topics.weighted(ONE_OR_THREE),
            "transaction.state.log.replication.factor": replicas,
            "transaction.state.log.min.isr": min(2, replicas),
            "group.initial.rebalance.delay.ms": topics.weighted(((2, 0), (1, 3_000))),
        }
        topic = draws.choice(scenario.topics)
        made = self.clients(draft, draws, topic.partition_names)
        draft.change(
            cluster=evolve(cluster, config={**found, **cluster.config}), clients=(*scenario.clients, *made)
        )  # fmt: skip

    def clients(self, draft: Draft, draws: Draws, partitions: tuple[str, ...]) -> list[Behaviour]:
        """The clients, which use these partitions."""
        raise NotImplementedError


@chaos("groups", "a consumer group whose members join, commit offsets and leave, also static members")
@frozen(kw_only=True)
class Groups(Coordinated):
    def clients(self, draft: Draft, draws: Draws, partitions: tuple[str, ...]) -> list[Behaviour]:
        found: list[Behaviour] = []
        for number in range(draws.between((1, 3))):
            own = draws.sub(number)
            stays = own.weighted(((2, 0), (1, own.between((3, 15)))))
            found.append(
                GroupMember(
                    group=GROUP, partitions=partitions, instance=f"static-{number}" if own.chance(0.25) else "",
                    session_us=own.choice((6, 10)) * SECOND, rebalance_us=own.choice((6, 20)) * SECOND,
                    commit_us=own.weighted(((1, 300 * MS), (3, 2 * SECOND))), stays=stays,
                    start_us=own.weighted(((3, 0), (1, own.moment((0, draft.faults[1]))))), stop_us=draft.end_us,
                )
            )  # fmt: skip
        return found


@chaos("transactions", "producers of transactions, two of which may fence each other, with a group's offsets in them")
@frozen(kw_only=True)
class Transactions(Coordinated):
    def clients(self, draft: Draft, draws: Draws, partitions: tuple[str, ...]) -> list[Behaviour]:
        zombies = draws.chance(0.3)
        found: list[Behaviour] = []
        for number in range(2 if zombies else draws.between((1, 2))):
            own = draws.sub(number)
            found.append(
                Transactional(
                    id="writer" if zombies else f"writer-{number}", partitions=partitions,
                    group=GROUP if own.chance(0.5) else "", pause_us=own.weighted(((1, 300 * MS), (3, 2 * SECOND))),
                    timeout_us=own.choice((2, 5, 15)) * SECOND, aborts=own.choice((0, 20, 50)),
                    start_us=own.weighted(((3, 0), (1, own.moment((0, draft.faults[1]))))), stop_us=draft.end_us,
                )
            )  # fmt: skip
        return found
