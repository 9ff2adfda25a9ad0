"""The replicas that are being added, and between which brokers they are copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt
from attrs import define, field

from scenarios.forecasting.capacities import KINDS, Capacities
from scenarios.forecasting.shares import Floats, Numbers

M = TypeVar("M")


@define(eq=False)
class Copying(Generic[M]):
    """Copies as columns.

    Attributes:
        moves: whose replica each is.
        leaders, followers: from which broker to which.
        counted: for each (a row), whether its leader's quota counts it, and whether its follower's does.
        gaps: the bytes that each lacks.
        new: bytes per second that are written to its partition.
        places: the place of each copy's pair of brokers in ``pairs``.
        pairs: the pairs of brokers between which anything is copied, a row each; those that quotas count otherwise
            are pairs of their own.
        pairs_counted: as ``counted``, for each pair.
        counts: how many copies each of them has.
    """

    capacities: Capacities
    moves: list[M] = field(factory=list)
    leaders: Numbers = field(factory=lambda: np.zeros(0, dtype=np.intp))
    followers: Numbers = field(factory=lambda: np.zeros(0, dtype=np.intp))
    counted: npt.NDArray[np.bool_] = field(factory=lambda: np.ones((0, 2), dtype=bool))
    gaps: Floats = field(factory=lambda: np.zeros(0))
    new: Floats = field(factory=lambda: np.zeros(0))
    places: Numbers = field(factory=lambda: np.zeros(0, dtype=np.intp))
    pairs: Numbers = field(factory=lambda: np.zeros((0, 2), dtype=np.intp))
    pairs_counted: npt.NDArray[np.bool_] = field(factory=lambda: np.ones((0, 2), dtype=bool))
    counts: Numbers = field(factory=lambda: np.zeros(0, dtype=np.intp))
    weights: Floats = field(factory=lambda: np.zeros(0))
    """The bytes that the fetchers of each pair ask for at a time."""
    fetched: Floats = field(factory=lambda: np.zeros(0))
    """The most bytes per second that they get."""

    def __len__(self) -> int:
        return len(self.moves)

    def add(self, moves: Sequence[M], leaders: Sequence[int], followers: Sequence[int], gaps: Sequence[float]) -> None:
        """Begin copies. ``arrange`` has to follow."""
        self.moves += moves
        self.leaders = np.append(self.leaders, np.array(leaders, dtype=np.intp))
        self.followers = np.append(self.followers, np.array(followers, dtype=np.intp))
        self.counted = np.append(self.counted, np.ones((len(moves), 2), dtype=bool), axis=0)
        self.gaps = np.append(self.gaps, gaps)

    def end(self) -> list[tuple[M, int]]:
        """Take away those that lack nothing: the moves, each with its follower. ``arrange`` has to follow."""
        done = self.gaps <= 1.0
        if not done.any():
            return []
        ended = [(self.moves[place], int(self.followers[place])) for place in np.flatnonzero(done)]
        self._keep(~done)
        return ended

    def has(self, move: M, follower: int) -> bool:
        """Whether the replica of a move on ``follower`` is being copied."""
        return any(other is move and self.followers[place] == follower for place, other in enumerate(self.moves))

    def drop(self, move: M) -> None:
        """Take away all copies of a move. ``arrange`` has to follow."""
        self._keep(np.array([other is not move for other in self.moves], dtype=bool))

    def lead(self, move: M, leader: int) -> None:
        """Let the copies of a move come from ``leader``. ``arrange`` has to follow."""
        for place, other in enumerate(self.moves):
            if other is move:
                self.leaders[place] = leader

    def count(self, move: M, leader: bool, followers: Sequence[int]) -> None:
        """Have quotas count the copies of a move: that of its leader, or not, and those of ``followers``. ``arrange``
        has to follow."""
        for place, other in enumerate(self.moves):
            if other is move:
                self.counted[place] = leader, self.followers[place] in followers

    def _keep(self, kept: npt.NDArray[np.bool_]) -> None:
        self.moves = [self.moves[place] for place in np.flatnonzero(kept)]
        self.leaders, self.followers, self.gaps = self.leaders[kept], self.followers[kept], self.gaps[kept]
        self.counted = self.counted[kept]

    def arrange(self, new: Floats) -> None:
        """Find the pairs again. ``new``: see there."""
        self.new = new
        brokers = len(self.capacities.egress)
        alike = (self.leaders * brokers + self.followers) * 4 + self.counted @ np.array([2, 1])
        codes, self.places, self.counts = np.unique(alike, return_inverse=True, return_counts=True)
        self.pairs = np.stack((codes // 4 // brokers, codes // 4 % brokers), axis=1)
        self.pairs_counted = np.stack((codes % 4 >= 2, codes % 2 == 1), axis=1)
        counts = [int(count) for count in self.counts]
        self.weights = np.array([float(self.capacities.asked_by(count)) for count in counts])
        self.fetched = np.array(
            [
                self.capacities.fetched(int(leader), int(follower), count)
                for (leader, follower), count in zip(self.pairs, counts, strict=True)
            ]
        )

    @property
    def uses(self) -> Numbers:
        """The limits that each pair goes through, by their numbers: those of a kind follow each other, by broker. The
        first of two kinds are the leader's, the second the follower's. In the place of a quota that does not count it
        stands the number after the last."""
        brokers = len(self.capacities.egress)
        found: Numbers = self.pairs[:, np.arange(len(KINDS)) % 2] + np.arange(len(KINDS)) * brokers
        found[:, :2][~self.pairs_counted] = len(KINDS) * brokers
        return found

    def through(self, kind: int, amounts: Floats) -> Floats:
        """Amounts of each copy, added up by the broker whose limit of a kind the copy goes through."""
        ids = self.leaders if kind % 2 == 0 else self.followers
        if kind < 2:
            amounts = amounts * self.counted[:, kind]
        found: Floats = np.bincount(ids, amounts, len(self.capacities.egress)).astype(np.float64)
        return found
