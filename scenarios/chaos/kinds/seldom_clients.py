"""Clients with requests that no other client here sends."""

from __future__ import annotations

from attrs import evolve, field, frozen

from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Draft
from scenarios.chaos.kind import DrawnChaos
from scenarios.chaos.kinds.coordinated import GROUP, SINCE, Coordinated
from scenarios.cluster.clients.behaviours.seldom_requests import REQUESTS, SeldomRequests
from scenarios.language.chaos import SHARE, chaos
from scenarios.language.schema.table_reader import key
from scenarios.profiles import PROFILES
from scenarios.profiles.profile import is_before

LATER = {
    "odd-partitions": "1.0", "delete-group": "1.1", "end-of-epoch": "2.1", "change-setting": "2.3",
    "remove-member": "2.4", "delete-offsets": "2.4", "describe-producers": "2.8", "list-transactions": "3.0",
    "describe-log-dirs": "1.1", "list-moves": "2.4", "describe-cluster": "2.8", "describe-transactions": "3.0",
}  # fmt: skip
"""The first releases with requests that the first one with transactions did not have (KIP-113, 229, 320, 339, 345,
455, 496, 664, 700)."""
IDS = ("writer", "writer-0")
"""The transactional ids of the clients that ``transactions`` draws."""
OF_THE_MEMBERS = 0.8
"""The share of clients that ask about the group that others are members of."""


@chaos("seldom-requests", "clients with seldom requests: about groups, settings and places in logs, also ones refused")
@frozen(kw_only=True)
class SeldomClients(DrawnChaos):
    turn = 1

    share: float = field(default=0.5, metadata=key(SHARE, "the share of seeds that have it"))

    def draw(self, draft: Draft, draws: Draws) -> None:
        scenario = draft.scenario
        release = PROFILES[scenario.profile].release
        if is_before(release, SINCE) or not scenario.topics:
            return
        requests = [name for name in REQUESTS if not is_before(release, LATER.get(name, SINCE))]
        names = [name for topic in draft.scope().topics for name in topic.partition_names]
        client = SeldomRequests(
            group=GROUP if draws.chance(OF_THE_MEMBERS) else "alone", partitions=names, ids=IDS,
            requests=draws.some(requests, draws.between((2, len(requests)))),
            pause_us=draws.weighted(((1, 100 * MS), (2, 500 * MS), (1, 2 * SECOND))),
            stop_us=Coordinated.end_us(draft),
        )  # fmt: skip
        cluster = scenario.cluster
        found = {"offsets.topic.num.partitions": 1, "offsets.topic.replication.factor": min(3, cluster.brokers)}
        draft.change(
            clients=(*scenario.clients, client), cluster=evolve(cluster, config={**found, **cluster.config})
        )  # fmt: skip
