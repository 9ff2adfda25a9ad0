"""ProduceRequestTest.testProduceWithInvalidTimestamp (2.4.1), PlaintextProducerSendTest.testSendWithInvalidCreateTime
(1.1.1) and LogValidatorTest's cases of timestamps: which times a topic takes."""

import pytest

from emulator.protocol.errors import Errors
from emulator.protocol.records import APPEND_TIME, ProducedRecords, RecordHeader, varint, write_records
from scenarios.profiles import PROFILES
from tests.brokers.bench import TP, Bench, Line
from tests.brokers.requests.clients import NOW_MS, produce, records

MAX = "message.timestamp.difference.max.ms"
REJECTED = "One or more records have been rejected due to invalid timestamp"


def led(release: str = "kafka-3.3", **settings: str) -> Bench:
    """A leader whose clock says NOW_MS."""
    bench = Bench(PROFILES[release].policies.brokers)
    bench.at(NOW_MS * 1000)
    bench.lead()
    bench.manager.configured(f"topics/{TP.topic}", settings)
    return bench


def of_times(*times: int) -> ProducedRecords:
    """A batch of which each record has one of these times."""
    plain = write_records([(None, b"a")] * len(times), times[0])
    each = len(plain[61:]) // len(times)
    body = b""
    for place, time in enumerate(times):
        record = b"\0" + varint(time - times[0]) + plain[61 + place * each :][3:each]
        body += varint(len(record)) + record
    data = plain[:61] + body
    header = RecordHeader(0, len(times), times[0], max(times))
    return records(*[b"a"] * len(times), header=header, data=data, size=len(data))


def error(line: Line) -> Errors:
    [(_tp, found, _base)] = line.last.partitions
    return Errors(found)


@pytest.mark.parametrize(
    ("settings", "ages", "expected"),
    [
        ({}, [10**12, 0], Errors.NONE),
        ({MAX: "1000"}, [1000, -1000], Errors.NONE),
        ({MAX: "1000"}, [0, 1001, 5], Errors.INVALID_TIMESTAMP),
        ({MAX: "1000"}, [0, -1001], Errors.INVALID_TIMESTAMP),
        ({MAX: "1000", "message.timestamp.type": "LogAppendTime"}, [5000, 0], Errors.NONE),
        ({MAX: "0"}, [0, 0], Errors.NONE),
    ],
)
def test_which_times_are_taken(settings: dict[str, str], ages: list[int], expected: Errors) -> None:
    """testSendWithInvalidCreateTime, testSendWithInvalidBeforeAndAfterTimestamp,
    testValidBeforeAndAfterTimestamps(AtThreshold|WithinThreshold): as far off as the topic says, in both directions."""
    bench = led(**settings)
    assert error(produce(bench, of_times(*(NOW_MS - age for age in ages)))) is expected
    assert bench.partition.log_end_offset == (0 if expected else len(ages))


@pytest.mark.parametrize(
    ("release", "message", "places"),
    [
        ("kafka-1.1", "", []),
        ("kafka-2.3", "", []),
        ("kafka-2.4", f"Timestamp {NOW_MS - 1001} of message with offset 0 is out of range.", [0]),
        ("kafka-2.7", REJECTED, [0, 1, 2]),
        ("kafka-3.9", REJECTED, [0, 1, 2]),
    ],
)
def test_what_is_said_of_them(release: str, message: str, places: list[int]) -> None:
    """testProduceWithInvalidTimestamp: since 2.4 which record it is, since 2.5 all of them (KIP-467)."""
    line = produce(led(release, **{MAX: "1000"}), records(b"hello", b"there", b"beautiful", timestamp_ms=NOW_MS - 1001))
    assert error(line) is Errors.INVALID_TIMESTAMP
    (info,) = line.last.infos
    assert info.message.startswith(message)
    assert bool(info.message) is bool(message)
    assert [place for place, _why in info.record_errors] == places


def test_only_a_broker_says_that_the_append_gave_the_time() -> None:
    """LogValidator.validateTimestamp: a producer's batch has no records of LogAppendTime."""
    header = RecordHeader(APPEND_TIME, 1, NOW_MS, NOW_MS)
    assert error(produce(led(), records(b"a", header=header))) is Errors.INVALID_TIMESTAMP
