"""What holds of every violation in every test of the checkers."""

from __future__ import annotations

import re
from typing import Any

import pytest

from scenarios.observe.checkers import Checkers


@pytest.fixture(autouse=True)
def states_are_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """A state says what is so in words: what is absent is not printed as a value of Python."""
    report = Checkers._report

    def check(self: Checkers, checker: Any, event: Any, state: str, *more: Any) -> None:
        assert not re.search(r"\bNone\b|\(\)|\{\}|<", state), f"{checker.name}: {state}"
        report(self, checker, event, state, *more)

    monkeypatch.setattr(Checkers, "_report", check)
