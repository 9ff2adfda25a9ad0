"""A test that fails says why in one assertion."""

import pytest

from brokers.partition.partition import Partition
from emulator.protocol.errors import Errors
from understudy.testing import NotInTime, cluster, in_virtual_time

ORDERS = {"orders": [[0, 1, 2]]}
NEVER = """\
not within 5s: c.leader('orders-0') == 2
at 13.009348 s of virtual time, seed 1
brokers: up 1, 2; down 0; controller 1, epoch 1
orders-0: leader 1, epoch 1, ISR [1, 2], replicas [0, 1, 2]
the last events:
     8.004703  broker 1 leads orders-0, epoch 1, log end 0, high watermark 0
     8.004703  ReplicaFetcherThread-0-0 on broker 1 ends (idle)
     8.004703  LeaderAndIsr <- 1: NONE (controller 1)
     8.005203  broker 2 follows 1 on orders-0, epoch 1, log end 0, high watermark 0
     8.005203  ReplicaFetcherThread-0-1 on broker 2 starts, from leader 1
     8.005203  ReplicaFetcherThread-0-0 on broker 2 ends (idle)
     8.005203  LeaderAndIsr <- 2: NONE (controller 1)
     8.005736  broker-failure.3 after, broker 0
     8.005736  LeaderAndIsr -> 1: orders-0 (controller 1, epoch 1)
     8.005736  LeaderAndIsr <- 1: NONE, 1 partition refused (controller 1)
     8.006703  LeaderAndIsr -> 2: orders-0 (controller 1, epoch 1)
     8.007203  LeaderAndIsr <- 2: NONE, 1 partition refused (controller 1)"""


def test_what_was_waited_for_never_came() -> None:
    @in_virtual_time(seed=1)
    async def fails() -> None:
        async with cluster(topics=ORDERS, controller=1, phases="aligned") as c:
            c.crash(0)
            await c.until(lambda: c.leader("orders-0") == 1)
            await c.until(lambda: c.leader("orders-0") == 2, within="5s")

    with pytest.raises(NotInTime) as caught:
        fails()
    assert str(caught.value) == NEVER


def test_an_assertion_in_a_condition_is_shown() -> None:
    @in_virtual_time
    async def fails() -> None:
        async with cluster(topics=ORDERS) as c:

            def everything_is_there() -> bool:
                """all three replicas moved"""
                assert c.replicas("orders-0") == [7], "not moved yet"
                return True

            await c.until(everything_is_there, within="1s")

    with pytest.raises(NotInTime) as caught:
        fails()
    assert str(caught.value).splitlines()[0] == "not within 1s: all three replicas moved"
    assert str(caught.value).splitlines()[1].startswith("the last time: not moved yet")


def test_the_test_s_own_exception_comes_out_with_a_note() -> None:
    @in_virtual_time(seed=9)
    async def fails() -> None:
        async with cluster(topics=ORDERS, controller=0) as c:
            assert c.leader("orders-0") == 2, "wrong leader"

    with pytest.raises(AssertionError, match=r"^wrong leader") as caught:
        fails()
    [note] = caught.value.__notes__
    first, second, third = note.splitlines()
    assert first.endswith("s of virtual time, seed 9")
    assert second == "brokers: up 0, 1, 2; controller 0, epoch 1"
    assert third == "orders-0: leader 0, epoch 0, ISR [0, 1, 2], replicas [0, 1, 2]"


def test_a_gate_that_nothing_reaches_fails_the_test() -> None:
    @in_virtual_time
    async def fails(wait: bool) -> None:
        async with cluster(topics=ORDERS, profile="kafka-2.4") as c:
            with c.gate("kip-455.B3", "after", "orders-0") as gate:
                if wait:
                    await gate.reached(within="2s")

    with pytest.raises(NotInTime, match=r"^nothing has reached step kip-455.B3, after, of orders-0$"):
        fails(wait=False)
    with pytest.raises(NotInTime, match=r"^nothing has reached step kip-455.B3, after, of orders-0 within 2s$"):
        fails(wait=True)


def test_a_cluster_that_does_not_settle_says_so() -> None:
    @in_virtual_time
    async def fails() -> None:
        async with cluster(topics=ORDERS) as c:
            with c.hold_controller():
                c.crash(2)
                await c.settled(within="3s")

    with pytest.raises(NotInTime, match=r"^not settled within 3s\n"):
        fails()


def acknowledge_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the guard that waits for the followers."""

    def at_once(_self: Partition, _required: int, _acks: int) -> tuple[bool, Errors]:
        return True, Errors.NONE

    monkeypatch.setattr(Partition, "check_enough_replicas_reach_offset", at_once)


def lose_a_record(checkers: bool) -> None:
    @in_virtual_time(seed=1)
    async def loses() -> None:
        async with cluster(topics=ORDERS, controller=2, checkers=checkers) as c:
            c.cut(1, 0)
            c.cut(2, 0)
            await c.produce("orders-0", records=3, within="5s")
            c.crash(0)
            await c.until(lambda: c.leader("orders-0") > 0)
            await c.settled()

    loses()


def test_a_violated_invariant_fails_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    acknowledge_at_once(monkeypatch)
    with pytest.raises(AssertionError, match="FAILED: no_acked_record_lost: ") as caught:
        lose_a_record(checkers=True)
    text = str(caught.value)
    assert ", seed 1\n" in text
    assert "replay it" not in text


def test_checkers_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    acknowledge_at_once(monkeypatch)
    lose_a_record(checkers=False)
