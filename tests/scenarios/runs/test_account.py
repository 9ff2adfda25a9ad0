"""The statements of a run's report are in its trace."""

from pathlib import Path

import pytest

from scenarios.language import Scenario
from scenarios.runs import run_scenario
from scenarios.runs.account import EXPECTATION, EXPLANATION, HEADLINE, REPLAY
from scenarios.runs.dataset.reader import open_data_set, read_table

SHORT = """
title = "one partition that is written to"
cluster = { brokers = 2 }
topics = [{ name = "orders", partitions = 1, replication_factor = 2 }]
workloads = [{ topic = "orders", producerRate = 50, messageSize = "1KiB", stop = "1s" }]
horizon = "20s"

[[expect]]
isr = { "orders-0" = [0, 1] }

[[expect]]
metric = "acked_batches"
tolerance = [1000000, 2000000]
"""


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    folder: Path = tmp_path_factory.mktemp("account")
    scenario = Scenario.loads(SHORT, source="short.toml").with_overrides({"horizon": "15s"})
    run = run_scenario(scenario, seed=3, trace_dir=folder, changes=[("horizon", "15s")])
    assert not run.passed
    found: list[dict[str, object]] = read_table(open_data_set(folder), "account").to_pylist()
    assert [row["text"] for row in found if row["part"] == EXPLANATION] == run.explanation.splitlines()
    return found


def test_the_headlines_have_their_subjects(rows: list[dict[str, object]]) -> None:
    assert [(row["label"], row["text"]) for row in rows if row["part"] == HEADLINE][:2] == [
        ("acknowledged data lost", "acks=all: none"),
        ("under-replicated", "0 s"),
    ]


def test_expectations_say_whether_they_held_and_what_was_found(rows: list[dict[str, object]]) -> None:
    first, second = [row for row in rows if row["part"] == EXPECTATION]
    assert (first["text"], first["ok"]) == ("isr orders-0 [0, 1]", True)
    assert (second["ok"], second["t_us"] is None) == (False, False)
    assert "acked_batches" in str(second["text"])
    assert second["found"]


def test_the_replay_command_has_the_changes(rows: list[dict[str, object]]) -> None:
    [command] = [row["text"] for row in rows if row["part"] == REPLAY]
    assert str(command).removeprefix("./") == "understudy run short.toml --seed 3 --set horizon=15s"
