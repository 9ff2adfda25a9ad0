"""A guard that is taken out of the core is refused by the oracle, first in the action of the specification that has
it."""

from pathlib import Path

import pytest

from benchmarks.planted.switch import Edit, changed_functions, function
from benchmarks.specification.mutations import Mutation, Tried, attempt, mutations, problems_of

ROOT = Path(__file__).parents[3]
MUTATIONS = mutations()
LEAST = 20
SLICE = (
    "older controllers obeyed",
    "joins below the start of the epoch",
    "a leader epoch left out",
    "step 9 deletes nothing",
)
by_name = pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.name)


@by_name
def test_a_mutation_changes_a_function_that_a_running_program_can_exchange(mutation: Mutation) -> None:
    edit = Edit(mutation.file, mutation.old, mutation.new)
    changed = changed_functions(mutation.file, (ROOT / mutation.file).read_text(encoding="utf-8"), [edit])
    assert [function(mutation.file, name) for name in changed]


def test_there_are_enough_and_each_has_one_run() -> None:
    assert len({one.name for one in MUTATIONS}) == len(MUTATIONS) >= LEAST
    assert [one.name for one in MUTATIONS if bool(one.case) is bool(one.library)] == []


@pytest.mark.parametrize("mutation", [one for one in MUTATIONS if one.name in SLICE], ids=lambda one: one.name)
def test_a_guard_that_is_taken_out_is_refused_at_its_step(mutation: Mutation) -> None:
    assert problems_of([attempt(mutation)]) == []


@pytest.mark.slow
@by_name
def test_each_guard_that_is_taken_out_is_refused_at_its_step(mutation: Mutation) -> None:
    assert problems_of([attempt(mutation)]) == []


def test_what_is_not_refused_is_a_problem() -> None:
    one = MUTATIONS[0]
    assert problems_of([Tried(one, one.refused, True)]) == []
    assert problems_of([Tried(one, None, True)]) == [f"{one.name}: refused in nothing instead of {one.refused}"]
    assert problems_of([Tried(one, one.refused, False)]) == [f"{one.name}: the run is refused with the guard too"]
