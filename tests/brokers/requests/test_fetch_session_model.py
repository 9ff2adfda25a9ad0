"""Incremental sessions against their meaning (KIP-227): a follower that reads by a session, which looks only at what is
dirty, ends with what full fetches of all partitions would have brought it. What the leader's metadata lacks when a
request comes is an error in its answer, and nothing else is."""

from hypothesis import given
from hypothesis import strategies as st

from brokers.broker_policies import BrokerPolicies
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import FetchResponse
from emulator.protocol.types import LEADER_DURING_DELETE, TopicPartition
from tests.brokers.bench import ME, Bench

TPS = tuple(TopicPartition("t", number) for number in range(3))
PARTITION = st.sampled_from(range(3))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("produce"), PARTITION),
        st.tuples(st.just("fetch"), PARTITION),
        st.tuples(st.just("forget"), PARTITION),
        st.tuples(st.just("want"), PARTITION),
        st.tuples(st.just("new epoch"), PARTITION),
        st.tuples(st.just("lose"), PARTITION),
        st.tuples(st.just("announce"), PARTITION),
    ),
    max_size=40,
)


class Reader:
    """A follower that reads ``TPS`` by one session; what it asks for changes only where something changed."""

    def __init__(self, bench: Bench, max_bytes: int) -> None:
        self.bench = bench
        self.follower = bench.follower(1, max_bytes=max_bytes, max_partition_bytes=200)
        self.offsets = dict.fromkeys(TPS, 0)
        self.epochs = dict.fromkeys(TPS, 0)
        self.marks = dict.fromkeys(TPS, -1)
        self.read = set(TPS)
        self.changed = set(TPS)
        self.forgotten: set[TopicPartition] = set()
        self.answers = 0
        self.waiting = False
        self.lacked: set[TopicPartition] = set()
        """The partitions that the leader's metadata lacked when the last request came."""

    def step(self) -> None:
        """Take in the answer that has come, else send the next request, else let the long poll end."""
        if self.take(self.follower.answer(self.answers)):
            return
        if self.waiting:
            assert self.take(self.follower.expire())
            return
        wanted = [(tp, self.epochs[tp], self.offsets[tp]) for tp in TPS if tp in self.changed]
        gone = tuple(tp for tp in TPS if tp in self.forgotten)
        self.changed.clear()
        self.forgotten.clear()
        self.waiting = True
        self.lacked = {tp for tp in TPS if not self.bench.manager.metadata.knows(tp)}
        self.take(self.follower.fetch(*wanted, forgotten=gone))

    def take(self, answer: FetchResponse | None) -> bool:
        if answer is None:
            return False
        self.answers = len(self.follower.line.replies)
        self.waiting = False
        assert answer.error is Errors.NONE
        for found in answer.partitions:
            tp = found.tp
            if tp not in self.read or tp in self.changed:
                continue
            assert (found.error is Errors.UNKNOWN_TOPIC_OR_PARTITION) is (tp in self.lacked)
            if tp in self.lacked:
                self.changed.add(tp)
                continue
            if found.error is Errors.FENCED_LEADER_EPOCH:
                self.epochs[tp] = self.bench.manager.partitions[tp].leader_epoch
                self.changed.add(tp)
                continue
            assert found.error is Errors.NONE
            for batch in found.batches:
                assert batch.base_offset == self.offsets[tp]
                self.offsets[tp] = batch.next_offset
                self.changed.add(tp)
            self.marks[tp] = found.high_watermark
        return True


@given(STEPS, st.sampled_from([100, 250, 10_000]))
def test_a_session_brings_what_full_fetches_would(steps: list[tuple[str, int]], max_bytes: int) -> None:
    bench = Bench(BrokerPolicies(sessions_keep_epochs=True))
    for tp in TPS:
        bench.lead(tp=tp, isr=(0,))
    reader = Reader(bench, max_bytes)
    for what, number in steps:
        tp = TPS[number]
        if what == "produce":
            bench.produce(tp)
        elif what == "forget" and tp in reader.read:
            reader.read.discard(tp)
            reader.changed.discard(tp)
            reader.forgotten.add(tp)
        elif what == "want" and tp not in reader.read and tp not in reader.forgotten:
            reader.read.add(tp)
            reader.changed.add(tp)
        elif what == "new epoch":
            partition = bench.manager.partitions[tp]
            bench.lead(partition.leader_epoch + 1, isr=(0,), version=partition.leader_epoch + 1, tp=tp)
        elif what in ("lose", "announce"):
            bench.learn(tp, LEADER_DURING_DELETE if what == "lose" else ME)
        elif what == "fetch":
            reader.step()
    for tp in TPS:
        bench.learn(tp, ME)
    for _ in range(120):
        reader.step()
    for tp in reader.read:
        partition = bench.manager.partitions[tp]
        assert (reader.offsets[tp], reader.epochs[tp], reader.marks[tp]) == (
            partition.log_end_offset,
            partition.leader_epoch,
            partition.high_watermark,
        )
