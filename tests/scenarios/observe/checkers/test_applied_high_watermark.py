"""S9: the latest offset that a new leader answers with."""

import pytest

from emulator.protocol.events import LatestOffsetReturned
from scenarios.observe.checkers.applied_high_watermark import AppliedHighWatermark
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory


@pytest.mark.parametrize(("offset", "found"), [(20, []), (30, []), (19, [AppliedHighWatermark.name])])
def test_less_than_its_predecessor_may_have_answered(offset: int, found: list[str]) -> None:
    run = WrittenHistory(AppliedHighWatermark.name).begin()
    run.everywhere(0, 1)
    run.everywhere(10, 2)
    run.state(1, (1, 2), 1)
    run.leads(1, 1, 10, 20)
    run.emit(LatestOffsetReturned, 1, *ORDERS_0, offset)
    assert run.invariants() == found
