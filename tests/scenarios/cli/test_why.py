"""``why``: the question is chosen by options, answered as text or JSON; what is not there is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve

from controller.shapes import SHAPES
from scenarios.language.files import load
from scenarios.runs import run_scenario
from tests.scenarios.cli.conftest import Call

FIRST = "as the first leader of the new partition"


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("why")
    run_scenario(load("follower-cut-off"), trace_dir=folder)
    return folder


def test_without_a_question_the_leader_and_the_replicas_out_of_sync(call: Call, trace: Path) -> None:
    called = call("why", trace, "--partition", "orders-0", "--at", "30s")
    assert called.code == 0
    questions = [line for line in called.out.splitlines() if line.endswith("?")]
    assert questions == [
        "who elected leader 0 of orders-0 at 30.000 s?",
        "why is broker 1 not in the ISR of orders-0 at 30.000 s?",
    ]
    assert called.out.rstrip().endswith("the network between it and leader 0 has\nbeen cut since 10.000 s.")


def test_each_question_by_its_option(call: Call, trace: Path) -> None:
    asked = ("--replica", "2", "--leader", "--move", "--batch", "5", "--failed")
    called = call("why", trace, "--partition", "orders-0", "--at", "30s", *asked, "--format", "json")
    answers = json.loads(called.out)
    expected = (
        "Broker 2 has been in the ISR of orders-0 since the partition was created.",
        f"Controller 3 (epoch 1) elected broker 0 at 0.059 s, {FIRST}; leader epoch 0, ISR [0, 2].",
        "No move of orders-0 was requested by 30.000 s.",
        "It did not fail: leader 0 acknowledged it at 0.465 s (acks=all), 0.002 s after it was closed.",
        "No batch was given up in orders-0 by 30.000 s.",
    )
    assert tuple(answer["sentence"] for answer in answers) == expected
    assert all(event["t_us"] <= 30_000_000 for answer in answers for event in answer["events"])


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        (
            ("--partition", "order-0"),
            "--partition: there is no partition 'order-0' at that moment; did you mean 'orders-0'",
        ),
        (("--partition", "orders"), "--partition: 'orders' is no partition name"),
        (
            ("--partition", "orders-0", "--replica", "9"),
            "--replica: no broker 9 has started by then; there are 0, 1, 2, 3",
        ),
        (("--partition", "orders-0", "--batch", "999999"), "--batch: orders-0 has no batch 999999; it has "),
        (("--partition", "orders-0", "--at", "1h"), "--at: the run ended at"),
        ((), "--partition"),
    ],
)
def test_what_is_not_there_is_refused(call: Call, trace: Path, options: tuple[str, ...], refusal: str) -> None:
    called = call("why", trace, *options)
    assert called.code == 2
    assert refusal in called.err
    assert called.err.count("\n") == 1


def test_a_protocol_that_is_not_there_is_asked_for(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SHAPES, "brought", evolve(SHAPES["wiki"], name="brought"))
    trace = tmp_path / "trace"
    run_scenario(load("quick-move"), strategy="brought", trace_dir=trace)
    assert call("why", trace, "--partition", "orders-0", "--move").code == 0
    monkeypatch.delitem(SHAPES, "brought")
    refused = call("why", trace, "--partition", "orders-0", "--move")
    assert refused.code == 2
    assert f"{trace}: its run has the strategy 'brought', which a plug-in brings" in refused.line
