"""Moves of a minute leap in these tests."""

import pytest

from scenarios.runs.leaping import gain


@pytest.fixture(autouse=True)
def short_moves_leap(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Moves that are simulated as a whole for their length leap all the same, but where the rule itself is tested."""
    if "gain" not in request.path.stem:
        monkeypatch.setattr(gain, "CHEAP_EVENTS", 0)
