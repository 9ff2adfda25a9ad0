"""Whole runs: a real client under faults keeps its promises, and a driver that lies is found, kept and replayed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from attrs import evolve

from scenarios.cli import exits, main
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.runs.batch import ThisProcess
from scenarios.studies.clients.attached_run import RECORDING, AttachedCase, attached_run
from scenarios.studies.clients.client_campaign import SEEN, ClientCampaign, run_campaign
from scenarios.studies.clients.client_drivers import (
    CLASS_PATH,
    FRANZ_GO,
    NODE_MODULES,
    SPARK_JARS,
    ClientDriver,
    drivers_named,
)
from scenarios.studies.clients.client_outcome import ClientOutcome, outcome_of
from scenarios.studies.clients.outcome_table import markdown, rows
from scenarios.wire.recording.folder import read_live_run
from scenarios.wire.recording.replay import ReplayedRun

FAST = """
schema = "scenario/1"
title = "two seconds of trouble"
[cluster]
brokers = 3
[cluster.config]
"default.replication.factor" = 3
"min.insync.replicas" = 2
"offsets.topic.num.partitions" = 1
"transaction.state.log.num.partitions" = 1
"group.initial.rebalance.delay.ms" = 0
[[topics]]
name = "orders"
assignment = [[0, 1, 2], [1, 2, 0]]
[[chaos]]
kind = "healing"
begin = "2s"
at = ["4s", "5s"]
core = 0.0
loaded = 0.0
[[chaos]]
kind = "client-requests"
share = 1.0
"""
SCENARIO = Scenario.loads(FAST, profile="kafka-2.7")
RATE = 4.0
LIES = """
import json, sys
def say(seen, **more):
    print(json.dumps({"seen": seen, **more}), flush=True)
say("ready", client="liar", version="1")
plan = json.loads(sys.stdin.readline())
if plan["role"] != "consume":
    say("sent", record="never", partition=0)
    say("acked", record="never", partition=0, offset=0)
