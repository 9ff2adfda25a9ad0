"""An action from outside the package is read, checked, described and performed like the project's own."""

from collections.abc import Iterator
from importlib import import_module, reload

import pytest

from emulator.protocol.events import Fault, NodeCrashed
from scenarios.errors import BadInput
from scenarios.language import Scenario, all_actions, scenario_json_schema
from scenarios.language.actions import ACTIONS, action
from scenarios.language.scenario_reference import sections
from tests.scenarios.language.builders import small_and
from tests.scenarios.runs.building import play

NAME = "broker.restart"
FILE = small_and(
    "[[method]]", 'at = "3s"', f'action = "{NAME}"', "target = 1", "times = 2",
)  # fmt: skip


@pytest.fixture
def restart() -> Iterator[None]:
    """The action is registered for one test."""
    module = import_module("tests.scenarios.faults.plugins.restarts")
    if NAME not in ACTIONS:
        reload(module)
    yield
    del ACTIONS[NAME]


def test_a_file_that_uses_it_runs(restart: None) -> None:
    played = play(Scenario.loads(FILE))
    [fault] = played.of(Fault, lambda event: event.action == NAME)
    assert (fault.target, fault.detail) == ("1", "process, 2 times")
    assert [event.node for event in played.of(NodeCrashed)] == [1, 1]
    assert played.run.passed, played.run.explanation


def test_its_keys_are_read_written_and_overridden(restart: None) -> None:
    scenario = Scenario.loads(FILE)
    assert Scenario.loads(scenario.to_toml()) == scenario
    overridden = scenario.with_overrides({"method[1].kind": "host"})
    assert 'kind = "host"' in overridden.to_toml()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("times = 2", "", r"method\[1\]: broker\.restart needs 'times' \(how many times in a row\)"),
        ("times = 2", "times = 0", r"method\[1\]\.times: the number 0 does not fit"),
        ("times = 2", "times = 8", r"method\[1\]\.times: more restarts than brokers"),
        ("times = 2", "time = 2\ntimes = 2", r"method\[1\]\.time: unknown key 'time'; did you mean 'times'"),
    ],
)
def test_its_keys_are_checked(restart: None, old: str, new: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Scenario.loads(FILE.replace(old, new))


def test_the_schema_and_the_reference_describe_it(restart: None) -> None:
    assert f"| `{NAME}` | yes | - | kill the broker and start it again at once |" in sections()["actions"]
    assert f"| `{NAME}` | `times` | integer ≥ 1 | **required** | how many times in a row |" in sections()["parameters"]
    entries = scenario_json_schema()["properties"]["method"]["items"]["oneOf"]
    [schema] = [entry for entry in entries if entry["properties"]["action"] == {"const": NAME}]
    assert schema["properties"]["times"] == {"type": "integer", "minimum": 1, "description": "how many times in a row"}


def test_without_it_the_name_is_unknown() -> None:
    assert NAME not in all_actions()
    with pytest.raises(BadInput, match=r"unknown action 'broker\.restart'; did you mean"):
        Scenario.loads(FILE)


def test_a_name_that_is_taken_is_refused() -> None:
    crash = all_actions()["broker.crash"]
    with pytest.raises(ValueError, match=r"there is an action 'broker\.crash' already"):
        action("broker.crash", "something else")(crash)
    assert all_actions()["broker.crash"] is crash
