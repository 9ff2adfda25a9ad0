"""``[draws]``: values of a scenario that each seed draws."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from scenarios.chaos.draw import concrete
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language.draws import drawn_values
from scenarios.runs import run_scenario
from scenarios.runs.runner import prepare
from tests.scenarios.runs.building import EXECUTE, scenario

SIZE, RATE, EGRESS = "topics[0].size", "workloads[0].producerRate", "cluster.network.egress"
ACKS, THREADS = "workloads[0].acks", 'cluster.config."num.io.threads"'


def drawing(draws: dict[str, Any]) -> Scenario:
    table = scenario(assignment=[[0, 1]], plan={0: [1, 2]}, method=[EXECUTE], rate=20).to_table()
    return Scenario.from_table({**table, "draws": draws})


def test_each_seed_draws_its_own_values_within_the_range() -> None:
    wanted = drawing(
        {SIZE: "1MiB..200MiB", RATE: "10..30", EGRESS: "20MB/s..90MB/s", ACKS: ["all", "1"], THREADS: "1..3"}
    )
    found = [evolve(wanted, seed=seed).settled() for seed in range(40)]
    sizes = {one.topics[0].size_bytes for one in found}
    assert len(sizes) > 20
    assert all(1 << 20 <= size <= 200 << 20 and size % (1 << 20) == 0 for size in sizes), "whole mebibytes"
    assert len({one.workloads[0].acks for one in found}) == 2
    assert {one.cluster.config["num.io.threads"] for one in found} == {1, 2, 3}
    assert all(10 <= one.workloads[0].producer_rate <= 30 and one.draws == {} for one in found)


@given(st.integers(0, 1000), st.permutations([SIZE, RATE, ACKS]))
def test_what_else_is_drawn_and_in_which_order_moves_no_draw(seed: int, order: list[str]) -> None:
    draws = drawing({SIZE: "1MiB..200MiB", RATE: "10..30", ACKS: ["all", "1"]}).draws
    alone = {path: drawn_values({path: draws[path]}, seed)[path] for path in order}
    assert drawn_values({path: draws[path] for path in order}, seed) == alone


def test_every_strategy_and_profile_has_the_same_values() -> None:
    wanted = drawing({SIZE: "1MiB..200MiB", RATE: "10..30"})
    runs = [prepare(wanted, 3, strategy, profile) for strategy, profile in [("wiki", None), ("kip-455", "kafka-2.4")]]
    assert runs[0].drawn == runs[1].drawn != prepare(wanted, 4).drawn


def test_a_run_says_what_it_drew_and_repeats() -> None:
    wanted = drawing({RATE: "10..30"})
    run, again = run_scenario(wanted, seed=5), run_scenario(wanted, seed=5)
    assert [(entry, key) for entry, key, _ in run.drawn] == [("draws", RATE)]
    assert run.digest == again.digest != run_scenario(wanted, seed=6).digest


def test_chaos_draws_them_too() -> None:
    table = {**drawing({RATE: "10..30"}).to_table(), "chaos": [{"kind": "attrition", "share": 1}]}
    wanted = Scenario.from_table(table)
    assert concrete(wanted, 5).workloads[0].producer_rate == evolve(wanted, seed=5).settled().workloads[0].producer_rate


def test_a_value_that_is_stated_is_not_drawn() -> None:
    wanted = drawing({RATE: "10..30", SIZE: "1MiB..2MiB"}).with_overrides({RATE: 77})
    assert list(wanted.draws) == [SIZE]
    assert wanted.for_run(changes={SIZE: "1MiB"}).draws == {}


def test_it_is_written_as_it_was_read() -> None:
    wanted = drawing({SIZE: "1MiB..200MiB", RATE: "10..30", ACKS: ["all", "1"]})
    assert Scenario.loads(wanted.to_toml()) == wanted


@pytest.mark.parametrize(
    ("path", "draw", "line"),
    [
        ("topics[0].sise", "1MiB..2MiB", "draws.topics[0].sise: '1MiB' cannot be drawn: "),
        (SIZE, "2MiB..1MiB", f"draws.{SIZE}: '2MiB..1MiB' begins at its end or after it; write the lower end first"),
        (RATE, "0..5", f"draws.{RATE}: 0 cannot be drawn: the number 0 does not fit"),
        (RATE, "fast..faster", f"draws.{RATE}: the ends of 'fast..faster' are not two integers, durations, sizes or"),
        (RATE, [], f"draws.{RATE}: "),
        (RATE, 5, f"draws.{RATE}: 5 is neither a range such as"),
        (ACKS, ["all", "none"], f"draws.{ACKS}: 'none' cannot be drawn: "),
        ("method[0].at", "1MiB..2MiB", "draws.method[0].at: "),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_the_file(path: str, draw: object, line: str) -> None:
    with pytest.raises(BadInput) as refused:
        drawing({path: draw})
    assert str(refused.value).startswith(line)
