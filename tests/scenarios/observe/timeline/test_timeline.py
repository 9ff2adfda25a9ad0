"""The timeline, line by line against golden files; and what it shows when less is asked for.

After a wanted change: ``UPDATE_GOLDEN=1 python -m pytest tests/scenarios/observe/timeline`` and read the difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from emulator.protocol import events as e
from emulator.trace import events as ground
from scenarios.errors import BadInput
from scenarios.observe.timeline.log_changes import METRICS
from scenarios.observe.timeline.timeline import WIDTH, lines
from scenarios.observe.timeline.words import words
from tests.scenarios.observe.timeline.small_run import ORDERS_0, small_run

GOLDEN = Path(__file__).parent
LINE = re.compile(r" +(\d+)\.\d{6} +(\d+)  ")


def same_as_golden(name: str, shown: list[str]) -> None:
    path = GOLDEN / name
    text = "\n".join(shown) + "\n"
    if "UPDATE_GOLDEN" in os.environ:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_what_a_leader_of_the_past_acknowledges_is_summarised() -> None:
    """One line for each of hundreds of batches would hide what happens."""
    lost = ("orders", 0, 1, False, False, 1, 10)
    events = [
        e.NodeStarted(1, 1, 0, 0, 1),
        *(
            event
            for number in range(2, 8, 2)
            for event in (
                e.Produced(number, number, 0, -2, "orders", 0, number, 1, "NONE", 0, 10, 0, 5, 1, "acked"),
                e.AckedLost(number, number + 1, number, *lost, number, 0, 10, 1, 1, 0),
            )
        ),
    ]
    assert list(lines(events))[-1].endswith("0 batches in 1 partition; 3 acked; 3 LOST although acked (acks=1)")


def test_the_slowest_of_the_batches_that_waited_is_named() -> None:
    """A request of acks=all that is in flight when the leader moves away is answered after 30 s."""
    start = e.NodeStarted(1, 1, 0, 0, 1)
    answered = [
        e.Produced(t_us, t_us, 0, -2, "orders", 0, t_us, -1, "NONE", 0, 10, 0, latency_us, 1, "acked")
        for t_us, latency_us in ((2, 30_107_000), (3, 30_106_000), (4, 2_000))
    ]
    slowest, rest = list(lines([start, *answered]))[-2:]
    assert "after 30.107 s client -2: batch 2 for orders-0 acknowledged by 0" in slowest
    assert rest.endswith("0 batches in 1 partition; 3 acked")
    assert list(lines([start, answered[-1]]))[-2].endswith("start of broker 0 (incarnation 1)"), "2 ms are no wait"


def test_one_partition() -> None:
    same_as_golden("orders-0.txt", list(lines(small_run(), ORDERS_0)))


def test_the_whole_cluster() -> None:
    same_as_golden("cluster.txt", list(lines(small_run())))


@pytest.mark.parametrize("partition", [None, ORDERS_0])
def test_every_line_is_aligned_and_carries_its_event(partition: None) -> None:
    seqs = [event.seq for event in small_run()]
    title, heading, *shown = lines(small_run(), partition)
    column = heading.index("event")
    found = []
    for line in shown:
        match = LINE.match(line)
        assert match is not None
        found.append(int(match[2]))
        assert line[column - 1] == " "
        assert line[column] != " "
    assert found == sorted(found)
    assert set(found) <= set(seqs)
    assert all(len(line) <= WIDTH for line in (title, heading, *shown))


def test_a_name_will_do() -> None:
    assert list(lines(small_run(), "orders-0")) == list(lines(small_run(), ORDERS_0))


@pytest.mark.parametrize(
    ("partition", "message"),
    [
        ("orders", "'orders' is not a partition; write TOPIC-NUMBER"),
        ("orders-7", "unknown partition 'orders-7'; the trace has: orders-0"),
    ],
)
def test_a_partition_that_is_not_there(partition: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        lines(small_run(), partition)


def shown_times(shown: list[str]) -> list[float]:
    return [float(line[:13]) for line in shown[2:]]


def test_a_span_of_time_begins_with_the_roles_of_that_moment() -> None:
    shown = list(lines(small_run(), ORDERS_0, from_us=5_004_000, to_us=11_000_000))
    assert shown_times(shown)[0] == 5.004
    assert shown_times(shown)[-1] == 11.0
    assert " L  I  I  f  f  f [.]" in shown[2]


def test_the_ends_of_a_span_belong_to_it() -> None:
    shown = list(lines(small_run(), ORDERS_0, from_us=5_006_000, to_us=5_006_000))
    assert [line.split("  ")[-1].strip() for line in shown[2:]] == [
        "FAULT controller.crash 6 (process)",
        "crash of broker 6 (process)",
    ]


def test_around_a_fault() -> None:
    times = shown_times(list(lines(small_run(), ORDERS_0, around_fault=2)))
    assert (times[0], times[-1]) == (0.03, 5.006), "5 s before and after 5.006 s"
    assert shown_times(list(lines(small_run(), around_fault=4)))[0] == 20.0


def test_a_fault_that_did_not_happen() -> None:
    with pytest.raises(BadInput, match="there is no fault 9; faults are numbered 1 to 4"):
        lines(small_run(), around_fault=9)
    with pytest.raises(BadInput, match="this run had none"):
        lines(small_run()[:5], around_fault=1)


def test_given_columns_need_no_list() -> None:
    assert list(lines(iter(small_run()), brokers=range(7))) == list(lines(small_run()))


def test_many_brokers_leave_room_for_words() -> None:
    events = [e.NodeStarted(0, broker + 1, 0, broker, 1) for broker in range(98, 140)]
    for line in list(lines(events))[2:]:
        assert line.endswith("(incarnation 1)")


def test_no_events() -> None:
    assert len(list(lines([]))) == 2


KINDS = [
    kind
    for module in (e, ground)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields") and kind not in METRICS
    if not hasattr(kind, "rows")  # a timeline is given the rows
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_of_event_has_words(kind: type) -> None:
    values = {str: "text", int: 3, bool: True, tuple[int, ...]: (1, 2), tuple[str, ...]: ("a", "b")}
    event = kind(*(values[kind.__annotations__[name]] for name in kind._fields))  # type: ignore[attr-defined]
    told = words(event)
    assert told
    assert not told.startswith(kind.__name__ + " "), "only unknown kinds show their fields"
    assert "\n" not in told
