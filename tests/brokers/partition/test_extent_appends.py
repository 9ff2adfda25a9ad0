"""Many batches that a leader and its followers append at once, against the same batches one by one."""

from brokers.log.batch_runs import all_pieces
from brokers.partition.partition import Partition
from emulator.protocol.events import BatchesAppended
from emulator.protocol.extents import Extent, ExtentPart
from emulator.protocol.produce import ProducedBatch
from tests.brokers.bench import BATCH_BYTES, MS, TP, Bench, batch

PRODUCED = Extent(-1, 50, 3, BATCH_BYTES, -1, 7, first_us=10 * MS, over_us=50 * MS)


def shapes(partition: Partition) -> list[tuple[int, int, int, int, int]]:
    return [(b.base_offset, b.next_offset, b.leader_epoch, b.size, b.id) for b in partition.log.batches]


def test_a_leader_appends_what_single_batches_give() -> None:
    benches = Bench(), Bench()
    for bench in benches:
        partition = bench.lead(epoch=4)
        bench.produce()
        bench.follower(1).at(1, 4)
        bench.at(60 * MS)
        events = bench.see(BatchesAppended)
        if bench is benches[0]:
            [part] = partition.log.pieces(partition.append_as_leader(PRODUCED), partition.log.end_offset)
            assert isinstance(part, ExtentPart)
            assert (part.base_offset, part.next_offset, part.leader_epoch, part.count) == (1, 151, 4, 50)
            bench.at(61 * MS)
            [event] = events
            row = (event.leader_epochs, event.base_offsets, event.next_offsets, event.ids, event.sizes)
            assert row == ((4,), (1,), (151,), (7,), (5000,))
        else:
            for index in range(50):
                partition.append_as_leader(ProducedBatch(TP, 3, BATCH_BYTES, 7 + index))
            bench.at(61 * MS)
        followers = bench.follower(1), bench.follower(2)
        for follower in followers:
            follower.limits["max_partition_bytes"] = 350
            answer = follower.at(1, 4)
            assert answer is not None
            assert [found.base_offset for found in answer.partitions[0].batches] == [1, 4, 7]
        for follower in followers:
            follower.at(151, 4)
    at_once, single = (bench.partition for bench in benches)
    assert shapes(at_once) == shapes(single)
    assert (
        (at_once.log.end_offset, at_once.high_watermark) == (single.log.end_offset, single.high_watermark) == (151, 151)
    )
    assert at_once.log.batches[11].timestamp_us == 20 * MS


def test_an_extent_wakes_a_follower_that_waits() -> None:
    bench = Bench()
    partition = bench.lead()
    follower = bench.follower(1)
    follower.at(0)
    answered = len(follower.line.replies)
    assert follower.at(0) is None
    bench.manager.purgatory.completing(lambda: partition.append_as_leader(PRODUCED))()
    answer = follower.answer(answered)
    assert answer is not None
    assert [found.base_offset for found in answer.partitions[0].batches] == list(range(0, 30, 3))


def test_a_leader_alone_in_the_isr_commits_at_once() -> None:
    bench = Bench()
    partition = bench.lead(isr=(0,))
    partition.append_as_leader(PRODUCED)
    assert partition.high_watermark == 150


def test_a_follower_shares_a_part_of_the_leaders_extent() -> None:
    leader, bench = Bench(), Bench()
    source, partition = leader.lead(), bench.follow()
    leader.produce(count=2)
    source.append_as_leader(PRODUCED)
    seen = bench.see(BatchesAppended)
    assert partition.append_pieces_as_follower(source.log.pieces(0, 62), 31) == 62
    assert partition.high_watermark == 31
    bench.at(1)
    assert [(e.base_offsets, e.next_offsets, e.ids, e.sizes) for e in seen] == [((0, 2), (2, 62), (7, 7), (100, 2000))]
    first, shared = all_pieces(partition.log.batches)
    assert first is source.log.batches[0]
    assert isinstance(shared, ExtentPart)
    assert (shared.extent.first_id, shared.begin, shared.end) == (7, 0, 20)
    partition.truncate_to(40)
    assert partition.append_pieces_as_follower(source.log.pieces(38, 152), 152) == 152
    assert shapes(partition) == shapes(source)
    assert len(list(all_pieces(partition.log.batches))) == 2
    assert partition.append_pieces_as_follower((batch(152),), 153) == 153
