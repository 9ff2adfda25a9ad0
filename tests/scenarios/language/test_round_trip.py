"""The file and the classes agree: what is written reads back, and the digest depends on the content alone."""

import json
import pickle
import random
import shutil
from pathlib import Path
from typing import Any

from attrs import evolve
from hypothesis import given, settings

from scenarios.faults.actions.links import LinkDelay
from scenarios.language import DelaySpec, Scenario, scenario_json_schema
from tests.scenarios.language.builders import SMALL, built
from tests.scenarios.language.json_schema import violations
from tests.scenarios.language.scenario_strategies import scenarios


@settings(max_examples=40, deadline=None)
@given(scenarios())
def test_what_is_written_reads_back(scenario: Scenario) -> None:
    scenario.check()
    again = Scenario.loads(scenario.to_toml())
    assert again == scenario
    assert again.digest() == scenario.digest()


@settings(max_examples=12, deadline=None)
@given(scenarios())
def test_what_is_written_fits_the_editors_schema(scenario: Scenario) -> None:
    schema = scenario_json_schema()
    assert violations(scenario.to_table(), schema, schema) == []


def test_a_scenario_travels_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(built())) == built()


def test_the_example_of_the_format_is_valid_as_printed() -> None:
    example = Scenario.load(Path(__file__).with_name("example.toml"))
    assert Scenario.loads(example.to_toml()) == example
    assert example.strategy.throttle == 50 * 2**20
    assert [entry.name for entry in example.method] == [
        "reassign.execute",
        "controller.crash",
        "link.delay",
    ]
    delay = example.method[2]
    assert delay.action == LinkDelay(delay=DelaySpec(latency_us=90_000, jitter_us=90_000), direction="both", peer=None)
    assert delay.duration_us == 30_000_000


def test_python_and_toml_build_the_same_scenario() -> None:
    assert Scenario.loads(SMALL) == built()
    assert Scenario.loads(SMALL).digest() == built().digest()


def test_json_is_read_as_well() -> None:
    text = json.dumps(built().to_table())
    assert Scenario.loads(text, source="small.json") == built()


def shuffled(value: Any, order: random.Random) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        order.shuffle(keys)
        return {key: shuffled(value[key], order) for key in keys}
    return [shuffled(item, order) for item in value] if isinstance(value, list) else value


def test_the_digest_is_blind_to_key_order() -> None:
    example = Scenario.load(Path(__file__).with_name("example.toml"))
    for seed in range(5):
        again = Scenario.from_table(shuffled(example.to_table(), random.Random(seed)))
        assert again.digest() == example.digest()
    backwards = dict(reversed(example.cluster.config.items()))
    assert list(backwards) != list(example.cluster.config)
    assert evolve(example, cluster=evolve(example.cluster, config=backwards)).digest() == example.digest()


def test_the_digest_is_blind_to_layout_and_stated_defaults() -> None:
    loose = SMALL.replace(" = ", "   =  ").replace('name = "orders"', 'name = "orders"\npartitions = 2')
    loose = loose.replace('"1m"', '"60s"')
    assert Scenario.loads("# a comment\n" + loose).digest() == built().digest()


def test_the_digest_is_blind_to_where_the_file_is(tmp_path: Path) -> None:
    first, second = tmp_path / "a.toml", tmp_path / "deep" / "b.toml"
    second.parent.mkdir()
    first.write_text(SMALL)
    shutil.copy(first, second)
    assert Scenario.load(first).digest() == Scenario.load(second).digest()
    assert Scenario.load(first) == Scenario.load(second)


def test_the_digest_sees_what_changes_a_run() -> None:
    scenario = built()
    changed = [
        evolve(scenario, seed=1),
        evolve(scenario, horizon_us=1),
        scenario.for_run(strategy="kafka-6794"),
        scenario.with_overrides({"cluster.config.min.insync.replicas": "2"}),
        scenario.with_overrides({"topics[0].size": "1B"}),
    ]
    assert len({scenario.digest(), *(other.digest() for other in changed)}) == len(changed) + 1


def test_a_plan_in_a_file_is_the_plan_in_place(tmp_path: Path) -> None:
    plan = built().plan
    assert plan is not None
    (tmp_path / "move.json").write_text(plan.as_json())
    path = tmp_path / "s.toml"
    head, _, tail = SMALL.partition("[plan]")
    path.write_text(head + '[plan]\nfile = "move.json"\n\n' + tail[tail.index("[[method]]") :])
    assert Scenario.load(path) == built()
    assert Scenario.load(path).digest() == built().digest()
