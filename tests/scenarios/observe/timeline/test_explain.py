"""A failing run's answer: complete, in order, and never longer than a screen."""

from __future__ import annotations

import shlex

from hypothesis import given
from hypothesis import strategies as st

from emulator.protocol import events as e
from emulator.trace.events import Step
from scenarios.observe.timeline.explain import COLUMNS, LINES, chain, explain

COMMAND = "./understudy run scenarios/library/leader-dies-mid-move.toml --seed 7"
VIOLATION = "one_leader_per_epoch: leads[p, e] is set once: one; found: orders-0, epoch 1: 0 and 1"


def story() -> list[tuple[object, ...]]:
    """Two lines of events that do not touch: a chain 2, 5, 7, 9, a fault outside of it, and noise."""
    return [
        e.Fault(1_000_000, 1, 0, "link.cut", "1,2", ""),
        e.BrokerRegistered(2_000_000, 2, 0, 3, 40),
        e.NodeStarted(2_000_000, 3, 0, 3, 1),
        Step(3_000_000, 5, 2, "broker-startup.1", "before", "", -1, 3, 0, 6, ""),
        Step(3_000_000, 7, 5, "broker-startup.1", "after", "", -1, 3, 0, 6, ""),
        e.Fault(20_000_000, 8, 0, "broker.crash", "0", "process"),
        e.BecameLeader(30_000_000, 9, 7, 1, "orders", 0, 1, 10, 10, (), (), (), ()),
        e.Fault(40_000_000, 12, 0, "broker.start", "0", ""),
    ]


def test_a_violation() -> None:
    assert explain(VIOLATION, story(), 9, COMMAND, seed=7).split("\n") == [  # type: ignore[arg-type]
        "FAILED: one_leader_per_epoch: leads[p, e] is set once: one; found: orders-0, epoch 1: 0 and 1",
        "at 30.000000 s of virtual time (event 9), seed 7",
        "what the scenario had done:",
        "     1.000000        1  FAULT link.cut 1,2",
        "    20.000000        8  FAULT broker.crash 0 (process)",
        "its causes, from the first:",
        "     2.000000        2  broker 3 registered, broker epoch 40",
        "     3.000000        7  broker-startup.1 after, broker 3",
        "    30.000000        9  broker 1 leads orders-0, epoch 1, log end 10, high watermark 10",
        "replay it:",
        "  " + COMMAND,
    ]


def test_a_mapping_is_the_same_as_a_list() -> None:
    by_seq = {event[1]: event for event in story()}
    assert explain("x", by_seq, 9, COMMAND) == explain("x", story(), 9, COMMAND)  # type: ignore[arg-type]


def test_an_expectation_without_an_event() -> None:
    text = explain("not exercised: broker.crash never fired", [], 0, COMMAND)
    assert text.split("\n") == [
        "FAILED: not exercised: broker.crash never fired",
        "replay it:",
        "  " + COMMAND,
    ]


def long_chain(length: int, first: int = 1) -> dict[int, e.Fault]:
    return {seq: e.Fault(seq * 1000, seq, seq - 1, f"action.{seq}", "0", "") for seq in range(first, length + 1)}


def test_a_long_chain_shows_its_end() -> None:
    text = explain("x", long_chain(50), 50, COMMAND)
    assert "its causes, the last 10 of them (before: 40 more):" in text
    assert "action.41 " in text
    assert "action.40 " not in text


def test_a_chain_that_is_no_longer_remembered() -> None:
    text = explain("x", long_chain(12, first=8), 12, COMMAND)
    assert "its causes, the last 5 of them (before: 0 more, and what is no longer remembered):" in text


def test_a_chain_follows_causes_backwards() -> None:
    found = chain({event[1]: event for event in story()}, 9)  # type: ignore[misc]
    assert [event.seq for event in found.events] == [2, 5, 7, 9]
    assert found.whole


def test_a_cause_that_is_not_older_ends_the_chain() -> None:
    loop = {1: e.MoveFinished(0, 1, 2, "t", 0, ()), 2: e.MoveFinished(0, 2, 1, "t", 0, ())}
    assert [event.seq for event in chain(loop, 2).events] == [1, 2]


def test_a_long_command_is_continued_and_stays_one_command() -> None:
    command = shlex.join(["./understudy", "run", "x.toml", *(f"--set=key{n}=a value {n}" for n in range(12))])
    *_, shown = explain("x", [], 0, command).partition("replay it:\n")
    assert max(map(len, shown.split("\n"))) <= COLUMNS
    assert shlex.split(shown.replace("\\\n", "")) == shlex.split(command)


def test_a_command_with_operators_of_the_shell_is_left_as_it_is() -> None:
    for command in (
        "cd somewhere && ./understudy run x.toml",
        "./understudy run 'x",
        "./understudy " + "x && " * 40,
    ):
        assert explain("x", [], 0, command).endswith("\n  " + command)


def test_a_command_that_cannot_be_continued_stays_whole() -> None:
    command = "./understudy run " + "x" * 200
    assert command in explain("x", [], 0, command)


@given(
    st.text(max_size=3000),
    st.integers(0, 60),
    st.integers(1, 40),
    st.lists(st.sampled_from(["run", "--seed", "1", "--set", "a-long-word-of-some-length=1"]), max_size=12),
)
def test_it_always_fits_a_screen(reason: str, length: int, first: int, words: list[str]) -> None:
    text = explain(reason, long_chain(length, first), length, " ".join(["./understudy", *words]), seed=3)
    shown = text.split("\n")
    assert len(shown) <= LINES
    assert max(map(len, shown)) <= COLUMNS
    assert "./understudy" in text
