"""ISRs that the controller changes: the leader's states (Partition, 2.7.2) and the requests (AlterIsrManager)."""

from typing import Any, cast

import pytest
from attrs import define, field

from brokers.broker_config import BrokerConfig
from brokers.broker_policies import BrokerPolicies
from brokers.partition.isr import AlterIsrItem, ByController
from brokers.replica_manager.alter_isr import INTERVAL_US, DefaultAlterIsrManager, IsrChangePropagation
from emulator.kernel import Mailbox, World
from emulator.nodes import Process
from emulator.protocol.alter_isr import AlterIsrRequest, AlterIsrResponse
from emulator.protocol.errors import Errors
from emulator.protocol.events import IsrChanged, IsrUpdateFailed
from emulator.protocol.shown import Deviated
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest
from emulator.protocol.znodes import LeaderAndIsr
from emulator.zookeeper import ZkClient, ZkCode
from tests.brokers.bench import LAG, MS, TP, Bench, caught_up, state
from tests.brokers.one_process import play

OTHER = TopicPartition("t", 1)
PARTITION = PartitionMetadata(TP, 1, 0, 0, (0,), 0, (0, 1, 2), ())


@define(eq=False)
class NotedAlterIsr:
    """Records the changes that leaders want."""

    wanted: list[AlterIsrItem] = field(factory=list)
    cleared: list[TopicPartition] = field(factory=list)

    full: bool = False

    def start(self) -> None: ...

    def accepts(self, _tp: TopicPartition, _again: object) -> bool:
        return not self.full

    def submit(self, item: AlterIsrItem) -> None:
        self.wanted.append(item)

    def isrs(self) -> list[tuple[int, ...]]:
        return [item.leader_and_isr.isr for item in self.wanted]

    def clear(self, tp: TopicPartition) -> None:
        self.cleared.append(tp)


def asking(min_insync: int = 1) -> tuple[Bench, NotedAlterIsr]:
    config = BrokerConfig(replica_lag_time_max_us=LAG, min_insync_replicas=min_insync)
    noted = NotedAlterIsr()
    bench = Bench(BrokerPolicies(config, isr_writes=ByController()), alter_isr=noted)
    bench.at(5_000 * MS)
    return bench, noted


# -- the leader ------------------------------------------------------------------------------------------------------


def test_while_an_expansion_is_pending_the_joining_replica_counts() -> None:
    bench, noted = asking()
    partition = bench.lead(0, isr=(0,), version=4)
    follower = bench.follower(1)
    follower.at(0)
    assert noted.isrs() == [(0, 1)]
    assert partition.isr == (0,), "the controller has not answered"
    line = bench.produce(acks=-1)
    assert partition.high_watermark == 0
    assert not line.replies
    follower.at(1)
    assert partition.high_watermark == 1, "which goes on meanwhile"
    assert line.last.partitions == ((TP, Errors.NONE, 0),)


def test_the_larger_set_counts_for_min_insync_replicas_once_appended() -> None:
    """Before the append the committed one does (Partition.appendRecordsToLeader, 2.7)."""
    bench, noted = asking(min_insync=2)
    bench.lead(0, isr=(0, 1), version=4)
    one, _two = caught_up(bench, 1, 2)
    line = bench.produce(acks=-1)
    assert noted.isrs() == [(0, 1, 2)]
    one.at(1)
    bench.follower(2).at(1)
    assert line.last.partitions == ((TP, Errors.NONE, 0),)
    bench.lead(1, isr=(0,), version=5)
    bench.follower(1).at(1, 1)
    assert bench.produce(acks=-1).last.partitions == ((TP, Errors.NOT_ENOUGH_REPLICAS, -1),)


