"""Positions of fetch sessions that are bound to their partitions change no answer and no event: a broker that has to
look up everything again for each request does the same. Only the partitions of an answer come in the order in which
they got something to read, and one that looks up everything has all of them to read from the start."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from brokers.broker_policies import BrokerPolicies
from emulator.protocol.fetch import FetchPartition, FetchRequest
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from tests.brokers.bench import MS, Bench, Line, state

TPS = (TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0))
PARTITION = st.sampled_from(TPS)
FOLLOWER = st.sampled_from((1, 2, 3))
POLICIES = st.sampled_from(
    [
        BrokerPolicies(),
        BrokerPolicies(high_watermark_completes_fetches=True, every_fetch_looks=False),
        BrokerPolicies(high_watermark_completes_fetches=True, every_fetch_looks=False, refused_fetch_forgets=False),
        BrokerPolicies(checks_assignment=False, checks_epochs=False),
        BrokerPolicies(checks_assignment=False, checks_epochs=False, records_fetch_first=True),
    ]
)
PRODUCE = st.tuples(st.just("produce"), st.lists(PARTITION, min_size=1, unique=True), st.sampled_from((0, 1, -1)))
FETCH = st.tuples(
    st.just("fetch"), FOLLOWER, st.lists(st.tuples(PARTITION, st.sampled_from((0, 0, 1, 2, -1))), max_size=3)
)
WAIT = st.tuples(st.just("wait"), st.sampled_from((10, 600, 12_000)), st.none())
OTHERS = st.one_of(
    st.tuples(st.just("forget"), FOLLOWER, PARTITION),
    st.tuples(st.just("connect"), FOLLOWER, st.booleans()),
    st.tuples(st.just("lead"), PARTITION, st.sampled_from(((0,), (0, 1), (0, 1, 2)))),
    st.tuples(st.just("move"), PARTITION, st.sampled_from(((0, 1), (0, 2, 3)))),
    st.tuples(st.just("follow"), PARTITION, st.none()),
    st.tuples(st.just("delete"), PARTITION, st.none()),
)
STEPS = st.lists(st.one_of(PRODUCE, FETCH, WAIT, FETCH, OTHERS, FETCH), min_size=10, max_size=50)


class Played:
    """A broker that leads ``TPS`` and takes steps, and all that it answers and records."""

    def __init__(self, policies: BrokerPolicies, *, bound: bool) -> None:
        self.bench = Bench(policies)
        self.bound = bound
        self.lines: list[Line] = []
        self.events: list[Any] = []
        self.bench.trace.sink(self.events.extend)
        self.sessions = {follower: self.line() for follower in (1, 2, 3)}
        self.epochs = dict.fromkeys(TPS, 0)
        for tp in TPS:
            self.bench.lead(tp=tp)

    def line(self) -> list[Any]:
        """A new connection, the id of its session and the number of its requests."""
        self.lines.append(Line())
        return [self.lines[-1], 0, 0]

    def send(self, request: Any, line: Line | None = None) -> None:
        if line is None:
            line = Line()
            self.lines.append(line)
        self.bench.send(request, line)
        for session in self.bench.fetch_handler.sessions.values() if not self.bound else ():
            for position in session.positions.values():
                position.unbind()

    def step(self, what: str, which: Any, more: Any) -> None:
        bench = self.bench
        if what == "produce":
            self.lines.append(bench.produce(*which, acks=more))
        elif what == "fetch":
            self.fetch(which, more)
        elif what == "forget":
            self.fetch(which, [], (which, more))
        elif what == "connect":
            old = self.sessions[which][0]
            if more and old.on_close is not None:
                old.on_close()
            self.sessions[which] = self.line()
        elif what == "wait":
            bench.at(bench.world.now + which * MS)
            bench.expire_isrs()
            for session in list(bench.fetch_handler.sessions.values()):
                if session.delayed.request is not None:
                    session.delayed.expire(None)
        elif what == "delete":
            self.send(StopReplicaRequest(9, 1, -1, True, (which,)))
        else:
            self.epochs[which] += 1
            isr = more if what == "lead" else (0, 1, 2)
            replicas = more if what == "move" else (0, 1, 2)
            leader = 1 if what == "follow" else 0
            isr = tuple(broker for broker in isr if broker in replicas)
            bench.leader_and_isr(state(leader, self.epochs[which], isr, tp=which, replicas=replicas))
            bench.learn(which, leader)

    def fetch(self, follower: int, wanted: list[Any], forgotten: Any = None) -> None:
        """One request, if none of the session waits. An offset is counted back from the end of the log."""
        line, session_id, requests = self.sessions[follower]
        found = next((s for s in self.bench.fetch_handler.sessions.values() if s.id == session_id), None)
        if found is not None and found.delayed.request is not None:
            return
        partitions = []
        for tp, lag in dict(wanted).items():
            partition = self.bench.manager.partitions.get(tp)
            end = 0 if partition is None else partition.log_end_offset
            partitions.append(FetchPartition(tp, self.epochs[tp], max(0, end - lag), 0))
        gone = () if found is None or forgotten is None or forgotten[1] not in found.positions else (forgotten[1],)
        request = FetchRequest(follower, session_id, requests, 500 * MS, 1, 1000, 200, tuple(partitions), gone)
        self.send(request, line)
        if session_id == 0:
            session_id = max(self.bench.fetch_handler.sessions)
        self.sessions[follower] = [line, session_id, requests + 1]

    def outcome(self) -> tuple[list[Any], list[Any]]:
        self.bench.trace.flush()
        replies = [
            (number, type(reply).__name__, reply.partitions)
            for number, line in enumerate(self.lines)
            for reply in line.replies
            if hasattr(reply, "session_id") or hasattr(reply, "partitions")
        ]
        return replies, self.events


def without_batches(replies: list[Any]) -> list[Any]:
    """Batches compare by identity: show them as their offsets. Partitions in the order of their names."""
    return [
        (number, kind, sorted((tuple(_shown(field) for field in partition) for partition in partitions), key=_name))
        for number, kind, partitions in replies
    ]


def _name(partition: tuple[Any, ...]) -> TopicPartition:
    return TopicPartition.of(*partition[0])


def _shown(field: Any) -> Any:
    is_batches = isinstance(field, tuple) and field and hasattr(field[0], "base_offset")
    return [(batch.base_offset, batch.id) for batch in field] if is_batches else field


@given(POLICIES, STEPS)
def test_bound_positions_change_nothing(policies: BrokerPolicies, steps: list[tuple[str, Any, Any]]) -> None:
    bound, looked_up = Played(policies, bound=True), Played(policies, bound=False)
    for step in steps:
        bound.step(*step)
        looked_up.step(*step)
    replies, events = bound.outcome()
    others, other_events = looked_up.outcome()
    assert without_batches(replies) == without_batches(others)
    assert events == other_events
