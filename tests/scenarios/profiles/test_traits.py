"""Whatever a profile changes is told: in the traits, and on the page that is rendered from them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from attrs import evolve

from scenarios.language import PROFILES
from scenarios.pages import into_page
from scenarios.profiles.bundle import Bundle
from scenarios.profiles.reference import main, sections
from scenarios.profiles.releases import BUNDLES
from scenarios.profiles.traits import TRAITS, differing
from tests.docs.pages import text_of

PAGE = "profiles.md"


def untold(bundles: Iterable[Bundle]) -> list[str]:
    return [policy for policy in differing(bundles) if not any(trait.covers(policy) for trait in TRAITS)]


def test_every_policy_that_profiles_change_has_a_trait_and_no_other() -> None:
    """A policy is missing? Say in ``scenarios.profiles.traits`` what it does, and render the page anew."""
    assert untold(BUNDLES.values()) == []
    policies = [policy for trait in TRAITS for policy in trait.policies]
    assert sorted(set(policies)) == sorted(policies)
    for policy in policies:
        assert any(f"{found}.".startswith(f"{policy}.") for found in differing(BUNDLES.values())), policy


def test_a_policy_that_nobody_tells_of_is_noticed() -> None:
    default = BUNDLES["kafka-2.3"]
    odd = evolve(default, fetchers=evolve(default.fetchers, replica_fetch_min_bytes=2))
    assert untold([*BUNDLES.values(), odd]) == ["fetchers.replica_fetch_min_bytes"]


def test_every_trait_says_two_things() -> None:
    for trait in TRAITS:
        assert len({trait.of(bundle) for bundle in BUNDLES.values()}) > 1, trait.title


def test_titles_are_unique() -> None:
    assert len({trait.title for trait in TRAITS}) == len(TRAITS)


def test_the_page_holds_every_profile_as_it_is() -> None:
    page = text_of(PAGE)
    assert into_page(page, sections()) == page, "run: python -m scenarios.profiles.reference docs/profiles.md"
    assert re.findall(r"<!-- reference: (\S+) -->", page) == list(PROFILES)
    assert re.findall(r"^## `(.+)`$", page, re.MULTILINE) == list(PROFILES)


def test_a_page_that_has_fallen_behind_is_noticed_and_can_be_mended(tmp_path: Path) -> None:
    page = text_of(PAGE)
    old = tmp_path / PAGE
    old.write_text(page.replace("leaves dead replicas in their ISRs", "does nothing"))
    assert old.read_text() != page
    main([str(old)])
    assert old.read_text() == page


def test_what_is_left_out_is_on_the_page() -> None:
    found = sections()
    for name, profile in PROFILES.items():
        assert all(f"- {line}" in found[name] for line in profile.leaves_out)
