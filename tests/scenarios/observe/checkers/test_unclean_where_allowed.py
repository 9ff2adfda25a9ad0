"""S4: a leader from outside the ISR, only where the settings allow it."""

import pytest

from emulator.metrics.metric_events import TimerUpdated
from emulator.protocol import events as e
from emulator.protocol.elect_leaders import ElectionsRequested, ElectionType, ElectLeadersRequest
from emulator.protocol.znodes import CONFIG_BROKERS, CONFIG_TOPICS, encode_config
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.unclean_where_allowed import LOOKED, SETTING, UncleanWhereAllowed
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.written_history import WrittenHistory

NAME = UncleanWhereAllowed.name
TOPIC, ALL = f"{CONFIG_TOPICS}/orders", f"{CONFIG_BROKERS}/<default>"


def configured(run: WrittenHistory, path: str, value: str) -> None:
    run.emit(ZkWritten, -5, "setData", path, 0, 0, encode_config({SETTING: value}))


def test_a_leader_from_outside() -> None:
    run = WrittenHistory(NAME)
    run.state(0, (0,), 0)
    written = run.state(1, (1,), 1)
    [violation] = run.violations()
    assert violation.seq == written.seq
    assert violation.state == f"orders-0: broker 1 leads from epoch 1 on; the ISR was [0], and {SETTING} is false"


def test_clean_elections_and_isr_changes() -> None:
    run = WrittenHistory(NAME)
    run.state(2, (2, 0), 0)
    run.state(0, (0,), 1)
    run.state(-1, (0,), 2)
    run.state(0, (0,), 3)
    run.state(0, (0, 1), 3)
    run.state(1, (0, 1), 4)
    run.deleted()
    run.state(3, (3,), 0)
    assert run.violations() == []


@pytest.mark.parametrize(("path", "value"), [(TOPIC, "true"), (ALL, "true")])
def test_settings_that_allow_it(path: str, value: str) -> None:
    run = WrittenHistory(NAME)
    configured(run, path, value)
    run.state(0, (0,), 0)
    run.state(1, (1,), 1)
    assert run.violations() == []


def test_the_settings_of_the_start() -> None:
    run = WrittenHistory(NAME, start=StartSettings({SETTING: True}))
    run.state(0, (0,), 0)
    run.state(1, (1,), 1)
    assert run.violations() == []


def test_the_topics_own_value_comes_first() -> None:
    run = WrittenHistory(NAME)
    configured(run, ALL, "true")
    configured(run, TOPIC, "false")
    run.world.now += 60_000_000
    run.state(0, (0,), 0)
    run.state(1, (1,), 1)
    assert run.invariants() == [NAME]


@pytest.mark.parametrize(("later_s", "found"), [(59, 0), (61, 1)])
def test_both_values_count_for_a_minute(later_s: int, found: int) -> None:
    run = WrittenHistory(NAME)
    configured(run, TOPIC, "true")
    run.state(0, (0,), 0)
    configured(run, TOPIC, "false")
    run.world.now += later_s * 1_000_000
    run.state(1, (1,), 1)
    assert len(run.violations()) == found


def test_what_the_controller_says_does_not_count() -> None:
    run = WrittenHistory(NAME)
    run.state(0, (0,), 0)
    run.state(1, (1,), 1)
    run.emit(e.LeaderElected, "orders", 0, 1, 1, (1,), "offline", 1, False)
    assert run.invariants() == [NAME]


def test_an_election_that_was_asked_for() -> None:
    run = WrittenHistory(NAME)
    run.emit(e.Fault, "election.unclean", "", "")
    run.state(0, (0,), 0)
    run.state(1, (1,), 1)
    assert run.violations() == []


@pytest.mark.parametrize(("path", "value"), [("", ""), (TOPIC, "false"), (TOPIC, "true"), (ALL, "true")])
def test_a_controller_looks_for_unclean_leaders_once_a_setting_allows_them(path: str, value: str) -> None:
    run = WrittenHistory(NAME)
    if path:
        configured(run, path, value)
    for metric in LOOKED:
        run.emit(TimerUpdated, 3, metric, 1_000)
    expected = f"controller 3 elects leaders as if {SETTING} were true now, and it never was"
    assert [violation.state for violation in run.violations()] == ([] if value == "true" else [expected] * 2)


def test_a_controller_looks_for_unclean_leaders_again_where_brokers_are_started_so() -> None:
    run = WrittenHistory(NAME, start=StartSettings({SETTING: True}))
    configured(run, ALL, "false")
    run.emit(ZkWritten, -5, "setData", ALL, 1, 0, encode_config({}))
    run.emit(TimerUpdated, 3, LOOKED[0], 1_000)
    assert run.violations() == []


@pytest.mark.parametrize(("type", "violations"), [(ElectionType.UNCLEAN, 0), (ElectionType.PREFERRED, 1)])
def test_a_client_has_asked_for_elections(type: ElectionType, violations: int) -> None:
    run = WrittenHistory(NAME)
    run.state(0, (0,), 0)
    run.trace.show(ElectionsRequested, 2, ElectLeadersRequest(type, None))
    run.state(1, (1,), 1)
    assert len(run.violations()) == violations
