"""The past at its head, by index, and as counted from scratch are the same, whatever has happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from attrs import fields
from hypothesis import given
from hypothesis import strategies as st

from emulator.protocol import events as e
from emulator.protocol import znodes
from emulator.protocol.assignments import ReassigningReplicas
from emulator.protocol.types import TopicPartition
from emulator.trace.events import Step, ZkSession, ZkWritten
from scenarios.observe.past.changes import AssignmentWritten, ReassigningWritten, StateWritten
from scenarios.observe.past.cluster_past import Past, PastReplay
from scenarios.observe.past.cluster_state import FoldedState

TP = TopicPartition("orders", 0)
OTHER = TopicPartition("orders", 1)
BROKERS = (0, 1, 2)
SHUTDOWN = "broker.controlled_shutdown"
OF_REPLICAS = (e.BecameLeader, e.BecameFollower, e.ReplicaStopped, e.ReplicaOffline)

brokers = st.sampled_from(BROKERS)
partitions = st.sampled_from((TP, OTHER))
replicas = st.lists(brokers, unique=True, max_size=3).map(tuple)
epochs = st.integers(0, 3)
flags = st.booleans()


def _state_write(tp: TopicPartition, leader: int, epoch: int, isr: tuple[int, ...], *, gone: bool) -> tuple[Any, ...]:
    data = "" if gone else znodes.LeaderAndIsr(leader, epoch, isr, 1).encode()
    return ZkWritten, leader, "delete" if gone else "setData", znodes.state_path(tp), 0, 0, data


def _topic_write(
    assigned: Mapping[int, tuple[int, ...]], adding: tuple[int, ...], *, gone: bool, moves: bool
) -> tuple[Any, ...]:
    reassigning = {0: ReassigningReplicas(adding, ())} if moves else None
    data = "" if gone else znodes.encode_topic(assigned, reassigning)
    return ZkWritten, 0, "delete" if gone else "setData", znodes.topic_path("orders"), 0, 0, data


def _znode_write(broker: int, path: str, data: str, *, gone: bool) -> tuple[Any, ...]:
    return ZkWritten, broker, "delete" if gone else "create", path, 0, 7, "" if gone else data


def _leader(node: int, tp: TopicPartition, epoch: int, isr: tuple[int, ...]) -> tuple[Any, ...]:
    return e.BecameLeader, node, *tp, epoch, 0, 0, isr, isr, (), ()


def _fault(action: str, broker: int) -> tuple[Any, ...]:
    return e.Fault, action, str(broker), ""


znode = st.one_of(
    st.builds(_state_write, partitions, brokers, epochs, replicas, gone=flags),
    st.builds(_topic_write, st.dictionaries(st.integers(0, 1), replicas), replicas, gone=flags, moves=flags),
    st.builds(lambda broker, gone: _znode_write(broker, znodes.broker_path(broker), "{}", gone=gone), brokers, flags),
    st.builds(
        lambda broker, gone: _znode_write(broker, znodes.CONTROLLER, znodes.encode_controller(broker, 0), gone=gone),
        brokers,
        flags,
    ),
    st.builds(lambda gone: _znode_write(0, znodes.delete_topic_path("orders"), "", gone=gone), flags),
)
process = st.one_of(
    st.tuples(st.just(e.NodeStarted), brokers, st.just(0)),
    st.tuples(st.just(e.NodeCrashed), brokers, st.just(0), st.just("process")),
    st.tuples(st.just(ZkSession), brokers, st.integers(1, 3), st.sampled_from(("created", "closed", "expired"))),
    st.tuples(st.just(e.BrokerRegistered), brokers, epochs),
    st.builds(
        _fault, st.sampled_from(("broker.pause", "broker.resume", "heal", "broker.controlled_shutdown")), brokers
    ),
    st.tuples(st.just(e.RoutesChanged), flags, brokers.map(lambda b: (b,)), brokers.map(lambda b: (b,))),
)
controller = st.one_of(
    st.tuples(st.just(e.ControllerElected), brokers, epochs),
    st.tuples(st.just(e.ControllerResigned), brokers, epochs),
    st.builds(lambda tp, target: (e.MoveStarted, *tp, target), partitions, replicas),
    st.builds(lambda tp, target: (e.MoveFinished, *tp, target), partitions, replicas),
    st.builds(lambda tp, node: (Step, "wiki.1", "before", *tp, -1, 0, node, ""), partitions, brokers),
    st.builds(lambda node: (Step, "failover.F3", "after", "", -1, -1, 0, node, ""), brokers),
)
replica = st.one_of(
    st.builds(_leader, brokers, partitions, epochs, replicas),
    st.builds(
        lambda node, tp, epoch, of: (e.BecameFollower, node, *tp, epoch, of, 0, 0),
        brokers, partitions, epochs, brokers,
    ),
    st.builds(lambda node, tp, deleted: (e.ReplicaStopped, node, *tp, deleted), brokers, partitions, flags),
    st.builds(lambda node, tp: (e.ReplicaOffline, node, *tp), brokers, partitions),
    st.builds(lambda node, tp, isr: (e.IsrChanged, node, *tp, 1, "shrink", isr, 1), brokers, partitions, replicas),
    st.builds(
        lambda node, tp, of, offset: (e.FetchPosition, node, *tp, of, 1, offset),
        brokers, partitions, brokers, st.integers(-1, 1),
    ),
    st.builds(lambda node, tp: (e.PartitionFailed, node, "f", *tp, 1, "", ""), brokers, partitions),
    st.builds(lambda node, tp: (e.PartitionFailureCleared, node, *tp, "epoch"), brokers, partitions),
)  # fmt: skip
histories = st.lists(st.one_of(znode, process, controller, replica), max_size=40)


def recorded(history: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The events, one each millisecond, every second of the numbers taken by an event that is not kept."""
    return [kind(1000 * n, 2 * n, 0, *fields) for n, (kind, *fields) in enumerate(history, 1)]


