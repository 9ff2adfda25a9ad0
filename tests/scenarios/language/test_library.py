"""The scenarios that come with the tool are valid, under every strategy that runs (those about KIP-455 under
it alone), and by the editors' schema too."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from scenarios.language import Scenario, scenario_json_schema
from scenarios.language.strategies.strategy import one_of_each_shape
from tests.scenarios.language.json_schema import violations

LIBRARY = Path(__file__).parents[3] / "scenarios" / "library"
FILES = sorted(LIBRARY.glob("*.toml"))


def test_the_library_is_there() -> None:
    assert {"controller-dies-mid-move.toml", "quick-move.toml"} <= {path.name for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_validates_and_reads_back(path: Path) -> None:
    scenario = Scenario.load(path)
    assert Scenario.loads(scenario.to_toml()) == scenario
    for strategy in ("kip-455",) if "kip-455" in scenario.tags else one_of_each_shape():
        scenario.for_run(strategy=strategy)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_fits_the_schema(path: Path) -> None:
    schema = scenario_json_schema()
    assert violations(tomllib.loads(path.read_text()), schema, schema) == []
    table = Scenario.load(path).to_table()
    assert violations(table, schema, schema) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[cluster]", "[clusters]"),
        ("brokers = 7", 'brokers = "7"'),
        ("move.start", "move.strat"),
        ("controller.crash", "controller.crush"),
        ('mode = "edge"', 'mode = "sometimes"'),
        ('state = "down"', 'stat = "down"'),
        ('at = "5s"\n', ""),
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(old: str, new: str) -> None:
    text = (LIBRARY / "controller-dies-mid-move.toml").read_text()
    assert old in text
    schema = scenario_json_schema()
    assert violations(tomllib.loads(text.replace(old, new)), schema, schema)


def test_the_demo_is_the_scenario_that_its_page_describes() -> None:
    demo = Scenario.load(LIBRARY / "controller-dies-mid-move.toml")
    assert demo.cluster.brokers == 7
    assert demo.cluster.controller == 6
    assert demo.assignments() == {"orders-0": (0, 1, 2)}
    assert demo.plan is not None
    assert demo.plan.targets() == {"orders-0": (3, 4, 5)}
    assert [entry.name for entry in demo.method] == ["reassign.execute", "controller.crash"]


def test_a_scenario_runs_where_only_the_language_was_imported() -> None:
    file = str(LIBRARY / "quick-move.toml")
    program = f"from scenarios.language import Scenario; print(Scenario.load({file!r}).run().verdict)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "passed\n"
