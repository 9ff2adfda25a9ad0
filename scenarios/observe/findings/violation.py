"""A broken invariant: what was found, where and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve, frozen

from scenarios.observe import invariants

if TYPE_CHECKING:
    from emulator.protocol.types import TopicPartition
    from scenarios.observe.findings.facts import Facts, Part


@frozen
class Violation:
    """A broken invariant.

    Attributes:
        invariant: the checker's name.
        t_us: virtual time at which it was found.
        seq: the event that showed it. Its causal chain is the answer to "how did it come to this?".
        facts: the facts that were found.
        part: the condition of the invariant that is broken, where it has several.
        partition: the partition that it is about; None: it is about none, or about several, which the facts have then.
        brokers: brokers whose replicas, roles or metadata it is about, where it is about some. Each may be so for
            a reason of its own.
    """

    invariant: str
    t_us: int
    seq: int
    facts: Facts
    part: Part | None = None
    partition: TopicPartition | None = None
    brokers: tuple[int, ...] = ()

    @property
    def broker(self) -> int | None:
        """The broker that it is about; None: it is about none, or several."""
        return self.brokers[0] if len(self.brokers) == 1 else None

    def apart(self) -> tuple[Violation, ...]:
        """The violation, of one of its brokers each."""
        return tuple(evolve(self, brokers=(broker,)) for broker in self.brokers) or (self,)

    @property
    def statement(self) -> str:
        """The sentence that says what should have held."""
        return invariants.find(self.invariant).statement if self.part is None else self.part.words

    @property
    def state(self) -> str:
        """The sentence about how it was found to be broken, in a line."""
        return self.facts.in_words(self.partition)

    def __str__(self) -> str:
        return f"{self.invariant}: {self.statement}; found: {self.state}"
