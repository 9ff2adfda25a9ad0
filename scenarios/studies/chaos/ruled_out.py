"""Conclusions from a campaign without a failure."""

from __future__ import annotations

from collections.abc import Iterator

from scenarios.chaos.draw import swarm_digest
from scenarios.museum.densities import densities, measured_swarm

CERTAINTY = 0.95


def share(seeds: int) -> float:
    """The largest share of failing scenarios that is compatible, at 95 %, with no failure in so many seeds: for many
    seeds 3 divided by their number."""
    return float(1 - (1 - CERTAINTY) ** (1 / seeds))


def measured(seeds: int) -> tuple[int, int]:
    """The number of bugs that so many seeds show, each with a probability of 95 %, among those whose density in the
    default swarm was measured; and the number of these."""
    found = [1 - (1 - one.per_1000 / 1000) ** seeds >= CERTAINTY for one in densities().values()]
    return sum(found), len(found)


def ruled_out(seeds: int, *, default_swarm: bool) -> Iterator[str]:
    """The conclusions in words. ``default_swarm``: whether it is the one that bugs were measured with."""
    largest = share(seeds)
    yield (
        f"with {CERTAINTY:.0%} certainty: what breaks a checker in more than {largest:.2g} of such scenarios "
        f"(1 in {1 / largest:,.0f}) would have been seen"
    )
    if default_swarm:
        found, of = measured(seeds)
        swarm = "the default swarm" if measured_swarm() == swarm_digest() else "an earlier default swarm"
        yield f"so many seeds show {found} of the {of} bugs of Kafka that {swarm} was measured with"
