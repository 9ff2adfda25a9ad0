"""Admin clients, which change topics by requests to the controller."""

from __future__ import annotations

from typing import ClassVar

from attrs import field, frozen

from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Draft
from scenarios.chaos.kind import DrawnChaos
from scenarios.cluster.clients.behaviours.administrator import Administrator
from scenarios.language.chaos import SHARE, chaos
from scenarios.language.schema.table_reader import key
from scenarios.profiles import PROFILES
from scenarios.profiles.profile import is_before

SINCE = "1.0"
"""The first release with all requests of such a client (KIP-195)."""


@chaos("administrators", "admin clients create topics, add partitions and delete topics by requests to the controller")
@frozen(kw_only=True)
class Administrators(DrawnChaos):
    turn: ClassVar[int] = 1

    share: float = field(default=0.5, metadata=key(SHARE, "the share of seeds that have it"))

    def draw(self, draft: Draft, draws: Draws) -> None:
        scenario = draft.scenario
        profile = PROFILES[scenario.profile]
        if is_before(profile.release, SINCE) or not profile.policies.deletes_topics:
            return
        made = [self._client(draft, draws.sub(number), number) for number in range(draws.weighted(((3, 1), (1, 2))))]
        draft.change(clients=(*scenario.clients, *made))

    @staticmethod
    def _client(draft: Draft, draws: Draws, number: int) -> Administrator:
        """A client with topics of its own; in some seeds a second one has the same."""
        whose = draws.sub("topics").weighted(((2, number), (1, 0)))
        return Administrator(
            topics=tuple(f"admin-{whose}-{place}" for place in range(draws.between((1, 3)))),
            pause_us=draws.weighted(((1, 200 * MS), (2, SECOND), (1, 4 * SECOND))), stop_us=draft.faults[1],
        )  # fmt: skip
