"""The fetch loop of one thread: positions, delays, a lost leader, stale answers, and work that is due but hidden in a
long poll (kafka-behaviour §8.2)."""

from types import MappingProxyType
from unittest.mock import Mock

import pytest
from attrs import fields

from brokers.log.leader_epoch_cache import NO_EPOCHS
from emulator.kernel import Signal
from emulator.protocol.errors import Errors
from emulator.protocol.events import FetchPosition
from emulator.protocol.fetch import FetchRequest
from emulator.protocol.offsets_for_leader_epoch import ListOffsetsRequest, OffsetsForLeaderEpochRequest
from emulator.protocol.shown import Deviated
from fetchers.partitions import Partitions
from fetchers.thread import FetcherRounds, FetcherThread
from fetchers.throttle import FollowerThrottle
from tests.fetchers.rig import LATENCY_US, A, B, Rig, play, write


def test_follows_its_leader_and_learns_the_high_watermark() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0, 0, 0)
        rig.leader.marks[A] = 2
        rig.add(A)
        await rig.rest()
        assert rig.equal(A)
        assert rig.replicas[A].high_watermark == 2
        write(rig.leader.logs[A], 0)
        rig.leader.marks[A] = 3
        await rig.rest()
        assert (rig.replicas[A].log_end_offset, rig.replicas[A].high_watermark) == (4, 3)

    play(scenario)


@pytest.mark.parametrize(("asks", "told"), [(True, [0, 0, 2]), (False, [0, 0])])
def test_a_follower_says_again_where_its_log_begins_if_its_leader_asks(asks: bool, told: list[int]) -> None:
    """Kafka's followers say it always; what waits for it is a request to delete records."""

    async def scenario(rig: Rig) -> None:
        rig.leader.asks_starts = asks
        rig.leader.leads(A, 0, 0, 0)
        rig.add(A)
        await rig.rest()
        rig.leader.logs[A].raise_start_to(2)
        rig.leader.marks[A] = 2  # something to answer
        await rig.rest(1_500)
        named = [wanted for request in rig.leader.requests(FetchRequest) for wanted in request.partitions]
        assert [wanted.log_start_offset for wanted in named if wanted.fetch_offset in (0, 3)] == told

    play(scenario)


def test_a_session_names_a_partition_only_when_its_position_changed() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0)
        rig.leader.leads(B)
        rig.add(A, B)
        await rig.rest(1_500)
        named = [tuple(wanted.tp for wanted in r.partitions) for r in rig.leader.requests(FetchRequest)]
        assert named[0] == (A, B)
        assert named[1] == (A,)
        assert set(named[2:]) == {()}
        rig.manager.remove_fetcher_for_partitions([B])
        await rig.rest(600)
        forgotten = [request.forgotten for request in rig.leader.requests(FetchRequest)]
        assert [gone for gone in forgotten if gone] == [(B,)]

    play(scenario)


def test_after_a_lost_session_the_next_request_names_all_partitions() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0)
        rig.leader.leads(B, 0)
        rig.add(A, B)
        await rig.rest()
        rig.leader.lines[-1].session = 77  # the leader has dropped it
        await rig.rest(600)
        write(rig.leader.logs[A], 0)
        write(rig.leader.logs[B], 0)
        await rig.rest(600)
        assert rig.equal(A)
        assert rig.equal(B)

    play(scenario)


def test_a_lost_leader_costs_two_back_offs() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0)
        rig.add(A)
        await rig.rest()
        rig.leader.down = True
        await rig.rest(600)
        failed = [request for request in rig.leader.asked if isinstance(request, FetchRequest)]
        rig.leader.down = False
        write(rig.leader.logs[A], 0)
        await rig.rest(1_300)
        assert not rig.equal(A)
        assert len(rig.leader.requests(FetchRequest)) == len(failed)
        await rig.rest(700)
        assert rig.equal(A)

    play(scenario)


def test_a_partition_added_while_the_leader_is_lost_is_not_delayed() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0)
        rig.leader.leads(B, 0)
        rig.add(A)
        await rig.rest()
        rig.leader.down = True
        await rig.rest(700)
        rig.leader.down = False
        write(rig.leader.logs[A], 0)
        rig.add(B)
        await rig.rest()
        assert rig.equal(B)
        assert not rig.equal(A)
        assert (rig.thread.states[A].delayed_until_us > 0, rig.thread.states[B].delayed_until_us) == (True, 0)

    play(scenario)


def test_a_partition_removed_while_its_leader_is_lost_is_not_fetched_from_it_again() -> None:
    async def scenario(rig: Rig) -> None:
        for tp in (A, B):
            rig.leader.leads(tp, 0)
        rig.add(A, B)
        await rig.rest()
        rig.leader.down = True
        await rig.rest(1_700)  # the first back-off is over, and the partitions are delayed
        assert rig.rounds.partitions.all_delayed_until_us
        rig.manager.remove_fetcher_for_partitions([A])
        assert rig.thread.states[B].delayed_until_us > 0
        rig.leader.down = False
        write(rig.leader.logs[A], 0)
        write(rig.leader.logs[B], 0)
        before = len(rig.leader.requests(FetchRequest))
        await rig.rest(2_000)
        assert rig.equal(B)
        assert [w.tp for r in rig.leader.requests(FetchRequest)[before:] for w in r.partitions][:1] == [B]
        assert not rig.equal(A)

    play(scenario)


