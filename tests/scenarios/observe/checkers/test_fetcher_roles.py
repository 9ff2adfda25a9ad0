"""F1 and F3: a replica leads, is fetched or has failed; and a failed replica waits for the next leader epoch."""

from typing import Any

import pytest

from emulator.protocol import events as e
from emulator.protocol.shown import FetchFenced
from scenarios.observe.checkers.failed_until_epoch import FailedUntilEpoch
from scenarios.observe.checkers.one_role import OneRole
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory


def fetches(run: WrittenHistory, node: int, offset: int = 0, *, leader: int = 0, epoch: int = 0) -> Any:
    return run.emit(e.FetchPosition, node, *ORDERS_0, leader, epoch, offset)


def fails(run: WrittenHistory, node: int, epoch: int = 0) -> Any:
    return run.emit(e.PartitionFailed, node, "ReplicaFetcherThread-0-0", *ORDERS_0, epoch, "append: I/O", "DiskError")


def one_role() -> WrittenHistory:
    return WrittenHistory(OneRole.name).begin()


def test_a_leader_that_fetches() -> None:
    run = one_role()
    found = fetches(run, 0, leader=1)
    [violation] = run.violations()
    assert (violation.seq, violation.state) == (
        found.seq, "orders-0: broker 0, leader of epoch 0, fetches from 1"
    )  # fmt: skip


def test_a_new_leader_that_goes_on_fetching() -> None:
    run = one_role()
    fetches(run, 1)
    run.leads(1, 1)
    assert run.violations()[0].state == "orders-0: broker 1 leads in epoch 1 and still fetches from 0"


def test_a_follower_of_two() -> None:
    run = one_role()
    fetches(run, 2)
    fetches(run, 2, leader=1)
    assert run.violations()[0].state == "orders-0: broker 2 fetches from 1, and still from 0"


def test_what_has_failed_and_is_fetched_on() -> None:
    run = one_role()
    fetches(run, 1)
    fails(run, 1)
    assert run.violations()[0].state == "orders-0: failed on broker 1, which goes on fetching it"


def test_one_role_after_the_other() -> None:
    run = one_role()
    fetches(run, 1)
    fetches(run, 1, 20)
    fetches(run, 1, -1)
    run.leads(1, 1)
    run.emit(e.BecameFollower, 1, *ORDERS_0, 2, 2, 0, 0)
    fetches(run, 1, leader=2)
    fetches(run, 1, -1, leader=2)
    fails(run, 1, 2)
    assert run.violations() == []


def test_a_crash_ends_every_role() -> None:
    run = one_role()
    fetches(run, 1)
    run.emit(e.NodeCrashed, 1, 1, "process")
    run.leads(1, 1)
    run.emit(e.NodeCrashed, 0, 1, "process")
    fetches(run, 0, leader=1)
    assert run.violations() == []


@pytest.mark.parametrize(("deleted", "broken"), [(True, []), (False, [OneRole.name])])
def test_a_deleted_replica_leads_no_more(deleted: bool, broken: list[str]) -> None:
    run = one_role()
    run.emit(e.ReplicaStopped, 0, *ORDERS_0, deleted)
    fetches(run, 0, leader=1)
    assert run.invariants() == broken


# -- F3 -------------------------------------------------------------------------------------------------------------


def failed_in(epoch: int) -> WrittenHistory:
    run = WrittenHistory(FailedUntilEpoch.name).begin()
    fails(run, 1, epoch)
    return run


@pytest.mark.parametrize(("epoch", "broken"), [(2, [FailedUntilEpoch.name]), (3, [FailedUntilEpoch.name]), (4, [])])
@pytest.mark.parametrize("leads", [False, True])
def test_only_a_later_epoch_brings_it_back(epoch: int, broken: list[str], leads: bool) -> None:
    run = failed_in(3)
    run.emit(e.PartitionFailureCleared, 1, *ORDERS_0, "epoch")
    _ = run.leads(1, epoch) if leads else fetches(run, 1, epoch=epoch)
    assert run.invariants() == broken


def test_the_text_of_the_violation() -> None:
    run = failed_in(3)
    back = fetches(run, 1, epoch=3)
    [violation] = run.violations()
    assert (violation.seq, violation.state) == (
        back.seq, "orders-0: failed on broker 1 in epoch 3 and is fetched again in epoch 3"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("isolates", "leader", "failed", "violations"),
    [(True, 0, True, 0), (True, 0, False, 1), (False, 0, False, 0), (True, 1, False, 0)],
    ids=["it fails", "it goes on", "before KIP-461", "a copy"],
)
def test_a_fetch_that_is_fenced(isolates: bool, leader: int, failed: bool, violations: int) -> None:
    run = WrittenHistory(FailedUntilEpoch.name, start=StartSettings(isolates_failures=isolates)).begin()
    run.show(FetchFenced, 1, leader, *ORDERS_0, 3)
    if failed:
        fails(run, 1, 3)
    run.checkers.look(run.world.now)
    assert len(run.violations()) == violations


def test_stop_replica_and_a_crash_reset_the_state() -> None:
    for between in ((e.PartitionFailureCleared, 1, *ORDERS_0, "stop-replica"), (e.NodeCrashed, 1, 1, "process")):
        run = failed_in(3)
        run.emit(*between)
        fetches(run, 1, epoch=3)
        assert run.violations() == []


def test_other_brokers_and_the_end_of_a_fetch_are_no_concern_of_it() -> None:
    run = failed_in(3)
    fetches(run, 2, epoch=3)
    fetches(run, 1, -1, epoch=3)
    assert run.violations() == []
