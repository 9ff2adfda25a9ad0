"""Every change of a profile is declared in its differences, and is on the page that is rendered from them."""

from __future__ import annotations

import re
from operator import attrgetter
from pathlib import Path

import pytest

from scenarios.pages import into_page, write_into
from scenarios.profiles import PROFILES, Difference
from scenarios.profiles.profiles_reference import sections, titles, words
from tests.docs.pages import text_of

PAGE = "profiles.md"
WITH_NEIGHBOUR = [profile for profile in PROFILES.values() if profile.neighbour is not None]


def test_a_profile_differs_from_its_neighbour_in_what_its_differences_say_and_in_metrics() -> None:
    for profile in WITH_NEIGHBOUR:
        assert profile.neighbour is not None
        policies = profile.neighbour.policies.changed({"brokers.lacks_metrics": profile.policies.brokers.lacks_metrics})
        for difference in profile.differences:
            policies = policies.changed(difference.policies)
        assert policies == profile.policies


def test_every_policy_of_a_difference_is_changed_by_it() -> None:
    for profile in WITH_NEIGHBOUR:
        assert profile.neighbour is not None
        for difference in profile.differences:
            assert difference.policies, difference.title
            for place in difference.policies:
                before, here = map(attrgetter(place), (profile.neighbour.policies, profile.policies))
                assert before != here, f"{profile.name}: {place}"


def test_no_policy_is_in_differences_of_two_titles() -> None:
    found = {(place, one.title) for profile in WITH_NEIGHBOUR for one in profile.differences for place in one.policies}
    places = [place for place, _ in found]
    assert sorted(set(places)) == sorted(places)


def test_every_difference_says_something_else_than_the_neighbour() -> None:
    for profile in WITH_NEIGHBOUR:
        assert profile.neighbour is not None
        for difference in profile.differences:
            assert words(profile, difference.title) != words(profile.neighbour, difference.title)


def test_what_the_default_does_is_said_once_for_each_title() -> None:
    differences = [difference for profile in PROFILES.values() for difference in profile.differences]
    for title in titles():
        assert len([one for one in differences if one.title == title and one.before]) == 1, title


def test_a_difference_that_does_not_say_what_the_default_does_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    dumb = Difference(title="the weather", here="is fine", source="-", policies={"brokers.counts_acks": True})
    profile = PROFILES["kafka-2.7"].with_differences(dumb, name="kafka-9.9", help="9.9")
    monkeypatch.setitem(PROFILES, "kafka-9.9", profile)
    assert words(profile, "the weather") == "is fine"
    with pytest.raises(LookupError, match=r"say what kafka-2\.3 does about 'the weather'"):
        sections()


def test_a_place_that_is_not_in_the_bundle_is_refused() -> None:
    for place in ("brokers.of_another_time", "weather.counts_acks"):
        with pytest.raises((TypeError, AttributeError)):
            PROFILES["kafka-2.3"].policies.changed({place: True})


def test_the_page_holds_every_profile_as_it_is() -> None:
    page = text_of(PAGE)
    assert into_page(page, sections()) == page, (
        "run: python -m scenarios.profiles.profiles_reference docs/reference/profiles.md"
    )
    assert re.findall(r"<!-- reference: (\S+) -->", page) == list(PROFILES)
    assert re.findall(r"^## `(.+)`$", page, re.MULTILINE) == list(PROFILES)


def test_an_outdated_page_is_noticed_and_can_be_updated(tmp_path: Path) -> None:
    page = text_of(PAGE)
    old = tmp_path / PAGE
    old.write_text(page.replace("leaves dead replicas in their ISRs", "does nothing"))
    assert old.read_text() != page
    write_into(str(old), sections())
    assert old.read_text() == page


def test_what_is_left_out_is_on_the_page() -> None:
    found = sections()
    for name, profile in PROFILES.items():
        assert all(f"- {line}" in found[name] for line in profile.leaves_out)
