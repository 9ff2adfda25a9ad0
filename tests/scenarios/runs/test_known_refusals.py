"""Why a broker lacks what it was sent under a later broker epoch than it knew is recognized by its marks in the trace
(KAFKA-9839)."""

from __future__ import annotations

from emulator.protocol import events as e
from emulator.protocol.znodes import LeaderAndIsr, state_path
from emulator.trace.events import ZkWritten
from scenarios.runs import Run
from tests.scenarios.runs.building import TP
from tests.scenarios.runs.stated import LED, NOTHING_ASKED, stated
from tests.scenarios.runs.test_known_findings import quiet, tickets, told

__all__ = ["quiet"]


def test_a_broker_that_does_not_know_its_epoch_yet_refuses_to_delete_a_replica(quiet: Run) -> None:
    """kip-461, seed 214 of the default swarm."""
    stays = stated("converged", NOTHING_ASKED, 9, 9, "/admin/delete_topics/orders is still there")
    led = stated("converged", LED, 9, 9, "orders-0: no leader was ever elected")
    dead = stated("converged", LED, 9, 9, "orders-0: no leader, isr [0]")  # kafka-2.4, seed 41114
    wanted = ZkWritten(4, 4, 0, -1, "create", "/admin/delete_topics/orders", 0, 4, "")
    asks = e.ControlRequest(5, 5, 0, "StopReplica", 3, 1, 4, 84, 1, "orders-0 (delete)")
    refuses = e.ControlResponse(6, 6, 5, "StopReplica", 1, 3, 4, "UNKNOWN_SERVER_ERROR", (), ())
    again = asks._replace(seq=7), refuses._replace(seq=8, cause=7, error="NONE")
    assert tickets(told(quiet, "kafka-2.3", [wanted, asks, refuses], stays, led)) == ["KAFKA-9839"] * 2
    assert tickets(told(quiet, "kafka-2.3", [wanted, asks, refuses], dead)) == ["KAFKA-9839"]
    assert tickets(told(quiet, "kafka-2.6", [wanted, asks, refuses], stays, led)) == [None] * 2
    for events in (
        [asks, refuses],
        [wanted, asks],
        [wanted, asks, refuses, *again],
        [wanted, asks._replace(detail="others-0 (delete)"), refuses],
        [wanted, asks, refuses, wanted._replace(seq=7, op="delete")],
    ):
        assert tickets(told(quiet, "kafka-2.3", events, stays, led)) == [None] * 2
        assert tickets(told(quiet, "kafka-2.3", events, dead)) == [None]


def test_a_broker_that_has_refused_metadata_lacks_what_it_named(quiet: Run) -> None:
    """kafka-2.3, seed 40051 of the default swarm."""
    lacks = stated(
        "metadata_kept",
        "…",
        9,
        9,
        "broker 2: orders-0: nothing, and in ZooKeeper leader 1 of leader epoch 2",
        brokers=(2,),
    )
    elected = e.LeaderElected(2, 2, 0, *TP, 1, 2, (1, 2), "new", 1, unclean=False)
    refuses = e.ControlResponse(4, 4, 3, "UpdateMetadata", 2, 0, 1, "UNKNOWN_SERVER_ERROR", (), ())
    assert tickets(told(quiet, "kafka-2.3", [elected, refuses], lacks)) == ["KAFKA-9839"]
    assert tickets(told(quiet, "kafka-2.6", [elected, refuses], lacks)) == [None]
    for events in (
        [elected],
        [elected, refuses._replace(node=1)],
        [elected, refuses._replace(error="STALE_CONTROLLER_EPOCH")],
        [elected, refuses, e.NodeCrashed(5, 5, 0, 2, 0, "process")],
        [refuses, elected._replace(seq=5)],
    ):
        assert tickets(told(quiet, "kafka-2.3", events, lacks)) == [None]


def test_a_broker_that_has_refused_metadata_goes_on_with_what_it_knew(quiet: Run) -> None:
    """kafka-2.4, seed 127 of the default swarm: its session had expired, and its process lived."""
    knew = stated(
        "metadata_kept",
        "…",
        9,
        9,
        "broker 2: orders-0: leader 1 of leader epoch 0, and in ZooKeeper leader 1 of leader epoch 2",
        brokers=(2,),
    )
    elected = e.LeaderElected(2, 2, 0, *TP, 1, 2, (1, 2), "offline", 1, unclean=False)
    refuses = e.ControlResponse(4, 4, 3, "UpdateMetadata", 2, 0, 1, "UNKNOWN_SERVER_ERROR", (), ())

    def state(seq: int, epoch: int) -> ZkWritten:
        written = LeaderAndIsr(1, epoch, (1, 2), 1, 0)
        return ZkWritten(seq, seq, 0, 0, "setData", state_path(TP), 0, seq, written.encode())

    assert tickets(told(quiet, "kafka-2.4", [state(0, 0), state(1, 2), elected, refuses], knew)) == ["KAFKA-9839"]
    assert tickets(told(quiet, "kafka-2.5", [state(0, 0), state(1, 2), elected, refuses], knew)) == [None]
    for events in ([elected], [elected, refuses._replace(node=1)], [state(0, 1), elected, refuses, state(5, 2)]):
        assert tickets(told(quiet, "kafka-2.4", events, knew)) == [None]


def test_a_broker_that_refuses_metadata_keeps_its_role_until_it_knows_its_epoch(quiet: Run) -> None:
    """kafka-2.3, seed 78 of the default swarm: what the broker becomes after the finding excuses nothing and hides
    nothing."""
    leads = stated(
        "roles_adopted",
        "…",
        9,
        9,
        "orders-0: leader 1 of epoch 2 in ZooKeeper, and broker 2 leads, for 7.8 s",
        brokers=(2,),
    )
    led = e.BecameLeader(2, 2, 0, 2, *TP, 1, 5, 5, (1, 2), (1, 2), (), ())
    refuses = e.ControlResponse(4, 4, 3, "UpdateMetadata", 2, 0, 1, "UNKNOWN_SERVER_ERROR", (), ())
    takes = refuses._replace(seq=6, error="NONE")
    late = e.BecameFollower(12, 12, 0, 2, *TP, 1, 2, 5, 5)
    for events in ([led, refuses], [led, refuses, takes], [led, refuses, takes, late]):
        assert tickets(told(quiet, "kafka-2.3", events, leads)) == ["KAFKA-9839"]
        assert tickets(told(quiet, "kafka-2.6", events, leads)) == [None]
    for events in ([led, takes, late], [led, refuses, takes, late._replace(seq=7)]):
        assert tickets(told(quiet, "kafka-2.3", events, leads)) == [None]
