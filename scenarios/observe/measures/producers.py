"""The outcomes of producers' batches, the latency of acknowledgements, and the times in which partitions acknowledged
nothing.

A partition's gap is a time without an acknowledgement while a batch waited for one. It begins with the last
acknowledgement, or when the first batch since then was closed, if that is later. It ends with the next acknowledgement,
or with the outcome of a failed batch, or with the run for an unfinished one. Batches with acks=0 do not count.

What a leap acknowledges (``Leapt``) is counted and has no latency. Latencies are weighted by what the stretch in which
they were seen stands for (``scenarios.observe.measures.stretches``). The longest latency, the longest gap and the
99.9th percentile are not known then: they are too rare for stretches; nor is a median between two groups of latencies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from emulator.protocol.events import BatchesProduced, BatchesUnfinished, LeapBegan, Leapt, Produced
from emulator.protocol.types import NO_LEADER
from scenarios.observe.measures.figure import Better, Compared, Figure, Limit, Value
from scenarios.observe.measures.fold import Fold, RunParts, Table
from scenarios.observe.measures.stretches import Stretches

NO_ERROR = "NONE"
UNFINISHED = "unfinished"
"""The outcome, in the table ``produce``, of a batch that was neither acknowledged nor failed."""

GIVEN_UP_FOR = (
    "REQUEST_TIMED_OUT",
    "NOT_ENOUGH_REPLICAS",
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    "NOT_LEADER_FOR_PARTITION",
)
"""The errors of failed batches that have a figure each."""


def _given_up(error: str) -> str:
    return f"failed_batches_{error.lower()}"


class Produces(Fold):
    """The fold over one run. A batch with acks=0 is never acknowledged. In the latencies a batch that is unfinished
    when the run ends counts with the time that it has waited: its latency is censored there, and would be longer."""

    FIGURES = (
        Figure(
            name="acked_batches",
            text="batches acknowledged to producers",
            unit="batches",
            better=Better.HIGHER,
            limit=Limit.AT_ANY_TIME,
        ),
        Figure(
            name="failed_batches",
            text="batches that producers gave up",
            unit="batches",
            better=Better.LOWER,
            limit=Limit.AT_ANY_TIME,
        ),
        Figure(
            name="unfinished_batches",
            text="batches neither acknowledged nor given up when the run ended",
            unit="batches",
            better=Better.LOWER,
            limit=Limit.AT_THE_END,
        ),
        Figure(
            name="unfinished_wait_us",
            text="time that the oldest of the unfinished batches had waited",
            unit="s",
            better=Better.LOWER,
            limit=Limit.AT_THE_END,
        ),
        Figure(
            name="produce_p50_us",
            text="median latency of batches; of unfinished ones their wait so far",
            unit="ms",
            better=Better.LOWER,
            limit=Limit.AT_THE_END,
        ),
        Figure(
            name="produce_p99_us",
            text="99th percentile of the latency of batches; of unfinished ones their wait so far",
            unit="ms",
            better=Better.LOWER,
            limit=Limit.AT_THE_END,
        ),
        Figure(
            name="produce_p999_us",
            text="99.9th percentile of the latency of batches; of unfinished ones their wait so far",
            unit="ms",
            better=Better.LOWER,
            limit=Limit.AT_THE_END,
        ),
        Figure(
            name="produce_max_us",
            text="longest latency of a batch; of an unfinished one its wait so far",
            unit="ms",
            better=Better.LOWER,
            limit=Limit.AT_THE_END,
        ),
        Figure(
            name="longest_gap_us",
            text="longest time that batches of a partition waited and none was acknowledged",
            unit="s",
            better=Better.LOWER,
            limit=Limit.AT_THE_END,
        ),
        *(
            Figure(
                name=_given_up(error),
                text=f"batches that producers gave up with {error} as the last error",
                unit="batches",
                better=Better.LOWER,
                limit=Limit.AT_ANY_TIME,
                compared=Compared.NO,
            )
            for error in GIVEN_UP_FOR
        ),
    )
    TABLES: ClassVar[Mapping[str, Table]] = {"produce": Table(Produced)}

    def __init__(self, source: RunParts) -> None:
        super().__init__(source)
        self.counts = {"acked_batches": 0, "failed_batches": 0, **{_given_up(error): 0 for error in GIVEN_UP_FOR}}
        self._longest_gap_us = 0
        self._acked_us: dict[str, dict[int, int]] = {}
        """The time of the last acknowledged batch, by topic and partition."""
        self._waiting_since_us: dict[str, dict[int, int]] = {}
        """The time when the first batch was closed that had another outcome since then, by topic and partition."""
        self._latency_us: dict[int, int] = {}  # latency of batches with acks -> their number
        self._unfinished_batches = self._unfinished_wait_us = 0
        self._keep_rows = source.measured.keep_rows
        self._rows: list[Produced] = []
        self._leaps = False
        self._stretches = Stretches.of(source.trace)
        source.trace.fold(BatchesProduced, self._produced)
        source.trace.fold(LeapBegan, self._leap_began)
        source.trace.fold(Leapt, self._leap_ended)
        source.trace.fold(BatchesUnfinished, self._unfinished)

    def figures(self) -> Mapping[str, Value]:
        leapt = self._stretches.has_leapt
        p50, p99, p999 = self._stretches.percentiles(self._latency_us, (0.5, 0.99, 0.999))
        return {
            **self.counts,
            "unfinished_batches": self._unfinished_batches,
            "unfinished_wait_us": self._unfinished_wait_us,
            "produce_p50_us": p50,
            "produce_p99_us": p99,
            "produce_p999_us": None if leapt else p999,
            "produce_max_us": None if leapt else max(self._latency_us, default=None),
            "longest_gap_us": None if leapt else self._longest_gap_us,
        }

    def tables(self) -> Mapping[str, list[Any]]:
        return {"produce": self._rows}

    def _leap_began(self, event: LeapBegan) -> None:
        self._leaps = True

    def _leap_ended(self, event: Leapt) -> None:
        self._leaps = False
        self.counts["acked_batches"] += event.batches

    def _produced(self, event: BatchesProduced) -> None:
        if self._leaps:
            if event.acks != 0:
                self._acked_us.setdefault(event.topic, {}).update(dict.fromkeys(event.partitions, event.t_us))
            return
        if event.error != NO_ERROR:
            self.counts["failed_batches"] += len(event.ids)
            if event.error in GIVEN_UP_FOR:
                self.counts[_given_up(event.error)] += len(event.ids)
            if event.acks != 0:
                self._wait(event.t_us, event.topic, zip(event.partitions, event.latencies_us, strict=True))
        elif event.acks != 0:
            self.counts["acked_batches"] += len(event.ids)
            found = self._latency_us
            for latency_us in event.latencies_us:
                found[latency_us] = found.get(latency_us, 0) + 1
            if self._stretches.open is not None:
                self._stretches.open.add(event.t_us, event.latencies_us)
            acked_us = self._acked_us.setdefault(event.topic, {})
            # A gap is no longer than the latency of the batch that ends it, unless others were given up before it.
            waiting = self._waiting_since_us.setdefault(event.topic, {})
            gave_up = waiting and not waiting.keys().isdisjoint(event.partitions)
            if gave_up or max(event.latencies_us) > self._longest_gap_us:
                self._end_gaps(event, waiting, acked_us)
            acked_us.update(dict.fromkeys(event.partitions, event.t_us))
        if self._keep_rows:
            self._rows += event.rows()

    def _unfinished(self, event: BatchesUnfinished) -> None:
        self._unfinished_batches += len(event.ids)
        self._unfinished_wait_us = max(self._unfinished_wait_us, *event.waits_us)
        if event.acks != 0:
            self._wait(event.t_us, event.topic, zip(event.partitions, event.waits_us, strict=True))
            for wait_us in event.waits_us:
                self._latency_us[wait_us] = self._latency_us.get(wait_us, 0) + 1
        if self._keep_rows:
            self._rows += [
                Produced(
                    row.t_us, row.seq, row.cause, row.node, row.topic, row.partition, row.id, row.acks, NO_ERROR,
                    -1, -1, NO_LEADER, row.wait_us, row.attempts, UNFINISHED,
                )
                for row in event.rows()
            ]  # fmt: skip

    def _wait(self, t_us: int, topic: str, batches: Iterable[tuple[int, int]]) -> None:
        """Take in batches, as partition and latency, that were not acknowledged: their partitions still wait."""
        acked_us, waiting = self._acked_us.get(topic, {}), self._waiting_since_us.setdefault(topic, {})
        for partition, latency_us in batches:
            since_us = waiting[partition] = min(waiting.get(partition, t_us), t_us - latency_us)
            self._longest_gap_us = max(self._longest_gap_us, t_us - max(since_us, acked_us.get(partition, since_us)))

    def _end_gaps(self, event: BatchesProduced, waiting: dict[int, int], acked_us: dict[int, int]) -> None:
        t_us = event.t_us
        for partition, latency_us in zip(event.partitions, event.latencies_us, strict=True):
            since_us = min(waiting.pop(partition, t_us), t_us - latency_us)
            self._longest_gap_us = max(self._longest_gap_us, t_us - max(since_us, acked_us.get(partition, since_us)))
            acked_us[partition] = t_us