sys.stdin.read()
"""
SILENT = """
import sys
print('{"seen": "ready", "client": "silent", "version": "1"}', flush=True)
sys.stdin.read()
"""


def lying() -> ClientDriver:
    return ClientDriver(name="command:liar", command=(sys.executable, "-c", LIES))


def campaign(driver: ClientDriver, seeds: range, out: Path | None = None) -> ClientCampaign:
    return ClientCampaign(scenario=SCENARIO, drivers=[driver], seeds=seeds, rate=RATE, bound_s=60.0, out=out)


NEWEST = Scenario.loads(FAST, profile="kafka-3.9")


@pytest.mark.parametrize(
    ("name", "seed", "scenario"),
    [
        ("librdkafka", 2, SCENARIO),
        pytest.param("java", 2, SCENARIO, marks=pytest.mark.slow),
        ("kafkajs", 2, SCENARIO),
        pytest.param("kafkajs", 1, SCENARIO, marks=pytest.mark.slow),
        ("@platformatic/kafka", 2, NEWEST),
        ("franz-go", 2, SCENARIO),
        pytest.param("franz-go", 1, SCENARIO, marks=pytest.mark.slow),
        pytest.param("spark", 1, SCENARIO, marks=[pytest.mark.slow, pytest.mark.spark]),
        pytest.param("spark", 2, SCENARIO, marks=[pytest.mark.slow, pytest.mark.spark]),
    ],
)
def test_a_real_client_keeps_its_promises_and_its_recording_replays_bit_for_bit(
    name: str, seed: int, scenario: Scenario, tmp_path: Path
) -> None:
    try:
        [driver] = drivers_named([name])
    except BadInput as missing:
        pytest.skip(str(missing))
    found = attached_run(AttachedCase(scenario=scenario, driver=driver, seed=seed, rate=RATE, bound_s=20.0), tmp_path)
    outcome = outcome_of(found, tmp_path, 0.0)
    assert {one.judge for one in outcome.findings} <= {"producer_stalled", "consumer_stopped"}, "a client may wait"
    assert outcome.client == name
    assert outcome.sent >= outcome.acked > 0
    assert {"received", "assigned"} <= {line.seen for line in found.evidence.of("reader", "received", "assigned")}
    assert found.evidence.log is not None
    assert sum(map(len, found.evidence.log.values())) >= outcome.acked
    assert ReplayedRun(read_live_run(tmp_path / RECORDING)).play().same


def test_a_driver_that_lies_is_found_and_the_evidence_is_kept(tmp_path: Path) -> None:
    seed = next(seed for seed in range(20) if _plain(seed))
    asked, told = campaign(lying(), range(seed, seed + 1), tmp_path), list[ClientOutcome]()
    [outcome] = run_campaign(asked, ThisProcess(), told.append)
    assert told == [outcome]
    [finding] = outcome.findings
    assert finding.judge == "acknowledged_record_lost"
    assert finding.whose.startswith("the client's")
    assert outcome.same is True
    folder = tmp_path / f"command-liar-seed-{seed}"
    assert outcome.replay.endswith(f"understudy replay {folder / RECORDING}")
    assert {"never"} == {json.loads(line).get("record", "never") for line in (folder / SEEN).read_text().splitlines()}
    again: list[ClientOutcome] = []
    assert run_campaign(asked, ThisProcess(), again.append) == again == [outcome], "it is run again"
    [row] = [row for row in rows([outcome]) if row.kind == "all"]
    assert (row.client, row.runs, row.counts) == ("liar 1", 1, (0, 0, 1, 0))
    assert any(line.startswith("| liar 1 | all | 1 |") for line in markdown([outcome]))


def test_a_writer_that_sends_nothing_is_found(tmp_path: Path) -> None:
    driver = ClientDriver(name="command:silent", command=(sys.executable, "-c", SILENT))
    found = attached_run(AttachedCase(scenario=SCENARIO, driver=driver, seed=2, rate=RATE, bound_s=1.0), tmp_path)
    [finding] = outcome_of(found, tmp_path, 0.0).findings
    assert finding.judge == "producer_stalled"
    assert "neither acknowledged nor failed 1 s after the cluster was well: its first one" in finding.detail
    [late] = outcome_of(evolve(found, pace=RATE / 4), tmp_path, 0.0).findings
    assert late.whose.startswith("the machine's, it seems: 1.0 virtual seconds passed in a second, not 4;")
    [timely] = outcome_of(evolve(found, pace=RATE), tmp_path, 0.0).findings
    assert timely.whose.startswith("the client's")


def _plain(seed: int) -> bool:
    """Whether the writer of the seed has no transactions and acks=all."""
    case = AttachedCase(scenario=SCENARIO, driver=lying(), seed=seed, rate=RATE, bound_s=60.0)
    return case.plans[0].role == "produce" and case.plans[0].acks_all


def test_the_plans_of_a_seed_are_the_same_for_all_drivers_but_for_what_a_client_lacks() -> None:
    one, other = drivers_named(["librdkafka", "aiokafka"])
    for seed in range(30):
        plans = [
            AttachedCase(scenario=SCENARIO, driver=driver, seed=seed, rate=RATE, bound_s=60.0).plans
            for driver in (one, other)
        ]
        assert plans[1] == tuple(plan.without(other.lacks) for plan in plans[0])


@pytest.mark.parametrize(
    ("names", "wrong"),
    [
        (["librdkafak"], "no driver is called 'librdkafak'; did you mean 'librdkafka'"),
        (["command:"], "names no program; write command:PROGRAM"),
    ],
)
def test_a_driver_that_is_none_is_refused(names: list[str], wrong: str) -> None:
    with pytest.raises(BadInput, match=wrong):
        drivers_named(names)


def test_a_client_that_is_not_installed_is_named() -> None:
    missing = ClientDriver(name="other", command=("other",), package="no-such-package-of-python")
    with pytest.raises(BadInput, match="which is not installed; run: pip install no-such-package-of-python"):
        missing.check()


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("--rate", "3"), "--rate: is of campaigns under real clients; add --clients DRIVER"),
        (("--clients", "aiokafka", "--lean"), "--lean: is of campaigns without real clients"),
        (("--clients", "aiokafka", "--until-chance", "1e-3"), "--until-chance: is of campaigns without real clients"),
        (("--clients", "aiokafka", "--until-reached", "x"), "--until-reached: is of campaigns without real clients"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    words: tuple[str, ...], wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["chaos", *words]) == exits.BAD_INPUT
    assert wrong in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "variable", "value", "wrong"),
    [
        ("java", CLASS_PATH, "", "which is not set; set it to the class path of kafka-clients"),
        (
            "kafkajs",
            NODE_MODULES,
            "",
            "which is not set; set it to the folder node_modules in which npm install",
        ),
        ("kafkajs", NODE_MODULES, "/nowhere", "there is no /nowhere/kafkajs/package.json; set it to the folder"),
        ("spark", SPARK_JARS, "", "which is not set; set it to the class path of spark-sql-kafka-0-10"),
        ("franz-go", FRANZ_GO, "", "which is not set; set it to the program that go build -o makes in "),
        ("franz-go", FRANZ_GO, "/nowhere", "there is no /nowhere; set it to the program"),
    ],
)
def test_a_driver_that_is_not_told_where_its_client_is_names_the_variable(
    name: str, variable: str, value: str, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(BadInput, match=f"{variable}.*{wrong}"):
        drivers_named([name])


def test_a_client_that_needs_later_versions_says_so() -> None:
    late = ClientDriver(name="late", command=("late",), least="3.3")
    late.check_versions("3.9")
    with pytest.raises(BadInput, match=r"late needs the API versions of Kafka 3.3 or later, and brokers announce 2.7"):
        late.check_versions("2.7")
