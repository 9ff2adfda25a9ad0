"""How far consumers are behind, and how long messages wait for them."""

from __future__ import annotations

from emulator.protocol.events import Consumed, ConsumerFailed, HighWatermark, PositionReset
from tests.scenarios.observe.measures.streams import Stream

TP = ("orders", 0)


def begun() -> Stream:
    """Consumer -9 begins at 0 after a second; the high watermark goes to 10 at 2 s and to 20 at 3 s."""
    stream = Stream()
    stream.at(1000).emit(PositionReset, -9, *TP, -1, 0, "start")
    for t_ms, offset in ((2000, 10), (3000, 20)):
        stream.at(t_ms).emit(HighWatermark, 0, *TP, True, 0, offset)
        stream.emit(HighWatermark, 1, *TP, False, 0, offset + 100)
    return stream


def consumes(stream: Stream, t_ms: int, offset: int, end: int) -> None:
    stream.at(t_ms).emit(Consumed, -9, *TP, offset, end, (1,), 0, 0, 20)


def test_lag_in_messages() -> None:
    stream = begun()
    consumes(stream, 4000, 0, 15)
    found = stream.finish(6000)
    rows = stream.measures.tables()["consumer_lag"]
    assert [(row.t_us, row.w_us, row.lag) for row in rows] == [
        (1_000_000, 1_000_000, 0), (2_000_000, 1_000_000, 10), (3_000_000, 1_000_000, 20), (4_000_000, 2_000_000, 5),
    ]  # fmt: skip
    assert found["consumer_lag_max"] == 20
    assert found["consumer_lag_p50"] == 5
    assert found["consumed_messages"] == 15


def test_delay_of_a_poll_counts_from_when_its_last_message_could_be_read() -> None:
    stream = begun()
    consumes(stream, 3500, 0, 10)
    consumes(stream, 4000, 10, 15)
    found = stream.finish(5000)
    assert [row.delay_us for row in stream.measures.tables()["consume"]] == [1_500_000, 1_000_000]
    assert found.metrics()["consume_p50_ms"] == 1250.0


def test_what_could_be_read_before_the_first_consumer_began_has_no_delay() -> None:
    stream = Stream()
    stream.at(500).emit(HighWatermark, 0, *TP, True, 0, 10)
    stream.at(1000).emit(PositionReset, -9, *TP, -1, 0, "start")
    consumes(stream, 1100, 0, 10)
    found = stream.finish(2000)
    assert found["consume_p50_us"] is None
    assert found["consumer_lag_max"] == 10, "the consumer has received 20"


def test_a_consumer_that_failed_has_no_lag() -> None:
    stream = begun()
    stream.at(3500).emit(ConsumerFailed, -9, *TP, 0, "out of range")
    stream.at(3600).emit(HighWatermark, 0, *TP, True, 0, 90)
    assert stream.finish(6000)["consumer_lag_max"] == 20


def test_a_high_watermark_that_falls_back_counts_from_when_it_comes_again() -> None:
    stream = begun()
    stream.at(3500).emit(HighWatermark, 2, *TP, True, 1, 5)
    stream.at(4000).emit(HighWatermark, 2, *TP, True, 1, 12)
    consumes(stream, 4100, 0, 12)
    stream.finish(5000)
    assert [row.delay_us for row in stream.measures.tables()["consume"]] == [100_000]


def test_runs_without_consumers_have_no_figures_of_them() -> None:
    stream = Stream()
    stream.emit(HighWatermark, 0, *TP, True, 0, 10)
    found = stream.finish(1000)
    assert (found["consumed_messages"], found["consume_p99_us"], found["consumer_lag_max"]) == (0, None, None)
