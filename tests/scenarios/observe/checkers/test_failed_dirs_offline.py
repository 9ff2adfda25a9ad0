"""S18: a log directory in which a log cannot be recovered is not used."""

from __future__ import annotations

import pytest

from emulator.protocol import events as e
from emulator.protocol.shown import RecoveryFailed
from scenarios.observe.checkers.failed_dirs_offline import FailedDirsOffline
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory


def found(run: WrittenHistory) -> list[str]:
    run.world.now += 1_000_000
    run.checkers.look(run.world.now)
    return [violation.state for violation in run.violations()]


def failed() -> WrittenHistory:
    run = WrittenHistory(FailedDirsOffline.name)
    run.show(RecoveryFailed, 1, "/data/0")
    return run


def test_it_is_used_all_the_same() -> None:
    assert found(failed()) == ["broker 1 uses /data/0, and could not recover a log there"]


def test_it_is_offline_or_the_broker_has_ended() -> None:
    run = failed()
    run.emit(e.LogDirFailed, 1, "/data/0", "an error", 0, False)
    assert found(run) == []
    run = failed()
    run.emit(e.NodeCrashed, 1, 2, "process")
    assert found(run) == []


def test_a_replica_there_is_not_deleted() -> None:
    run = WrittenHistory(FailedDirsOffline.name)
    run.emit(e.ReplicaOffline, 1, *ORDERS_0)
    run.emit(e.ReplicaStopped, 1, *ORDERS_0, False)
    run.emit(e.ReplicaStopped, 2, *ORDERS_0, True)
    assert found(run) == []
    run.emit(e.ReplicaStopped, 1, *ORDERS_0, True)
    assert found(run) == [
        "orders-0: broker 1 says that it has deleted the replica, whose log directory has failed"
    ]  # fmt: skip


def test_another_one_is_offline() -> None:
    run = failed()
    run.emit(e.LogDirFailed, 1, "/data/1", "an error", 0, False)
    run.emit(e.LogDirFailed, 2, "/data/0", "an error", 0, False)
    assert len(found(run)) == 1


@pytest.mark.parametrize(("target", "count"), [("/data/0", 1), ("/data/1", 0)])
def test_a_copy_into_it_is_given_up(target: str, count: int) -> None:
    def copies() -> WrittenHistory:
        run = WrittenHistory(FailedDirsOffline.name)
        run.emit(e.CopyStarted, 1, *ORDERS_0, "/data/2", target, 0)
        run.emit(e.LogDirFailed, 1, "/data/0", "an error", 0, False)
        return run

    assert found(copies()) == ["orders-0: broker 1 goes on copying the replica into /data/0, which has failed"] * count
    run = copies()
    run.emit(e.CopyAbandoned, 1, *ORDERS_0, target, "offline")
    assert found(run) == []