def test_a_back_off_ends_by_a_clock_that_shows_a_time_before_the_start() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0)
        rig.add(A)
        await rig.rest()
        node, shown = rig.manager.process.node, list[Deviated]()
        node.trace.fold(Deviated, shown.append)
        node.skew_us = -600_000_000
        rig.leader.down = True
        await rig.rest(1_700)
        assert rig.rounds.partitions.all_delayed_until_us < 0
        rig.leader.down = False
        write(rig.leader.logs[A], 0)
        await rig.rest(2_000)
        assert rig.equal(A)
        assert shown == []  # the clock was right while it waited

    play(scenario)


def test_a_back_off_of_a_clock_that_was_set_back_ends_soon_after_it_is_set_right() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0)
        rig.add(A)
        await rig.rest()
        rig.leader.down = True
        await rig.rest(1_700)
        node, shown = rig.manager.process.node, list[Deviated]()
        node.trace.fold(Deviated, shown.append)
        node.skew_us = -600_000_000
        await rig.rest(2_000)
        rig.leader.down = False
        write(rig.leader.logs[A], 0)
        await rig.rest(2_000)
        assert not rig.equal(A)
        assert {(one.ticket, one.topic, one.partition) for one in shown} == {("DelayedItem.getDelay", *A)}
        assert len(shown) == 4  # once in a back-off
        node.skew_us = 0
        await rig.rest(1_100)
        assert rig.equal(A)

    play(scenario)


def test_a_leader_that_stays_lost_is_asked_for_all_partitions_each_time() -> None:
    async def scenario(rig: Rig) -> None:
        for tp in (A, B):
            rig.leader.leads(tp, 0)
        rig.add(A, B)
        await rig.rest()
        rig.leader.down = True
        await rig.rest(10_000)
        attempts = [[w.tp for w in r.partitions] for r in rig.leader.asked if isinstance(r, FetchRequest)][-3:]
        assert attempts == [[A, B]] * 3
        rig.leader.down = False
        write(rig.leader.logs[A], 0)
        write(rig.leader.logs[B], 0)
        await rig.rest(2_100)
        assert rig.equal(A)
        assert rig.equal(B)

    play(scenario)


def test_a_partition_that_waits_for_truncation_is_delayed_with_its_lost_leader() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A)
        rig.leader.leads(B, 0)
        rig.replica(B, 0)
        rig.add(A)
        await rig.rest()
        rig.leader.hold = Signal(rig.world)
        await rig.rest(600)  # a fetch is on its way
        rig.leader.down = True
        rig.add(B)
        rig.leader.hold.set()
        await rig.rest(990)
        assert not rig.leader.requests(OffsetsForLeaderEpochRequest)
        assert rig.thread.states[B].truncating

    play(scenario)


def test_a_delay_is_not_prolonged_by_another_error() -> None:
    async def scenario(rig: Rig) -> None:
        for tp in (A, B):
            rig.leader.leads(tp, 0)
        rig.leader.errors[A] = Errors.NOT_LEADER_FOR_PARTITION
        rig.add(A, B)
        await rig.rest(20)
        until = rig.thread.states[A].delayed_until_us
        assert until > 0
        rig.leader.down = True
        await rig.rest(1_600)
        a, b = rig.thread.states[A], rig.thread.states[B]
        assert (until, a.delayed_until_us) == (until, 0)
        assert b.delayed_until_us > until

    play(scenario)


def test_an_answer_to_a_position_that_has_changed_is_ignored() -> None:
    async def scenario(rig: Rig) -> None:
        positions = rig.see(FetchPosition)
        rig.leader.leads(A, 0)
        rig.add(A)
        await rig.rest()
        rig.leader.hold = hold = Signal(rig.world)
        await rig.rest(600)  # a fetch is on its way
        write(rig.leader.logs[A], 0)
        rig.manager.remove_fetcher_for_partitions([A])
        rig.leader.epochs[A] = 1
        rig.add(A, epoch=1)
        rig.leader.hold = None
        hold.set()
        await rig.world.sleep(0)
        assert rig.replicas[A].log_end_offset == 1
        await rig.rest()
        assert rig.equal(A)
        assert [event.offset for event in positions] == [0, -1, 1]

    play(scenario)


def test_an_answer_is_ignored_too_if_the_epoch_changes_while_another_answer_is_dealt_with() -> None:
    """A is out of range, which takes a question of its own; meanwhile B gets a new leader epoch."""

    async def scenario(rig: Rig) -> None:
        rig.replica(A, 0, 0, high_watermark=2).log.epochs = NO_EPOCHS
        rig.leader.leads(A, 0)
        rig.leader.leads(B, 0)
        rig.add(A, B)
        while not rig.leader.requests(ListOffsetsRequest):
            await rig.world.sleep(LATENCY_US // 2)
        rig.leader.epochs[B] = 1
        rig.add(B, epoch=1)
        rig.leader.hold = hold = Signal(rig.world)
        await rig.rest()
        hold.set()
        rig.leader.hold = hold = Signal(rig.world)
        await rig.rest()
        assert rig.equal(A)
        assert rig.replicas[B].log_end_offset == 0
        hold.set()
        await rig.rest()
        assert rig.equal(A)
        assert rig.equal(B)

    play(scenario)


def test_nothing_of_a_thread_leads_to_its_partitions_without_rousing_what_is_parked() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A)
        rig.add(A)
        values = [getattr(rig.thread, each.name) for each in fields(FetcherThread)]
        assert not [one for one in values if isinstance(one, FetcherRounds | Partitions | FollowerThrottle | dict)]
        assert isinstance(rig.thread.states, MappingProxyType)
        poll = Mock()
        rig.manager.process.parked.add(poll)
        assert A in rig.rounds.partitions.states
        poll.rouse.assert_called_once()

    play(scenario)
