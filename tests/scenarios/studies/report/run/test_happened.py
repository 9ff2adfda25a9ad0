"""The events to step through, and what is left out of too many."""

from __future__ import annotations

from emulator.protocol.events import Appended, Fault, IsrChanged, LeaderElected, Violated
from scenarios.studies.report.run.happened import happened

FAULT = Fault(1, 1, 0, "broker.crash", "1", "")
ISR = IsrChanged(2, 2, 1, 0, "orders", 0, 1, "shrink", (0,), 3)
ELECTED = LeaderElected(3, 3, 2, "orders", 0, 2, 1, (2,), "offline", 1, True)
BROKEN = Violated(4, 4, 3, "no_acked_record_lost", "lost")


def test_events_are_in_words_and_say_which_partition() -> None:
    append = Appended(2, 9, 0, 1, "orders", 0, True, 0, 1, 2, 1, 10)
    shown, left_out = happened([FAULT, ISR, append, ELECTED._replace(selector="new"), ELECTED, BROKEN])
    assert [(one.kind, one.partition) for one in shown] == [
        ("fault", ""), ("isr", "orders-0"), ("leader", "orders-0"), ("failure", ""),
    ]  # fmt: skip
    assert shown[0].text == "FAULT broker.crash 1"
    assert left_out == 0


def test_what_weighs_least_is_left_out_first() -> None:
    shown, left_out = happened([FAULT, ISR, ELECTED, BROKEN], most=3)
    assert [one.seq for one in shown] == [1, 3, 4]
    assert left_out == 1
