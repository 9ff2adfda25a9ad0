"""docs/profiles.md: what each profile does and leaves out, rendered from the registry.

``python -m scenarios.profiles.reference docs/profiles.md`` writes the tables into the page; a test holds it to them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from scenarios.language.profile_names import DEFAULT_PROFILE, PROFILES, Profile
from scenarios.language.schema import kinds
from scenarios.pages import into_page, table
from scenarios.profiles.releases import BUNDLES
from scenarios.profiles.traits import TRAITS


def sections() -> dict[str, str]:
    """One for each profile: its line, its table, what it leaves out."""
    return {name: _section(profile) for name, profile in PROFILES.items()}


def _section(profile: Profile) -> str:
    rows = list(_rows(profile))
    left = [f"- {line}" for line in profile.leaves_out]
    out = "It leaves out:\n\n" + "\n".join(left) if left else "It leaves out nothing but what [all do](limits.md)."
    return f"{profile.help}.\n\n{table(['', 'Here', 'Source'], rows)}\n\n{out}"


def _rows(profile: Profile) -> Iterator[Sequence[str]]:
    default = BUNDLES[DEFAULT_PROFILE]
    own = profile.strategy
    yield "moves, unless a strategy is named", _marked(f"`{own}`", own != PROFILES[DEFAULT_PROFILE].strategy), "-"
    for trait in TRAITS:
        here = trait.of(BUNDLES[profile.name])
        yield trait.title, _marked(here, here != trait.of(default)), trait.source
    by_api = profile.election_tool == "api"
    tool = "the API (ElectLeaders)" if by_api else "a znode"
    yield "the tool asks for preferred leaders by", _marked(tool, by_api), "KIP-460, 2.4"
    yield "topics", _marked(*_deletion(profile)), "KAFKA-330, 0.8.1"
    for setting, value in profile.defaults.items():
        yield f"`{setting}` by default", _marked(f"`{str(value).lower()}`", True), "-"
    timeout = profile.session_timeout_us
    differs = timeout != PROFILES[DEFAULT_PROFILE].session_timeout_us
    yield "ZooKeeper session timeout by default", _marked(str(kinds.DURATION.dump(timeout)), differs), "-"


def _deletion(profile: Profile) -> tuple[str, bool]:
    return ("can be deleted", False) if profile.deletes_topics else ("cannot be deleted", True)


def _marked(text: str, differs: bool) -> str:
    return f"**{text}**" if differs else text


def main(arguments: Sequence[str]) -> None:
    """Write the sections into the page named."""
    page = Path(arguments[0])
    page.write_text(into_page(page.read_text(encoding="utf-8"), sections()), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