def test_while_a_shrink_is_pending_no_replica_is_dropped() -> None:
    bench, noted = asking()
    partition = bench.lead(0, isr=(0, 1), version=4)
    bench.produce()
    bench.at(bench.world.now + 2 * LAG)
    bench.expire_isrs()
    [item] = noted.wanted
    assert noted.isrs() == [(0,)]
    assert (partition.isr, partition.high_watermark) == ((0, 1), 0)
    bench.expire_isrs()
    assert len(noted.wanted) == 1, "one at a time"
    item.taken((0,), 5)
    assert (partition.isr, partition.zk_version) == ((0,), 5)


def test_before_kafka_13091_the_answer_does_not_move_the_high_watermark() -> None:
    bench, noted = asking()
    partition = bench.lead(0, isr=(0, 1), version=4)
    line = bench.produce(acks=-1)
    bench.at(bench.world.now + 2 * LAG)
    bench.expire_isrs()
    noted.wanted[0].taken((0,), 5)
    assert partition.high_watermark == 0
    assert not line.replies
    bench.produce()
    assert partition.high_watermark == 2, "the next append does"
    assert line.last.partitions == ((TP, Errors.NONE, 0),)


def test_a_refusal_is_for_good_until_a_leader_and_isr_comes() -> None:
    bench, noted = asking()
    partition = bench.lead(0, isr=(0,), version=4)
    failed = bench.see(IsrUpdateFailed)
    one, _two = caught_up(bench, 1, 2)
    noted.wanted[0].refused("FENCED_LEADER_EPOCH", True)
    one.at(0)
    bench.expire_isrs()
    assert (len(noted.wanted), len(failed), partition.isr) == (1, 1, (0,))
    bench.lead(1, isr=(0,), version=7)
    assert noted.cleared[-1] == TP
    assert noted.wanted[0].abandoned()
    bench.follower(1).at(0, 1)
    assert noted.isrs() == [(0, 1), (0, 1)]


def test_the_change_needs_no_notification() -> None:
    bench, noted = asking()
    bench.lead(0, isr=(0,))
    caught_up(bench, 1)
    changed = bench.see(IsrChanged)
    noted.wanted[0].taken((0, 1), 1)
    bench.at(bench.world.now + 100_000 * MS)
    assert bench.manager.alter_isr is noted, "which alone is notified; the propagation belongs to ZkIsrManager"
    assert len(changed) == 1
    assert not bench.zk.waiting


# -- the requests ----------------------------------------------------------------------------------------------------


@define(eq=False)
class Wish:
    """A change that a leader under epoch 3 wants, and its outcome."""

    abandoned: bool = False
    outcome: Any = None

    def item(self, tp: TopicPartition) -> AlterIsrItem:
        wanted = LeaderAndIsr(0, 3, (0, 1), 1, 7)
        return AlterIsrItem(tp, wanted, 0, lambda: self.abandoned, self.taken, self.refused)

    def taken(self, isr: tuple[int, ...], zk_version: int) -> None:
        self.outcome = isr, zk_version

    def refused(self, reason: str, for_good: bool) -> None:
        self.outcome = reason if for_good else (reason, "not done")


@define(eq=False)
class Desk:
    """A manager in a process of its own, and a controller's answers."""

    world: World = field(factory=lambda: World(1))
    asked: list[tuple[int, AlterIsrRequest]] = field(factory=list)
    at_once: bool = False
    awaits_answers: bool = False
    asks_again: bool = False
    manager: DefaultAlterIsrManager = field(init=False)
    answers: Mailbox = field(init=False)

    async def main(self, process: Process) -> None:
        self.answers = Mailbox(self.world)
        self.manager = DefaultAlterIsrManager(
            process, self._ask, lambda: 42, self.at_once, self.awaits_answers, self.asks_again
        )

    async def _ask(self, request: AlterIsrRequest) -> AlterIsrResponse:
        self.asked.append((self.world.now, request))
        response: AlterIsrResponse = await self.answers.get()
        return response

    def wish(self, tp: TopicPartition = TP) -> Wish:
        wish = Wish()
        self.manager.submit(wish.item(tp))
        return wish

    async def answer(self, *partitions: tuple[TopicPartition, Errors, LeaderAndIsr | None]) -> None:
        error = Errors.NONE if partitions else Errors.STALE_BROKER_EPOCH
        self.answers.put(AlterIsrResponse(error, partitions))
        await self.world.sleep(1)

    def play(self, test: Any) -> None:
        play(self.world, self.main, test, self)


