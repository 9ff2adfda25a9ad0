"""A cell's row: its timeline without repetition, and the command that shows it again."""

from __future__ import annotations

from scenarios.studies.atlas.cell_rows import HEAD, TAIL, ReplayOptions, shortened


def test_a_short_timeline_stays_as_it_is() -> None:
    lines = tuple(f"line {number}" for number in range(HEAD + TAIL + 1))
    assert shortened(lines) == lines


def test_a_long_one_keeps_its_beginning_and_its_end() -> None:
    lines = tuple(f"line {number}" for number in range(1000))
    found = shortened(lines)
    assert found[:HEAD] == lines[:HEAD]
    assert found[-TAIL:] == lines[-TAIL:]
    assert found[HEAD].strip().startswith("… 700 lines are left out")
    assert len(found) == HEAD + 1 + TAIL


def test_batches_that_are_given_up_in_a_row_are_shown_once() -> None:
    given_up = [f"client -10 gives batch {number} for orders-0 up" for number in range(5)]
    assert shortened(("before", *given_up, "after")) == ("before", given_up[0], "  … and 4 more batches", "after")
    assert shortened((given_up[0], "between", given_up[1])) == (given_up[0], "between", given_up[1])


def test_a_command_names_what_the_atlas_was_made_of() -> None:
    name = "wiki/0,1,2-1,3,4/7.after/leader/crash"
    assert ReplayOptions().command(name) == f"./understudy atlas --cell {name}"
    assert ReplayOptions(9, "my file.toml").command(name) == f"./understudy atlas 'my file.toml' --cell {name} --seed 9"
