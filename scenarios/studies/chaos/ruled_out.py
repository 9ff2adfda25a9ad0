"""What a campaign without a failure rules out."""

from __future__ import annotations

from collections.abc import Iterator

from scenarios.museum.densities import densities

CERTAINTY = 0.95


def share(seeds: int) -> float:
    """The largest share of scenarios in which a bug may show, and none of so many seeds has shown it but with 5 %: with
    many seeds 3 divided by their number."""
    return float(1 - (1 - CERTAINTY) ** (1 / seeds))


def measured(seeds: int) -> tuple[int, int]:
    """Of the bugs whose density in the default swarm was measured, how many so many seeds show, each with 95 %; and how
    many there are."""
    found = [1 - (1 - one.per_1000 / 1000) ** seeds >= CERTAINTY for one in densities().values()]
    return sum(found), len(found)


def ruled_out(seeds: int, *, default_swarm: bool) -> Iterator[str]:
    """In words. ``default_swarm``: it is the one that bugs were measured with."""
    largest = share(seeds)
    yield (
        f"with {CERTAINTY:.0%} certainty: what breaks a checker in more than {largest:.2g} of such scenarios "
        f"(1 in {1 / largest:,.0f}) would have been seen"
    )
    if default_swarm:
        found, of = measured(seeds)
        yield f"so many seeds show {found} of the {of} bugs of Kafka that the default swarm was measured with"