def now(isr: tuple[int, ...] = (0, 1), epoch: int = 3, version: int = 8) -> LeaderAndIsr:
    return LeaderAndIsr(0, epoch, isr, 1, version)


def test_what_is_wanted_within_50_ms_goes_in_one_request_and_one_is_under_way() -> None:
    async def test(desk: Desk) -> None:
        first, second = desk.wish(), desk.wish(OTHER)
        await desk.world.sleep(INTERVAL_US)
        third = desk.wish(TopicPartition("t", 2))
        await desk.world.sleep(3 * INTERVAL_US)
        [(at_us, request)] = desk.asked
        assert at_us == INTERVAL_US
        assert (request.broker, request.broker_epoch) == (0, 42)
        assert [(p.tp, p.leader_epoch, p.isr, p.zk_version) for p in request.partitions] == [
            (TP, 3, (0, 1), 7), (OTHER, 3, (0, 1), 7)
        ]  # fmt: skip
        await desk.answer((TP, Errors.NONE, now()), (OTHER, Errors.INVALID_UPDATE_VERSION, None))
        assert (first.outcome, second.outcome, third.outcome) == (((0, 1), 8), "INVALID_UPDATE_VERSION", None)
        await desk.world.sleep(INTERVAL_US)
        assert [p.tp.partition for p in desk.asked[1][1].partitions] == [2]

    Desk().play(test)


def test_a_request_that_fails_as_a_whole_is_sent_again() -> None:
    async def test(desk: Desk) -> None:
        wish = desk.wish()
        await desk.world.sleep(INTERVAL_US)
        await desk.answer()
        await desk.world.sleep(INTERVAL_US)
        assert len(desk.asked) == 2
        await desk.answer((TP, Errors.NONE, now()))
        assert wish.outcome == ((0, 1), 8)

    Desk().play(test)


def test_since_2_8_a_change_is_sent_at_once_and_the_next_ones_with_the_answer() -> None:
    async def test(desk: Desk) -> None:
        first = desk.wish()
        await desk.world.sleep(1)
        second, third = desk.wish(OTHER), desk.wish(TopicPartition("t", 2))
        await desk.world.sleep(3 * INTERVAL_US)
        [(at_us, request)] = desk.asked
        assert (at_us, [each.tp for each in request.partitions]) == (1, [TP])
        answered_us = desk.world.now
        await desk.answer((TP, Errors.NONE, now()))
        assert first.outcome == ((0, 1), 8)
        at_us, request = desk.asked[1]
        assert (at_us, [each.tp.partition for each in request.partitions]) == (answered_us, [OTHER.partition, 2])
        assert (second.outcome, third.outcome) == (None, None)

    Desk(at_once=True).play(test)


def test_since_2_8_a_request_that_fails_as_a_whole_is_sent_again_after_50_ms() -> None:
    async def test(desk: Desk) -> None:
        wish = desk.wish()
        await desk.world.sleep(1)
        await desk.answer()
        failed_us = desk.world.now - 1
        await desk.world.sleep(2 * INTERVAL_US)
        assert [at_us for at_us, _ in desk.asked] == [1, failed_us + INTERVAL_US]
        await desk.answer((TP, Errors.NONE, now()))
        assert wish.outcome == ((0, 1), 8)

    Desk(at_once=True).play(test)


