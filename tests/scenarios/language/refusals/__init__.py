"""Refused scenario files, by theme: the file, where the error is, and what to do about it."""

from tests.scenarios.language.refusals import entries, expectations, file, plan, topics_and_load, triggers
from tests.scenarios.language.refusals.writing import Case, acting, when

_THEMES = (file, topics_and_load, plan, triggers, entries, expectations)
CASES: dict[str, Case] = {name: case for theme in _THEMES for name, case in theme.CASES.items()}
assert len(CASES) == sum(len(theme.CASES) for theme in _THEMES), "a name is used by two themes"

__all__ = ["CASES", "acting", "when"]
