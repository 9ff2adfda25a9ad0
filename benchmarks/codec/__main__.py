"""``python -m benchmarks.codec [--write]``: what it costs to write and to read messages of Kafka's protocol, against
kio and kafka-python, in the same process and in turn.

CPU time; medians of ``--repeats`` rounds. Ours is with the header and from a dict that is built before; the others are
without a header, from an entity or a message that is built before. The bytes are compared first.

Exit code 1 where bytes differ, or where we write more slowly than one of the others.
"""

import io
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from crc32c import crc32c
from kio.index import load_request_schema, load_response_schema
from kio.serial import entity_reader, entity_writer

from benchmarks.codec.cases import BATCH, CASES, Case
from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.tables import table
from scenarios.wire.codec import APIS, decode_request, decode_response, encode_request, encode_response
from scenarios.wire.codec.records import placed, read_batches

Call = Callable[[], Any]
WAYS = ("ours", "kio", "kafka-python")


def ours(case: Case) -> tuple[Call, Call]:
    """Writes and reads, of this codec."""
    if case.kind == "request":
        frame = encode_request(case.api_key, case.version, 1, "app", case.body)
        return (
            lambda: encode_request(case.api_key, case.version, 1, "app", case.body),
            lambda: decode_request(frame),
        )
    frame = encode_response(case.api_key, case.version, 1, case.body)
    return (
        lambda: encode_response(case.api_key, case.version, 1, case.body),
        lambda: decode_response(case.api_key, case.version, frame),
    )


def body_of(case: Case) -> bytes:
    """The bytes behind the header."""
    frame: bytes = ours(case)[0]()
    flexible = case.version in APIS[case.api_key].flexible
    return frame[(13 if case.kind == "request" else 4) + flexible :]


def kio(case: Case, body: bytes) -> tuple[Call, Call]:
    load: Any = load_request_schema if case.kind == "request" else load_response_schema
    entity: Any = load(case.api_key, case.version)
    read, write = entity_reader(entity), entity_writer(entity)
    made, _ = read(body, 0)

    def written() -> bytes:
        out = io.BytesIO()
        write(out, made)
        return out.getvalue()

    return written, lambda: read(body, 0)


def kafka_python(case: Case, body: bytes) -> tuple[Call, Call]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # its reading of its own resources is deprecated
        from kafka.protocol import consumer, metadata, producer
    name = APIS[case.api_key].name + case.kind.capitalize()
    message = next(getattr(each, name) for each in (consumer, metadata, producer) if hasattr(each, name))
    made = message.decode(body, version=case.version)
    return made.encode, lambda: message.decode(body, version=case.version)


def medians(calls: list[Call], count: int, repeats: int) -> list[float]:
    """Microseconds of one call of each, all of them in turn."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats):
        for call, found in zip(calls, times, strict=True):
            start = time.process_time_ns()
            for _ in range(count):
                call()
            found.append((time.process_time_ns() - start) / count / 1000)
    return list(map(statistics.median, times))


def rows_of(case: Case, repeats: int, problems: list[str]) -> Iterator[str]:
    body = body_of(case)
    ways = [ours(case), kio(case, body), kafka_python(case, body)]
    problems += [
        f"{way} writes other bytes for {case.name}"
        for way, (write, _) in zip(WAYS[1:], ways[1:], strict=True)
        if write() != body
    ]
    writes = medians([write for write, _ in ways], case.calls, repeats)
    reads = medians([read for _, read in ways], case.calls, repeats)
    problems += [
        f"{case.name} is written in {writes[0]:.1f} µs, by {way} in {other:.1f} µs"
        for way, other in zip(WAYS[1:], writes[1:], strict=True)
        if other < writes[0]
    ]
    yield case.name
    yield from (f"{value:.1f}" for pair in zip(writes, reads, strict=True) for value in pair)


def main() -> int:
    options = parser_of("codec", __doc__, repeats=5).parse_args()
    problems: list[str] = []
    rows = [list(rows_of(case, options.repeats, problems)) for case in CASES]
    heads = ["µs", *(f"{way}, {what}" for way in WAYS for what in ("write", "read"))]
    view = memoryview(BATCH)
    batch = medians(
        [lambda: read_batches(BATCH), lambda: crc32c(view[21:]), lambda: placed(BATCH, 1000, 3)],
        20_000,
        options.repeats,
    )
    lines = [
        machine("python -m benchmarks.codec --write"),
        "",
        f"CPU time, medians of {options.repeats} rounds, all in turn in one process; load of the machine meanwhile:",
        f"{os.getloadavg()[0]:.1f}. Ours with the header of the frame, the others without; all write the same bytes.",
        "",
        *table(heads, rows),
        "",
        f"A record batch of {len(BATCH):,} bytes: header and checksum {batch[0]:.1f} µs, of which the checksum takes",
        f"{batch[1]:.1f} µs; base offset and leader epoch {batch[2]:.1f} µs.",
    ]
    return conclude("codec", lines, problems, write=options.write)


if __name__ == "__main__":
    sys.exit(main())