def head(events: Sequence[Any]) -> Past:
    """The past of events that are seen as they happen."""
    replay = PastReplay()
    past = Past(replay)
    replay.play(events)
    return past


def content(state: FoldedState) -> dict[str, Any]:
    """All tables in full, those of brokers without any entry left out."""
    found: dict[str, Any] = {}
    for one in fields(FoldedState):
        table = getattr(state, one.name)
        by_broker = str(one.type).startswith("ByBroker")
        found[one.name] = {b: dict(rows) for b, rows in table.items() if len(rows)} if by_broker else dict(table)
    return found


@given(histories)
def test_the_index_has_what_the_head_had_after_every_event(history: Sequence[tuple[Any, ...]]) -> None:
    events = recorded(history)
    whole = Past.of(events)
    for n in range(len(events) + 1):
        then = content(head(events[:n]).now)
        assert content(whole.at(2 * n)) == content(whole.at(2 * n + 1)) == then
        assert content(whole.before(2 * n + 2)) == then
    assert content(whole.now) == content(whole.at(2 * len(events)))


@given(histories)
def test_every_question_has_the_answer_that_a_search_of_the_events_gives(history: Sequence[tuple[Any, ...]]) -> None:
    events = recorded(history)
    now = head(events).now
    for tp in (TP, OTHER):
        state = _last_written(events, znodes.state_path(tp))
        isr = () if state is None else znodes.LeaderAndIsr.decode(state.data, 0).isr
        topic = _last_written(events, znodes.topic_path("orders"))
        assert now.isr(tp) == isr
        assert now.leader(tp) == (-1 if state is None else znodes.LeaderAndIsr.decode(state.data, 0).leader)
        assert now.assignment(tp) == (() if topic is None else znodes.decode_topic(topic.data).get(tp.partition, ()))
        started = [event for event in events if type(event) is e.MoveStarted and event.partition == tp.partition]
        ended = [event for event in events if type(event) is e.MoveFinished and event.partition == tp.partition]
        is_open = started and (not ended or ended[-1].seq < started[-1].seq)
        assert now.open_move(tp) == (started[-1] if is_open else None)
        for broker in BROKERS:
            _check_role(events, now, broker, tp)
    for broker in BROKERS:
        lives = [event for event in events if type(event) in (e.NodeStarted, e.NodeCrashed) and event.node == broker]
        assert now.is_up(broker) == (bool(lives) and type(lives[-1]) is e.NodeStarted)
        assert now.is_registered(broker) == (_last_written(events, znodes.broker_path(broker)) is not None)
        assert now.has_session(broker) == bool(_sessions(events, broker))
        assert sum(now.followed[broker].values()) == sum(
            now.known_leader(broker, tp) not in (None, broker) for tp in (TP, OTHER)
        )
    claim = _last_written(events, znodes.CONTROLLER)
    assert now.controller == (-1 if claim is None else znodes.decode_controller(claim.data))


def _last_written(events: Sequence[Any], path: str) -> Any:
    written = [event for event in events if type(event) is ZkWritten and event.path == path]
    return written[-1] if written and written[-1].op != "delete" else None


def _sessions(events: Sequence[Any], broker: int) -> set[int]:
    found: set[int] = set()
    for event in events:
        if type(event) is ZkSession and event.client == broker:
            found = found | {event.session} if event.state == "created" else found - {event.session}
    return found


