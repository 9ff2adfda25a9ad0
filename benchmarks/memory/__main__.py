"""``python -m benchmarks.memory [--batches 100000] [--checkout DIR ...] [--steady SECONDS] [--write]``: the resident
memory of a served cluster under a steady load, while batches come in, where the log has a retention and where it has
none.

One producer of confluent-kafka sends a record after the other with acks=all, each in a batch of its own, as fast as it
is answered. ``--checkout`` measures that checkout, too, such as one of an earlier version. Exit code 1 where the memory
of a log with a retention still grows by more than ``MOST_BYTES`` a batch in the second half.

``--steady`` is another load: so many seconds of 200 batches a second with ``--rate 4``, and a consumer of a group; the
log has a retention, and the run is recorded.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import frozen
from confluent_kafka import Consumer, Producer

from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.tables import table
from benchmarks.wire.clusters import TOPIC, served

PARTS = 10
"""How often memory is read."""
RECORD = b"x" * 100
MOST_BYTES = 64
SCENARIO = """
title = "a steady load"
[cluster]
brokers = 3
config = { "log.retention.check.interval.ms" = 1000, "log.segment.delete.delay.ms" = 1000 }
[[topics]]
name = "orders"
partitions = 1
replication_factor = 3
"""
KEPT = 'config = { "segment.bytes" = 100000, "retention.bytes" = 200000 }\n'
CASES: Mapping[str, str] = {"the newest 200 kB are kept": SCENARIO + KEPT, "all is kept": SCENARIO}
RATE, PER_S, MOST_WAITING = 4.0, 200.0, 2000
STEADY = ("seconds", "batches sent", "records read", "resident, MB", "recording, MB")
HEADINGS = ("log", "code", "batches/s", "resident, MB, after each tenth", "bytes a batch, second half")


@frozen
class Growth:
    """The memory of one cluster.

    Attributes:
        mb: resident memory after each part; ``per_s``: batches a second.
        batches: the batches of a part.
    """

    mb: tuple[float, ...]
    per_s: float
    batches: int

    @property
    def bytes_a_batch(self) -> float:
        """The growth of the second half: the median of its parts."""
        later = self.mb[len(self.mb) // 2 :]
        return statistics.median((after - before) * 1e6 / self.batches for before, after in pairwise(later))


def measured(scenario: str, batches: int, checkout: Path | None) -> Growth:
    """A cluster of its own."""
    with served(scenario, checkout) as cluster:
        assert cluster.pid is not None
        producer = Producer({"bootstrap.servers": cluster.servers, "acks": "all", "linger.ms": 0})
        found, began = [], time.perf_counter()
        for _ in range(PARTS):
            for _ in range(batches // PARTS):
                producer.produce(TOPIC, RECORD, partition=0)
                assert producer.flush(60) == 0
            found.append(cluster.resident_mb())
        return Growth(tuple(found), batches / (time.perf_counter() - began), batches // PARTS)


def steady(seconds: float) -> Iterator[tuple[str, str, str, str, str]]:
    """A row for each tenth of a recorded run with a producer and a consumer."""
    with TemporaryDirectory() as folder, served(
        SCENARIO + KEPT, options=("--rate", f"{RATE:g}", "--record", f"{folder}/recording")
    ) as cluster:  # fmt: skip
        producer = Producer(
            {"bootstrap.servers": cluster.servers, "acks": "all", "batch.num.messages": 1, "log_level": 0}
        )
        consumer = Consumer({
            "bootstrap.servers": cluster.servers, "group.id": "readers", "auto.offset.reset": "earliest",
            "session.timeout.ms": 60_000,
        })  # fmt: skip
        consumer.subscribe([TOPIC])
        began, sent, read = time.monotonic(), 0, 0
        for part in range(1, PARTS + 1):
            while (now_s := time.monotonic() - began) < seconds * part / PARTS:
                while sent < now_s * PER_S and len(producer) < MOST_WAITING:
                    producer.produce(TOPIC, os.urandom(50).hex())
                    sent += 1
                producer.poll(0.002)
                read += len(consumer.consume(500, 0.002))
            recorded = sum(file.stat().st_size for file in Path(folder, "recording").iterdir())
            yield f"{now_s:.0f}", f"{sent:,}", f"{read:,}", f"{cluster.resident_mb():.1f}", f"{recorded / 1e6:.1f}"
        consumer.close()


def grown(batches: int, checkouts: list[Path | None]) -> Iterator[tuple[str, str, Growth]]:
    for case, scenario in CASES.items():
        for checkout in checkouts:
            yield case, "this" if checkout is None else checkout.name, measured(scenario, batches, checkout)


def main() -> int:
    parser = parser_of("memory", __doc__)
    parser.add_argument("--batches", type=int, default=100_000)
    parser.add_argument("--checkout", type=Path, action="append", default=[], metavar="DIR")
    parser.add_argument("--steady", type=float, metavar="SECONDS")
    options = parser.parse_args()
    if options.steady is not None:
        rows = list(steady(options.steady))
        lines = [machine(f"python -m benchmarks.memory --steady {options.steady:g}"), "", *table(STEADY, rows)]
        return conclude("memory-steady", lines, [], write=options.write)
    found = list(grown(options.batches, [*options.checkout, None]))
    rows = [
        (case, code, f"{one.per_s:.0f}", " ".join(f"{mb:.0f}" for mb in one.mb), f"{one.bytes_a_batch:.0f}")
        for case, code, one in found
    ]
    lines = [machine(f"python -m benchmarks.memory --batches {options.batches}"), "", *table(HEADINGS, rows)]
    bounded = next(iter(CASES))
    problems = [
        f"{one.bytes_a_batch:.0f} bytes a batch where the log is bounded; at most {MOST_BYTES}"
        for case, code, one in found
        if (case, code) == (bounded, "this") and one.bytes_a_batch > MOST_BYTES
    ]
    return conclude("memory", lines, problems, write=options.write)


if __name__ == "__main__":
    sys.exit(main())
