"""``--set key=value`` and the seed, strategy and profile of a run change one thing each, checked as a file
is."""

import pytest

from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language.files import load
from tests.scenarios.language.builders import SMALL, built, small_and


def test_each_path_reaches_its_key() -> None:
    changed = built().with_overrides(
        {
            "cluster.config.min.insync.replicas": "2",
            "cluster.network.latency": "3ms",
            "topics[0].config.min.insync.replicas": 3,
            "topics[0].size": "2MiB",
            "workloads[0].producerRate": "500",
            "plan.partitions[0].replicas": "[4, 5, 6]",
            "method[0].at": "2s",
            "strategy.name": "kafka-6794",
            "horizon": "5m",
        }
    )
    assert changed.cluster.config == {"min.insync.replicas": 2}
    assert changed.cluster.network.latency_us == 3_000
    assert changed.topics[0].config == {"min.insync.replicas": 3}
    assert changed.topics[0].size_bytes == 2**21
    assert changed.workloads[0].producer_rate == 500
    assert changed.plan is not None
    assert changed.plan.partitions[0].replicas == (4, 5, 6)
    assert changed.strategy.parsed.protocol == "kafka-6794"
    assert changed.horizon_us == 300_000_000
    assert built().horizon_us == 60_000_000, "the scenario that was changed stays what it was"


@pytest.mark.parametrize(
    ("path", "value", "hint"),
    [
        ("horizn", "5m", "did you mean 'horizon'?"),
        ("cluster.netwrk.latency", "1ms", "did you mean 'network'?"),
        ("cluster.config.min.insync", "2", "did you mean 'min.insync.replicas'?"),
        ("topics[1].size", "1B", "nothing to set"),
        ("topics.size", "1B", "nothing to set"),
        ("horizon.x", "1", "nothing to set"),
        ("cluster[0]", "1", "nothing to set"),
        ("", "1", "nothing to set"),
        ("..", "1", "nothing to set"),
        ("horizon", "5", "the number 5"),
        ("strategy.name", "wikki", "did you mean 'wiki'?"),
        ("cluster.brokers", "4", "does not exist"),
        ("method[0].action", "broker.crush", "did you mean 'broker.crash'?"),
    ],
)
def test_what_cannot_be_set_is_refused(path: str, value: str, hint: str) -> None:
    with pytest.raises(BadInput) as caught:
        built().with_overrides({path: value})
    assert hint in str(caught.value)
    assert "--set" in str(caught.value)


def test_a_run_may_ask_for_seed_strategy_and_profile() -> None:
    asked = built().for_run(seed=9, strategy="kafka-6794", profile="wiki-text")
    assert (asked.seed, asked.strategy.name, asked.profile) == (9, "kafka-6794", "wiki-text")
    assert built().for_run() == built()
    for wrong in ({"strategy": "wikki"}, {"profile": "kafka-9"}, {"seed": -1}):
        with pytest.raises(BadInput):
            built().for_run(**wrong)


def test_a_strategy_that_cannot_reach_the_files_triggers_is_refused() -> None:
    step = small_and("[[method]]", 'when = { step = "wiki.4" }', 'action = "controller.crash"')
    with pytest.raises(BadInput, match=r"f\.toml method\[1\]\.when\.step: strategy 'kafka-6794' has no step"):
        Scenario.loads(step, source="f.toml").for_run(strategy="kafka-6794")
    both = step.replace('"wiki.4"', '["wiki.4", "kafka-6794.1"]')
    assert Scenario.loads(both).for_run(strategy="kafka-6794").method[1].trigger is not None
    assert Scenario.loads(SMALL).for_run(strategy="kafka-6794").strategy.name == "kafka-6794"


def test_a_refusal_says_whose_the_strategy_is_that_the_file_does_not_name() -> None:
    text = small_and("[[method]]", 'when = { step = "wiki.4" }', 'action = "controller.crash"')
    text = text.replace('name = "wiki"', "")
    of = {None: "'kafka-2.3'", "kafka-2.7": "'kafka-2.7' (the file names none)"}
    for profile, other in ((None, "kip-455.B1"), ("kafka-2.7", "wiki.4")):
        with pytest.raises(BadInput) as caught:
            Scenario.loads(text.replace("wiki.4", other), profile=profile)
        assert f", that of profile {of[profile]}, has no step '{other}'" in str(caught.value)
    with pytest.raises(BadInput, match=r"strategy 'kip-455', that of profile 'kafka-2\.5', has no step"):
        Scenario.loads(f'profile = "kafka-2.5"\n{text}', profile="kafka-2.7")


def test_a_change_after_which_another_key_is_wrong_names_both() -> None:
    with pytest.raises(BadInput) as caught:
        load("quick-move", [("cluster.brokers", "1")])
    assert str(caught.value).startswith("quick-move cluster.controller: broker 3 does not exist")
    assert str(caught.value).endswith("(after --set cluster.brokers=1)")