def _check_role(events: Sequence[Any], now: FoldedState, broker: int, tp: TopicPartition) -> None:
    of_process: list[Any] = []
    for event in events:
        if type(event) in (e.NodeStarted, e.NodeCrashed) and event.node == broker:
            of_process.clear()
        elif type(event) in OF_REPLICAS and (event.node, event.topic, event.partition) == (broker, *tp):
            of_process.append(event)
    roles = [event for event in of_process if type(event) in (e.BecameLeader, e.BecameFollower)]
    after = [event for event in of_process if roles and event.seq > roles[-1].seq]
    stopped = any(type(event) is e.ReplicaStopped for event in after)
    lost = any(type(event) is e.ReplicaOffline or getattr(event, "deleted", False) for event in after)
    last = roles[-1] if roles else None
    assert now.role(broker, tp) == (None if stopped else last)
    assert now.leads(broker, tp) == (last if type(last) is e.BecameLeader and not lost else None)
    assert now.follows(broker, tp) == (last if type(last) is e.BecameFollower and not (lost or stopped) else None)


@given(histories)
def test_a_change_is_announced_with_what_the_head_has_and_what_it_had(history: Sequence[tuple[Any, ...]]) -> None:
    events, replay = recorded(history), PastReplay()
    past, whole, announced = Past(replay), Past.of(recorded(history)), list[Any]()

    def check(change: Any) -> None:
        announced.append(change)
        before = whole.before(change.seq)
        if type(change) is StateWritten:
            assert (before.state(change.tp), past.now.state(change.tp)) == (change.before, change.state)
        elif type(change) is AssignmentWritten:
            assert (before.assignment(change.tp), past.now.assignment(change.tp)) == (change.before, change.replicas)
        else:
            assert past.now.is_reassigning(change.tp) == change.moves

    def check_role(event: Any) -> None:
        tp = TopicPartition(event.topic, event.partition)
        assert past.replaced(event) == whole.before(event.seq).last_role(event.node, tp)

    def check_position(event: e.FetchPosition) -> None:
        tp = TopicPartition(event.topic, event.partition)
        assert past.replaced(event) == whole.before(event.seq).fetching[event.node].get(tp)

    def check_registered(event: e.BrokerRegistered) -> None:
        assert past.replaced(event) == whole.before(event.seq).broker_epochs.get(event.node)

    for kind in (StateWritten, AssignmentWritten, ReassigningWritten):
        past.subscribe(kind, check)
    for of_replica in OF_REPLICAS:
        replay.fold(of_replica, check_role)
    replay.fold(e.FetchPosition, check_position)
    replay.fold(e.BrokerRegistered, check_registered)
    replay.play(events)
    assert [change.seq for change in announced] == sorted(change.seq for change in announced)


def test_a_head_cannot_be_asked_about_what_was() -> None:
    with pytest.raises(TypeError, match="keeps=True"):
        head([]).at(1)


def test_a_head_keeps_nothing_that_is_over() -> None:
    """Its tables do not grow with the run."""

    def around(n: int) -> list[Any]:
        once = [
            _state_write(TP, 0, 1, (0,), gone=False),
            (ZkSession, 0, 1, "created"),
            (e.NodeStarted, 0, 0),
            _leader(0, TP, 1, (0,)),
            (e.MoveStarted, *TP, (0,)),
            (e.MoveFinished, *TP, (0,)),
            (e.NodeCrashed, 0, 0, "host"),
            (ZkSession, 0, 1, "expired"),
        ]
        return recorded(once * n)

    def size(past: Past) -> int:
        return sum(len(rows) for rows in content(past.now).values())

    assert size(head(around(50))) == size(head(around(2)))


def test_heal_lets_a_paused_broker_go_on() -> None:
    """The action says that every broker of its core runs again, and no ``broker.resume`` follows."""
    paused, healed = _fault("broker.pause", 1), _fault("heal", 1)
    assert head(recorded([paused])).now.is_paused(1)
    assert not head(recorded([paused, healed])).now.is_paused(1)


@pytest.mark.parametrize("what", ["directory", "shutdown"])
def test_a_controller_takes_a_broker_that_has_crashed_for_what_it_was_until_it_registers(what: str) -> None:
    """wiki-text, seed 20302; kafka-1.1, seed 28051."""
    begun = (
        (e.LogDirFailed, 1, "/data/0", "", 1, False)
        if what == "directory"
        else (Step, "shutdown.1", "before", "", -1, 1, 0, 0, "")
    )
    ends, starts = (e.NodeCrashed, 1, 1, "process"), (e.NodeStarted, 1, 2)
    registers = _znode_write(1, znodes.broker_path(1), "{}", gone=False)
    history = [(e.ControllerElected, 0, 1), (e.NodeStarted, 1, 1), begun, ends, starts, registers]

    def taken(*history: tuple[Any, ...]) -> bool:
        now = head(recorded(history)).now
        return now.lacks_dirs(1) if what == "directory" else now.is_shutting_down(1)

    assert [taken(*history[: n + 1]) for n in (3, 4, 5)] == [True, True, False]
    if what == "directory":
        again = [*history[:5], begun, registers]
        assert taken(*again)
    else:
        assert not taken(*history[1:5])
        assert not taken(*history[:5], (e.ControllerElected, 2, 2))
