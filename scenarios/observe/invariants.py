"""The invariants by name: each is a file of ``scenarios/observe/checkers``, which holds the checker of that name.

Listing the names imports no checker, so that reading a scenario file stays fast; ``find`` imports one.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scenarios.observe.checkers.checker import Checker

PACKAGE = f"{__package__}.checkers"
FRAME = (
    "administrator_answers", "below_min_isr", "broker_memory", "checker", "checkers", "coordinated_answers",
    "coordinators_log", "in_time", "role_refusals",
)  # fmt: skip
"""The files of the package that hold no checker."""

ORDER = (
    "no_acked_record_lost", "no_acks_1_record_lost", "one_leader_per_epoch", "high_watermark_monotone",
    "log_matching", "leader_completeness",
    "leader_in_isr", "isr_complete", "offset_bounds", "truncate_safety", "append_shape", "isr_logs_identical",
    "epochs_grow", "controller_fence", "broker_epoch_fence", "isr_write_conditional", "no_write_after_expiry",
    "joins_caught_up", "expands_assigned", "shrinks_overdue", "fetch_fence", "one_role", "failed_until_epoch",
    "applied_high_watermark", "reads_committed", "reads_consistent", "polls_go_on", "no_batch_twice",
    "under_replicated_true", "reassigning_true", "lag_true", "offline_true", "one_active_controller",
)  # fmt: skip
"""The order in which these are armed. Where one event breaks several invariants, their violations are in this order in
the trace, so a run's digest depends on it. A new checker need not be listed: it comes after these."""


ADDED: dict[str, type[Checker]] = {}
"""The checkers of plug-ins, by name."""


def names() -> tuple[str, ...]:
    """All invariants that are watched, in the order in which they are armed."""
    return (*own_names(), *ADDED)


@cache
def own_names() -> tuple[str, ...]:
    spec = find_spec(PACKAGE)
    assert spec is not None
    files = sorted(module.name for module in pkgutil.iter_modules(spec.submodule_search_locations))
    return (*ORDER, *(name for name in files if name not in (*ORDER, *FRAME)))


def find(name: str) -> type[Checker]:
    """Import the checker of an invariant. Raises: LookupError if the file of that name holds none."""
    if name in ADDED:
        return ADDED[name]
    module = import_module(f"{PACKAGE}.{name}")
    for kind in vars(module).values():
        if getattr(kind, "name", None) == name:
            checker: type[Checker] = kind
            return checker
    raise LookupError(f"{PACKAGE}.{name} holds no checker with the name {name!r}; a checker is named after its file")


class Sentences(Mapping[str, str]):
    """Invariant to what it says in a sentence (``Checker.sentence``), read when it is asked for."""

    def __getitem__(self, name: str) -> str:
        if name not in names():
            raise KeyError(name)
        return find(name).sentence()

    def __iter__(self) -> Iterator[str]:
        return iter(names())

    def __len__(self) -> int:
        return len(names())


INVARIANTS: Mapping[str, str] = Sentences()
"""All invariants, as scenario files and ``understudy list invariants`` name them."""
