"""``[[branches]]``: from an instant on a run goes another way: other entries are done, and everything is drawn again.

A run up to a branch is bit for bit the run without it. So a scenario with branches is the record of a run that was
continued otherwise, and replays it from the start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import evolve, field, frozen

from scenarios.errors import BadInput, Together
from scenarios.language.entries import METHOD_ENTRY, MethodEntry
from scenarios.language.schema.kinds import SOME_TIME, Integer, ListOf, as_tuple
from scenarios.language.schema.spans import ends
from scenarios.language.schema.table_reader import Block, key
from scenarios.language.triggers import After, At, Until


@frozen(kw_only=True)
class Branch:
    """One instant at which a run goes another way.

    Attributes:
        at_us: the virtual instant, before everything else that happens at it.
        seed: the seed of all random draws from then on: latencies, schedules, targets, everything with a stream.
        method: the entries from then on. Those of the method before whose turn has not come are dropped; what follows
            an entry that has acted, and the end of its duration, still comes.
    """

    at_us: int = field(metadata=key(SOME_TIME, "the virtual instant from which on the run goes another way", name="at"))
    seed: int = field(metadata=key(Integer(0), "seed of all random draws from then on"))
    method: tuple[MethodEntry, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(ListOf(METHOD_ENTRY), "what is done from then on, in place of entries that have not begun"),
    )


BRANCHES = ListOf(Block(Branch))


def check_branches(scenario: Any, check: Callable[[Any], None]) -> None:
    """Refuse branches of a ``Scenario`` that are not in the order of time, entries that would act before their branch,
    and what ``check`` refuses in a scenario. Raises: BadInput."""
    before_us, method = 0, scenario.method
    for index, branch in enumerate(scenario.branches):
        where = f"branches[{index}]"
        if branch.at_us <= before_us:
            after = f"{before_us / 1e6:g} s, where the one before it begins" if index else "the start of the run"
            raise BadInput(f"a branch comes after {after}; write a later time", where=f"{where}.at")
        before_us = branch.at_us
        for number, entry in enumerate(branch.method):
            if isinstance(entry.trigger, At) and ends(entry.trigger.time_us)[0] < branch.at_us:
                what = f"it comes before its branch, which begins at {branch.at_us / 1e6:g} s; write a later time"
                raise BadInput(what, where=f"{where}.method[{number}].at")
        acted = begun(method, branch.at_us)
        known, method = len(acted), (*acted, *branch.method)
        try:
            check(evolve(scenario, method=method, branches=(), chaos=()))
        except BadInput as error:
            wrong = Together()
            for one in error.all:
                place = _place(one, known, where)
                if place is not None:
                    wrong.add(BadInput(one.what, where=place, source=one.source))
            wrong.refuse()


def _place(error: BadInput, known: int, where: str) -> str | None:
    """The place of an error in a branch, whose entries follow the ``known`` ones of the method before it. None: it is
    in another part of the file, such as a load whose topic the branch never makes, and is no error there."""
    head, _, rest = error.where.partition("]")
    name, _, number = head.partition("[")
    if name != "method" or not number.isdigit() or int(number) < known:
        return None
    return f"{where}.method[{int(number) - known}]{rest}"


def begun(method: Sequence[MethodEntry], by_us: int) -> tuple[MethodEntry, ...]:
    """The entries of a method that may have acted by an instant: all but those whose time comes later, or that follow
    one of these."""
    found, comes_later = [], False
    for entry in method:
        if not isinstance(entry.trigger, After | Until):
            comes_later = isinstance(entry.trigger, At) and ends(entry.trigger.time_us)[0] >= by_us
        if not comes_later:
            found.append(entry)
    return tuple(found)
