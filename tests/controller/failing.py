"""Events that fail."""

from collections.abc import Callable

import pytest

from controller.operations.topics import TopicChanges


def fail_at_topic_change(monkeypatch: pytest.MonkeyPatch, make: Callable[[], Exception], times: int = 1) -> None:
    """The next ``times`` TopicChange events that a controller processes raise what ``make`` returns."""
    honest = TopicChanges.process_topic_change
    failures = [make] * times

    async def process(topics: TopicChanges) -> None:
        if failures:
            raise failures.pop()()
        await honest(topics)

    monkeypatch.setattr(TopicChanges, "process_topic_change", process)