@pytest.mark.parametrize(
    ("state", "outcome"),
    [
        (now(version=7), ((0, 1), 7)),  # nothing had to be written (KAFKA-12751, 2.7.2)
        (now(version=6), "the answer is stale"),
        (now(epoch=4), "the answer is stale"),
    ],
)
def test_a_stale_answer_is_no_success(state: LeaderAndIsr, outcome: object) -> None:
    async def test(desk: Desk) -> None:
        wish = desk.wish()
        await desk.world.sleep(INTERVAL_US)
        await desk.answer((TP, Errors.NONE, state))
        assert wish.outcome == outcome

    Desk().play(test)


def test_before_kafka_12686_a_late_answer_takes_a_newer_wish_along() -> None:
    """The leader got a new epoch meanwhile, and wanted something else; that is never sent."""

    async def test(desk: Desk) -> None:
        node, shown = desk.manager.process.node, list[Deviated]()
        node.trace.fold(Deviated, shown.append)
        old = desk.wish()
        await desk.world.sleep(INTERVAL_US)
        old.abandoned = True
        desk.manager.clear(TP)
        new = desk.wish()
        await desk.answer((TP, Errors.FENCED_LEADER_EPOCH, None))
        await desk.world.sleep(10 * INTERVAL_US)
        assert (old.outcome, new.outcome, len(desk.asked)) == (None, None, 1)
        assert [(one.ticket, one.topic, one.partition, one.replica) for one in shown] == [("KAFKA-12686", *TP, node.id)]

    Desk().play(test)


def test_since_kafka_12686_a_change_waits_until_the_last_one_of_its_partition_is_answered() -> None:
    async def test(desk: Desk) -> None:
        old = desk.wish()
        await desk.world.sleep(1)
        old.abandoned = True
        desk.manager.clear(TP)
        again: list[Wish] = []
        assert not desk.manager.accepts(TP, lambda: again.append(desk.wish()))
        assert desk.manager.accepts(OTHER, again.clear)
        await desk.answer((TP, Errors.FENCED_LEADER_EPOCH, None))
        (new,) = again
        await desk.world.sleep(1)
        await desk.answer((TP, Errors.NONE, now()))
        assert (old.outcome, new.outcome, len(desk.asked)) == (None, ((0, 1), 8), 2)

    Desk(at_once=True, awaits_answers=True).play(test)


def test_a_leader_whose_change_is_not_accepted_keeps_its_isr_and_tries_again() -> None:
    bench, noted = asking()
    bench.lead(0, isr=(0,))
    noted.full = True
    caught_up(bench, 1)
    assert not noted.wanted
    assert not bench.partition.isr_state.is_inflight
    noted.full = False
    caught_up(bench, 1)
    assert noted.isrs() == [(0, 1)]


def test_what_is_cleared_before_it_was_sent_is_not_sent() -> None:
    async def test(desk: Desk) -> None:
        desk.wish()
        desk.manager.clear(TP)
        await desk.world.sleep(3 * INTERVAL_US)
        assert desk.asked == []

    Desk().play(test)


def test_changes_are_announced_in_a_node_that_outlives_its_session() -> None:
    bench = Bench()
    propagation = IsrChangePropagation(bench.process, cast("ZkClient", bench.zk), BrokerConfig())
    propagation.record(TP)
    bench.at(100_000 * MS)
    propagation.maybe_propagate()
    created = bench.zk.answer(ZkCode.OK)
    assert created.path == "/isr_change_notification/isr_change_"
    assert (created.ephemeral, created.sequential) == (False, True)


def test_a_change_that_waits_for_its_turn_keeps_the_world_unsettled() -> None:
    async def test(desk: Desk) -> None:
        desk.wish()
        await desk.world.settled()
        assert len(desk.asked) == 1
        await desk.answer((TP, Errors.NONE, now()))
        desk.wish(OTHER)
        await desk.world.settled()
        assert len(desk.asked) == 2

    Desk().play(test)


