"""T7: what a broker says of its log directories is so."""

from __future__ import annotations

import pytest

from emulator.protocol.log_dirs import ReplicaInfo
from emulator.protocol.shown import LogDirsDescribed
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.log_dirs_true import LogDirsTrue
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

ORDERS_1 = TopicPartition("orders", 1)
CURRENT = ReplicaInfo(ORDERS_0, 500, 0, False)


@pytest.mark.parametrize(
    ("asked", "replicas", "found"),
    [
        ((ORDERS_0,), (CURRENT, ReplicaInfo(ORDERS_0, 0, 50, True)), ""),
        (None, (CURRENT,), ""),
        ((ORDERS_1,), (CURRENT,), "broker 1 describes orders-0, which it was not asked for"),
        (None, (CURRENT, CURRENT), "broker 1 has two current logs of orders-0"),
        (None, (ReplicaInfo(ORDERS_0, 0, 51, True),), "a copy of orders-0 on broker 1 is 51 behind 50"),
        (None, (ReplicaInfo(ORDERS_0, 0, 1, False),), "the log of orders-0 on broker 1 is 1 behind 0"),
        (None, (ReplicaInfo(ORDERS_1, 0, 51, True),), ""),
    ],
)
def test_what_is_described(
    asked: tuple[TopicPartition, ...] | None, replicas: tuple[ReplicaInfo, ...], found: str
) -> None:
    run = WrittenHistory(LogDirsTrue.name)
    run.loaded(1, 50)
    run.show(LogDirsDescribed, 1, asked, replicas)
    assert [violation.state for violation in run.violations()] == ([found] if found else [])
