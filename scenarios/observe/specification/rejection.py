"""A rejection: an event that no action of the specification allows, and the sentence that it breaks."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from emulator.protocol.types import TopicPartition


@frozen
class Sentence:
    """A sentence of docs/specification that has to hold where an event shows an action.

    Attributes:
        module, action: where it stands: ``Isr`` and ``LeaderAppends``.
        guard: the sentence itself, as the module has it.
        says: the same in words.
    """

    module: str
    action: str
    guard: str
    says: str

    def __str__(self) -> str:
        return f"{self.action} of {self.module}: {self.guard}"


@frozen
class Rejection:
    """An event that breaks a sentence.

    Attributes:
        event: the kind of the event; ``t_us`` and ``seq`` are its own.
        before: the state of the partition on the brokers that it is about, before the event.
        found: what the event shows instead.
    """

    t_us: int
    seq: int
    event: str
    tp: TopicPartition | None
    sentence: Sentence
    before: str
    found: str

    @property
    def state(self) -> str:
        """The finding, with the state before, in a line."""
        about = "" if self.tp is None else f" of {self.tp}"
        when = f"at {self.t_us / 1e6:.6f} s, event {self.seq}, {self.event}{about}"
        return f"{when}: {self.found}; {self.sentence.says}; before: {self.before}"

    def __str__(self) -> str:
        return f"{self.sentence}; {self.state}"

    def to_json(self) -> dict[str, Any]:
        """The object that ``run --format json`` prints."""
        sentence = self.sentence
        return {
            "module": sentence.module, "action": sentence.action, "guard": sentence.guard, "says": sentence.says,
            "t_us": self.t_us, "seq": self.seq, "event": self.event,
            "partition": None if self.tp is None else str(self.tp), "before": self.before, "found": self.found,
        }  # fmt: skip