@pytest.mark.parametrize(("announces", "nodes"), [(True, 1), (False, 0)])
def test_nothing_is_announced_before_kafka_1367(announces: bool, nodes: int) -> None:
    bench = Bench(BrokerPolicies(BrokerConfig(replica_lag_time_max_us=LAG), announces_isrs=announces))
    bench.lead()
    bench.produce()
    bench.at(bench.world.now + 2 * LAG)
    bench.expire_isrs()
    bench.zk.answer(ZkCode.OK, 1)
    bench.at(bench.world.now + 10_000 * MS)
    bench.propagate_isr_changes()
    assert len(bench.zk.waiting) == nodes


@pytest.mark.parametrize("asks_again", [False, True])
def test_since_kafka_14010_a_leader_asks_again_after_a_refusal_that_may_pass(asks_again: bool) -> None:
    async def test(desk: Desk) -> None:
        wish = desk.wish()
        await desk.world.sleep(1)
        await desk.answer((TP, Errors.UNKNOWN_SERVER_ERROR, None))
        assert (wish.outcome, len(desk.asked)) == ((None, 2) if asks_again else ("UNKNOWN_SERVER_ERROR", 1))
        if asks_again:
            assert not desk.manager.accepts(TP, list)
            await desk.answer((TP, Errors.NONE, now()))
            assert wish.outcome == ((0, 1), 8)

    Desk(at_once=True, awaits_answers=True, asks_again=asks_again).play(test)


def test_a_leader_learns_whether_what_it_asked_for_may_have_been_written() -> None:
    async def test(desk: Desk) -> None:
        first, second = desk.wish(), desk.wish(OTHER)
        await desk.world.sleep(INTERVAL_US)
        await desk.answer((TP, Errors.INELIGIBLE_REPLICA, None), (OTHER, Errors.INVALID_UPDATE_VERSION, None))
        assert (first.outcome, second.outcome) == (("INELIGIBLE_REPLICA", "not done"), "INVALID_UPDATE_VERSION")

    Desk(asks_again=True).play(test)


def test_since_kafka_13091_the_answer_moves_the_high_watermark() -> None:
    noted = NotedAlterIsr()
    config = BrokerConfig(replica_lag_time_max_us=LAG)
    bench = Bench(BrokerPolicies(config, isr_writes=ByController(outcome_moves_high_watermark=True)), alter_isr=noted)
    bench.at(5_000 * MS)
    partition = bench.lead(0, isr=(0, 1), version=4)
    line = bench.produce(acks=-1)
    bench.at(bench.world.now + 2 * LAG)
    bench.expire_isrs()
    noted.wanted[0].taken((0,), 5)
    assert partition.high_watermark == 1
    assert line.last.partitions == ((TP, Errors.NONE, 0),)


def test_a_refusal_that_is_not_final_leaves_the_isr_from_before_and_a_fetch_asks_again() -> None:
    bench, noted = asking()
    partition = bench.lead(0, isr=(0,), version=4)
    [one] = caught_up(bench, 1)
    noted.wanted[0].refused("INELIGIBLE_REPLICA", False)
    assert (partition.isr, partition.isr_state.is_inflight) == ((0,), False)
    one.at(0)
    assert noted.isrs() == [(0, 1), (0, 1)]


@pytest.mark.parametrize("needs_live", [False, True])
def test_since_kafka_14140_a_leader_wants_only_brokers_that_its_metadata_shows_as_alive(needs_live: bool) -> None:
    noted = NotedAlterIsr()
    bench = Bench(BrokerPolicies(isr_writes=ByController(), isr_needs_live=needs_live), alter_isr=noted)
    bench.manager.metadata.update(UpdateMetadataRequest(9, 1, -1, (), (0, 2)))
    bench.leader_and_isr(state(0, 0, (0,)))
    bench.manager.metadata.update(UpdateMetadataRequest(9, 1, -1, (PARTITION,), (0, 2)))
    bench.follower(1).at(0)
    assert noted.isrs() == ([] if needs_live else [(0, 1)])
    bench.manager.metadata.update(UpdateMetadataRequest(9, 1, -1, (), (0, 1, 2)))
    assert noted.isrs() == [(0, 1)], "it idles at the end, and is taken in once it is alive"
