"""Every profile has its policies, its own strategy and its release's defaults, and a cluster runs under it."""

from __future__ import annotations

import pytest

from scenarios.cluster.from_scenario import cluster_setup
from scenarios.language import Scenario
from scenarios.language.kafka_settings import BROKER_SETTINGS
from scenarios.language.strategies import SHAPES
from scenarios.profiles import DEFAULT_PROFILE, PROFILES, register
from tests.scenarios.language.builders import SMALL, small_with
from tests.scenarios.runs.building import EXECUTE, play, scenario

UNNAMED = small_with('[strategy]\nname = "wiki"\n', "")
RELEASES = [name for name in PROFILES if name.startswith("kafka-")]


def test_every_profile_has_its_own_name_and_the_default_is_one_of_them() -> None:
    assert all(profile.name == name for name, profile in PROFILES.items())
    assert DEFAULT_PROFILE in PROFILES


def test_a_name_can_be_taken_only_once() -> None:
    with pytest.raises(ValueError, match=r"there is a profile 'kafka-2\.3' already"):
        register(PROFILES["kafka-2.3"])


def test_the_profiles_are_those_that_readings_lists() -> None:
    documents = {"wiki-text", "kip-461", "kip-352-draft"}
    releases = {
        f"kafka-{release}"
        for release in ("0.8", "1.1", "2.3", "2.4", "2.5", "2.6", "2.7", "2.8", "3.0", "3.3", "3.6", "3.9")
    }
    assert set(PROFILES) == documents | releases


@pytest.mark.parametrize("name", PROFILES)
def test_defaults_are_settings_that_differ(name: str) -> None:
    """A default that equals the general one is useless, and one of an unknown setting has no effect."""
    for setting, value in PROFILES[name].defaults.items():
        assert value != BROKER_SETTINGS[setting].default
        assert BROKER_SETTINGS[setting].kind.read(value) == value


def test_each_release_moves_partitions_its_own_way() -> None:
    own = {name: PROFILES[name].strategy for name in RELEASES}
    kip_455 = dict.fromkeys(
        (
            "kafka-2.4",
            "kafka-2.5",
            "kafka-2.6",
            "kafka-2.7",
            "kafka-2.8",
            "kafka-3.0",
            "kafka-3.3",
            "kafka-3.6",
            "kafka-3.9",
        ),
        "kip-455",
    )
    assert own == {"kafka-0.8": "kafka-42", "kafka-1.1": "wiki", "kafka-2.3": "wiki"} | kip_455
    assert set(own.values()) <= set(SHAPES)


def test_a_scenario_that_names_no_strategy_gets_its_profiles_own() -> None:
    found = Scenario.loads(UNNAMED)
    assert (found.strategy.stated, found.strategy.name) == (None, "wiki")
    assert 'name = "wiki"' not in found.to_toml()
    assert found.for_run(strategy="kafka-6794", profile="kafka-2.4").strategy.name == "kafka-6794"
    named = Scenario.loads(SMALL).for_run(profile="kafka-2.4")
    assert named.strategy.name == "wiki"


def test_settings_are_those_of_the_release_unless_stated() -> None:
    old, new = Scenario.loads(SMALL), Scenario.loads(SMALL).for_run(profile="kafka-2.5")
    lag = "replica.lag.time.max.ms"
    assert (old.settings()[lag], new.settings()[lag]) == (10_000, 30_000)
    assert (old.session_timeout_us, new.session_timeout_us) == (6_000_000, 18_000_000)
    stated = new.with_overrides({f"cluster.config.{lag}": 7_000, "cluster.zk.session_timeout": "5s"})
    assert (stated.settings()[lag], stated.session_timeout_us) == (7_000, 5_000_000)
    assert cluster_setup(stated).broker.policies.config.replica_lag_time_max_us == 7_000_000
    assert cluster_setup(new).zk.session_timeout_us == 18_000_000


def test_only_the_oldest_release_elects_leaders_out_of_sync_by_default() -> None:
    setting = "unclean.leader.election.enable"
    unclean = [name for name in PROFILES if Scenario.loads(SMALL).for_run(profile=name).settings()[setting]]
    assert unclean == ["kafka-0.8"]


@pytest.mark.parametrize("strategy", ["wiki", "kafka-6794", "kip-455"])
@pytest.mark.parametrize("name", PROFILES)
def test_a_move_ends_where_it_should_under_every_profile(name: str, strategy: str) -> None:
    played = play(scenario(plan={0: [3, 4, 5]}, method=[EXECUTE], profile=name, strategy=strategy, size="1MiB"))
    broken = {violation.invariant for violation in played.run.violations}
    # Until 0.11 an in-sync follower truncates to its high watermark and fetches the rest again (KAFKA-1211).
    assert broken <= ({"truncate_safety", "isr_complete"} if name == "kafka-0.8" else set()), played.run.explanation
    assert played.assignment() == (3, 4, 5)
    assert sorted(played.state().isr) == [3, 4, 5]
