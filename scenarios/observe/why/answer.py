"""An answer: the question, the events that bear it out, and a sentence."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from attrs import frozen

from scenarios.observe.timeline.explain import COLUMNS, cut, without_passed
from scenarios.observe.timeline.words import seconds, words

MOST = 12
"""Events of one answer. Of more, the first and the last ones are shown."""


@frozen
class Answer:
    """The answer to one question.

    Attributes:
        events: the events that show it, in their order, each once.
        sentence: the answer in the words of a Kafka engineer.
    """

    question: str
    events: tuple[Any, ...]
    sentence: str

    @classmethod
    def of(cls, question: str, evidence: Iterable[Any], sentence: str) -> Answer:
        """``evidence``: events in any order, some of them twice or None."""
        by_seq = {event.seq: event for event in evidence if event is not None}
        return cls(question, tuple(without_passed([by_seq[seq] for seq in sorted(by_seq)])), sentence)

    def lines(self) -> Iterator[str]:
        """The answer as text, ending with the sentence."""
        yield f"{self.question}?"
        left_out = len(self.events) - MOST
        shown: Sequence[Any] = self.events if left_out <= 0 else self.events[: MOST // 2]
        yield from map(_line, shown)
        if left_out > 0:
            yield f"{'':>13} {'':>8}  … {left_out} more"
            yield from map(_line, self.events[-MOST // 2 :])
        yield from textwrap.wrap(self.sentence, COLUMNS, break_on_hyphens=False)

    def to_json(self) -> dict[str, Any]:
        """The answer as plain values."""
        events = [{"t_us": event.t_us, "seq": event.seq, "text": words(event)} for event in self.events]
        return {"question": self.question, "events": events, "sentence": self.sentence}


def _line(event: Any) -> str:
    return cut(f"{seconds(event.t_us):>13} {event.seq:>8}  {words(event)}")


def when(t_us: int) -> str:
    """A time in a sentence."""
    return f"{t_us / 1e6:.3f} s"


def ids(brokers: Iterable[int]) -> str:
    """Brokers in a sentence, as Kafka prints an ISR."""
    return f"[{', '.join(map(str, brokers))}]"
