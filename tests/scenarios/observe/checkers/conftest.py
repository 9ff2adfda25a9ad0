"""Checks of every violation in every test of the checkers."""

from __future__ import annotations

import re
from typing import Any

import pytest

from scenarios.observe.checkers import Checkers
from scenarios.observe.findings.facts import Facts


@pytest.fixture(autouse=True)
def states_are_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """A state says what is so in words: what is absent is not printed as a value of Python."""
    report = Checkers._report

    def check(self: Checkers, checker: Any, event: Any, facts: Facts, partition: Any, *more: Any) -> None:
        state = facts.in_words(partition)
        assert not re.search(r"\bNone\b|\(\)|\{\}|<", state), f"{checker.name}: {state}"
        report(self, checker, event, facts, partition, *more)

    monkeypatch.setattr(Checkers, "_report", check)
