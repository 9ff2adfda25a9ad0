"""E10, F11, S19, R13: what is left at rest: work that nothing takes up again, and offsets of topics that are gone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from emulator.protocol import events as e
from emulator.protocol import znodes
from emulator.protocol.shown import DeletionWaits, Remembered
from emulator.trace.events import ZkWritten
from fetchers.quota import UNLIMITED
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0


def rests(run: Cluster, seconds: int, memories: dict[str, Any], node: int = 0) -> list[str]:
    """The findings where ``node`` remembers this, each two seconds."""
    for _ in range(seconds // 2):
        run.world.now += 2_000_000
        run.show(Remembered, node, "broker", "rest", memories)
    return [violation.state for violation in run.violations()]


def logs(rate: int = UNLIMITED, **memories: Any) -> dict[str, Any]:
    throttles = SimpleNamespace(rates=(UNLIMITED, rate))
    others: dict[str, Any] = {"logs": {}, "flushed": {}, "futures": (), "unwritten": {}, "unwatched": {}, "copies": {}}
    return others | {"throttles": throttles} | memories


@pytest.mark.parametrize("work", ["retention", "compaction"])
def test_a_log_that_periodic_work_has_forgotten(work: str) -> None:
    run = Cluster("logs_reload")
    run.passes(20)
    [found] = rests(run, 4, logs(unwatched={ORDERS_0: work}))
    assert f"no more of {work}" in found


@pytest.mark.parametrize(("moves", "count"), [(False, 1), (True, 0)])
def test_a_high_watermark_that_no_checkpoint_has(moves: bool, count: int) -> None:
    run = Cluster("logs_reload")
    run.passes(20)
    if moves:
        run.high_watermark(0, 10, leader=True)
    assert len(rests(run, 4, logs(unwritten={ORDERS_0: 10}))) == count


@pytest.mark.parametrize(
    ("happens", "rate", "count"), [("", UNLIMITED, 1), ("", 1000, 0), ("follows", UNLIMITED, 0), ("ends", UNLIMITED, 0)]
)
def test_a_copy_that_stands_still(happens: str, rate: int, count: int) -> None:
    run = Cluster("logs_reload")
    run.emit(e.CopyStarted, 0, *ORDERS_0, "d0", "d1", 0)
    if happens == "follows":
        run.follows(0, 1, 2)
    run.passes(20)
    copies = {} if happens == "ends" else {ORDERS_0: 10}
    assert len(rests(run, 10, logs(rate, copies=copies))) == count


@pytest.mark.parametrize(("write", "count"), [("", 0), ("setData", 1), ("create", 0)])
def test_settings_of_a_topic_that_is_gone(write: str, count: int) -> None:
    """kafka-2.3, seed 20106: a creation of the topic has written them, and its controller's session has ended."""
    run = Cluster("gone_topics_forgotten")
    run.assigned((0, 1))
    run.emit(ZkWritten, 3, "delete", znodes.topic_path("orders"), 0, 0, "")
    if write:
        run.emit(ZkWritten, 3, write, f"{znodes.CONFIG_TOPICS}/orders", 0, 0, "")
    run.passes(20)
    nothing: dict[str, Any] = {"replicas": {}, "directories": {}, "metadata": {}, "left_files": (), "discarded": ()}
    found = rests(run, 4, {**nothing, "committed_for": ()}, node=3)
    assert len(found) == count


@pytest.mark.parametrize(
    ("silent_us", "happens", "count"),
    [
        (60_000_000, "", 1),
        (500_000, "", 0),
        (-1, "", 1),
        (60_000_000, "is cut off", 0),
        (60_000_000, "has died", 0),
        (-1, "is throttled", 0),
        (60_000_000, "follows another", 0),
    ],
)
def test_a_follower_that_fetches_no_more(silent_us: int, happens: str, count: int) -> None:
    run = Cluster("fetchers_fit")
    run.emit(e.FetchPosition, 1, *ORDERS_0, 2 if happens == "follows another" else 0, 0, 0)
    if happens == "has died":
        run.emit(e.FetcherStopped, 1, "ReplicaFetcherThread-0-0", 0, "died", "orders", 0, "DiskError")
    if happens == "is throttled":
        run.emit(ZkWritten, 0, "setData", "/config/topics/orders", 0, 0, "throttled.replicas")
    run.passes(60)
    if happens == "is cut off":
        run.routes(1, 0, cut=True)
    memories: dict[str, Any] = {"replicas": {}, "fetched": {}, "followers": {ORDERS_0: {1: silent_us}}}
    assert len(rests(run, 12, memories)) == count


@pytest.mark.parametrize(("happens", "count"), [("", 1), ("changes", 0), ("is behind", 0)])
def test_a_deletion_that_waits_for_nothing(happens: str, count: int) -> None:
    run = Cluster("deletions_complete")
    run.passes(10)
    run.show(DeletionWaits, 0, *ORDERS_0, 0, 5)
    if happens == "changes":
        run.dies(2)
    found = rests(run, 4, {"deletions": {ORDERS_0: (4 if happens == "is behind" else 5, 5)}})
    assert len(found) == count


@pytest.mark.parametrize(("happens", "count"), [("", 1), ("commits", 0), ("loads", 0)])
def test_offsets_of_a_topic_that_is_gone(happens: str, count: int) -> None:
    run = Cluster("gone_topics_forgotten")
    run.assigned((0, 1))
    run.emit(e.GroupsLoaded, 0, "__consumer_offsets", 0, 1, 1, 1)
    run.emit(ZkWritten, 0, "create", znodes.delete_topic_path("orders"), 0, 0, "")
    if happens == "commits":
        run.emit(e.OffsetsCommitted, 0, "readers", "m", 1, "NONE", ("orders",), (0,), (10,))
    elif happens == "loads":
        run.emit(e.GroupsLoaded, 0, "__consumer_offsets", 0, 2, 1, 1)
    run.emit(ZkWritten, 0, "delete", znodes.topic_path("orders"), 0, 0, "")
    run.emit(ZkWritten, 0, "delete", znodes.delete_topic_path("orders"), 0, 0, "")
    run.passes(20)
    memories: dict[str, Any] = {"replicas": {}, "directories": {}, "metadata": {}, "left_files": (), "discarded": ()}
    found = rests(run, 4, {**memories, "committed_for": ("orders",)})
    assert len(found) == count
