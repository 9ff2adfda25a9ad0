"""docs/reference/profiles.md: what each profile does and leaves out, rendered from the registry.

``python -m scenarios.profiles.profiles_reference docs/reference/profiles.md`` writes the tables into the page; a test
holds it to them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence

from scenarios import units
from scenarios.pages import table, write_into
from scenarios.profiles.profile import Difference, Profile
from scenarios.profiles.profile_registry import DEFAULT_PROFILE, PROFILES


def sections() -> dict[str, str]:
    """One for each profile: what it is, what it does and what it leaves out."""
    return {name: _section(profile) for name, profile in PROFILES.items()}


def titles() -> tuple[str, ...]:
    """All differences between profiles, each once."""
    return tuple(dict.fromkeys(difference.title for difference in _differences()))


def words(profile: Profile, title: str) -> str:
    """The behaviour of ``profile`` under one of the ``titles``.

    Raises: LookupError where no difference says what ``kafka-2.3`` does.
    """
    for link in profile.chain():
        for difference in link.differences:
            if difference.title == title:
                return difference.here
    before = [difference.before for difference in _differences() if difference.title == title and difference.before]
    if len(before) != 1:
        raise LookupError(f"{len(before)} differences say what {DEFAULT_PROFILE} does about {title!r}; one has to")
    return before[0]


def _differences() -> Iterator[Difference]:
    return (difference for profile in PROFILES.values() for difference in profile.differences)


def _section(profile: Profile) -> str:
    left = [f"- {line}" for line in profile.leaves_out]
    nothing = "Nothing is left out beyond what [every profile leaves out](../understand/limits.md)."
    out = "It leaves out:\n\n" + "\n".join(left) if left else nothing
    return f"{profile.help}.\n\n{_behaviour(profile)}\n\n{out}"


def _behaviour(profile: Profile) -> str:
    """The table of all that the default profile does; of another one what differs from its neighbour."""
    rows = dict(_rows(profile))
    if profile.neighbour is None:
        return _table("", rows)
    of_neighbour = dict(_rows(profile.neighbour))
    own = {difference.title: difference.source for difference in profile.differences}
    differing = {
        title: (here, own.get(title) or source)
        for title, (here, source) in rows.items()
        if of_neighbour.get(title, ("", ""))[0] != here
    }
    return _table(f"What differs from `{profile.neighbour.name}`", differing)


def _table(heading: str, rows: Mapping[str, Sequence[str]]) -> str:
    return table([heading, "Here", "Source"], [(title, *row) for title, row in rows.items()])


def _rows(profile: Profile) -> Iterator[tuple[str, tuple[str, str]]]:
    """Title, and then behaviour and source."""
    yield "the strategy of a move that names none", (f"`{profile.strategy}`", "-")
    for title in titles():
        yield title, (words(profile, title), _source(title))
    yield "the tool asks for preferred leaders by", (_election_tool(profile), "KIP-460, 2.4")
    yield "topics", (_deletion(profile), "KAFKA-330, 0.8.1")
    yield "metrics that do not exist yet", (_lacking(profile), "Kafka's code, 0.8.0 to 2.5.1")
    for setting, value in profile.defaults.items():
        yield f"`{setting}` by default", (f"`{str(value).lower()}`", "-")
    yield "ZooKeeper session timeout by default", (units.format_duration(profile.session_timeout_us), "-")


def _source(title: str) -> str:
    """The sources of all differences of that title."""
    found = (difference.source.split("; ") for difference in _differences() if difference.title == title)
    return "; ".join(dict.fromkeys(source for sources in found for source in sources))


def _election_tool(profile: Profile) -> str:
    return "the API (ElectLeaders)" if profile.election_tool == "api" else "a znode"


def _deletion(profile: Profile) -> str:
    return "can be deleted" if profile.policies.deletes_topics else "cannot be deleted"


def _lacking(profile: Profile) -> str:
    return ", ".join(f"`{name}`" for name in sorted(profile.policies.brokers.lacks_metrics))


if __name__ == "__main__":
    write_into(sys.argv[1], sections())
