"""RS, AR and RR as pure arithmetic of lists, and as the topic's znode holds them (KIP-455)."""

import json
from base64 import urlsafe_b64decode
from uuid import RFC_4122, UUID

from hypothesis import given
from hypothesis import strategies as st

from emulator.kernel import World
from emulator.protocol.assignments import NOT_REASSIGNED, ReassigningReplicas, ReplicaAssignment
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import (
    TOPIC_IDS,
    decode_reassigning,
    decode_reassignment,
    decode_topic,
    decode_topic_id,
    encode_reassignment,
    encode_topic,
    random_topic_id,
)

REPLICAS = st.lists(st.integers(0, 8), unique=True, min_size=1, max_size=5).map(tuple)
REQUESTS = st.lists(REPLICAS, min_size=1, max_size=4)


def test_version_3_has_the_topics_id() -> None:
    written = encode_topic({0: (1, 2)}, {}, "AAAAAAAAQACAAAAAAAAAAQ")
    assert written == (
        '{"version":3,"partitions":{"0":[1,2]},"adding_replicas":{},"removing_replicas":{},'
        '"topic_id":"AAAAAAAAQACAAAAAAAAAAQ"}'
    )
    assert (decode_topic(written), decode_topic_id(written)) == ({0: (1, 2)}, "AAAAAAAAQACAAAAAAAAAAQ")
    moving = encode_topic({0: (1, 2)}, {0: ReassigningReplicas((2,), ())}, "x")
    assert decode_reassigning(moving) == {0: ReassigningReplicas((2,), ())}
    without = encode_topic({0: (1,)}, {}, "")
    assert '"version":3' in without
    assert decode_topic_id(without) == ""


def test_an_id_is_a_random_uuid_of_version_4() -> None:
    stream = World(7).stream(TOPIC_IDS, 1)
    ids = [random_topic_id(stream) for _ in range(50)]
    assert len(dict.fromkeys(ids)) == 50
    for each in ids:
        found = UUID(bytes=urlsafe_b64decode(each + "=="))
        assert (found.version, found.variant) == (4, RFC_4122)


def test_C49_reassign_to() -> None:
    """ControllerContextTest.testReassignTo: the original survives every override, and going back leaves no trace."""
    first = ReplicaAssignment((1, 2, 3)).reassign_to((4, 5, 6))
    assert first == ReplicaAssignment((4, 5, 6, 1, 2, 3), (4, 5, 6), (1, 2, 3))
    second = first.reassign_to((7, 8, 9))
    assert second == ReplicaAssignment((7, 8, 9, 1, 2, 3), (7, 8, 9), (1, 2, 3))
    assert second.reassign_to((1, 2, 3)) == ReplicaAssignment((1, 2, 3))
    overlapping = ReplicaAssignment((1, 2, 3, 4)).reassign_to((4, 2, 5, 3))
    assert overlapping == ReplicaAssignment((4, 2, 5, 3, 1), (5,), (1,))
    reordered = ReplicaAssignment((1, 2, 3)).reassign_to((3, 1, 2))
    assert (reordered, reordered.being_reassigned) == (ReplicaAssignment((3, 1, 2)), False)


@given(REPLICAS, REQUESTS)
def test_the_last_request_is_the_target_and_the_original_is_never_lost(
    original: tuple[int, ...], requests: list[tuple[int, ...]]
) -> None:
    assignment = ReplicaAssignment(original)
    for target in requests:
        assignment = assignment.reassign_to(target)
        assert assignment.target == target
        assert set(assignment.origin) == set(original)
        assert len(set(assignment.replicas)) == len(assignment.replicas)
        assert set(assignment.replicas) == {*original, *target}
        assert set(assignment.adding) == {*target} - {*original}
        assert set(assignment.removing) == {*original} - {*target}
        assert assignment.being_reassigned is (set(target) != set(original))


@given(REPLICAS, REQUESTS)
def test_only_the_last_request_counts(original: tuple[int, ...], requests: list[tuple[int, ...]]) -> None:
    """But for the order of what is being removed, which follows the requests before."""
    step_by_step = ReplicaAssignment(original)
    for target in requests:
        step_by_step = step_by_step.reassign_to(target)
    at_once = ReplicaAssignment(original).reassign_to(requests[-1])
    assert step_by_step.adding == at_once.adding
    assert set(step_by_step.removing) == set(at_once.removing)


@given(REPLICAS, REPLICAS)
def test_a_cancellation_restores_the_set_and_not_always_the_order(
    original: tuple[int, ...], target: tuple[int, ...]
) -> None:
    moving = ReplicaAssignment(original).reassign_to(target)
    cancelled = moving.reassign_to(moving.origin)
    assert not cancelled.being_reassigned
    assert set(cancelled.replicas) == set(original)
    if not set(original) & set(target):
        assert cancelled.replicas == original


# -- the znode --------------------------------------------------------------------------------------------------------


def test_the_topic_znode_has_two_versions() -> None:
    """TopicZNode of 2.3 and of 2.4.1: the second lists adding and removing replicas where there are any."""
    replicas = {0: (1, 2), 1: (2, 3, 1)}
    assert encode_topic(replicas) == '{"version":1,"partitions":{"0":[1,2],"1":[2,3,1]}}'
    assert encode_topic(replicas, {1: ReassigningReplicas((3,), ())}) == (
        '{"version":2,"partitions":{"0":[1,2],"1":[2,3,1]},"adding_replicas":{"1":[3]},"removing_replicas":{}}'
    )
    assert encode_topic({0: (1,)}, {}) == (
        '{"version":2,"partitions":{"0":[1]},"adding_replicas":{},"removing_replicas":{}}'
    )


@given(st.dictionaries(st.integers(0, 30), st.tuples(REPLICAS, REPLICAS), min_size=1))
def test_what_is_written_is_read_back(moves: dict[int, tuple[tuple[int, ...], tuple[int, ...]]]) -> None:
    moving = {p: ReplicaAssignment(original).reassign_to(target) for p, (original, target) in moves.items()}
    replicas = {p: assignment.replicas for p, assignment in moving.items()}
    data = encode_topic(replicas, {p: assignment.reassigning for p, assignment in moving.items()})
    assert json.loads(data)["version"] == 2
    found = decode_reassigning(data)
    read = {p: ReplicaAssignment(rs, *found.get(p, NOT_REASSIGNED)) for p, rs in decode_topic(data).items()}
    assert read == moving
    assert decode_reassigning(encode_topic(replicas)) == {}


ASSIGNMENTS = st.dictionaries(st.integers(0, 300), REPLICAS | st.just(()), max_size=6)


@given(ASSIGNMENTS, st.booleans())
def test_a_topics_znode_is_the_json_of_its_entries(assignment: dict[int, tuple[int, ...]], moving: bool) -> None:
    """In Kafka's form byte by byte; an operator's own spaces, and another order of the keys, are read too."""
    lists = {str(partition): list(replicas) for partition, replicas in sorted(assignment.items())}
    value: dict[str, object] = {"version": 1, "partitions": lists}
    reassigning = {p: ReassigningReplicas((9,), ()) for p in assignment}
    if moving:
        value = {**value, "version": 2, "adding_replicas": {number: [9] for number in lists}, "removing_replicas": {}}
    data = encode_topic(assignment, reassigning if moving else None)
    assert data == json.dumps(value, separators=(",", ":"))
    for text in (data, json.dumps(value), json.dumps(dict(reversed(value.items())), separators=(",", ":"))):
        assert list(decode_topic(text).items()) == sorted(assignment.items())
        assert decode_reassigning(text) == (reassigning if moving else {})


@given(st.dictionaries(st.tuples(st.sampled_from(["a", 'b"\\é']), st.integers(0, 9)), REPLICAS, max_size=5))
def test_the_moves_znode_is_the_json_of_its_entries(targets: dict[tuple[str, int], tuple[int, ...]]) -> None:
    moves = {TopicPartition(*tp): replicas for tp, replicas in targets.items()}
    entries = [{"topic": tp.topic, "partition": tp.partition, "replicas": list(rs)} for tp, rs in moves.items()]
    data = encode_reassignment(moves)
    assert data == json.dumps({"version": 1, "partitions": entries}, separators=(",", ":"))
    assert decode_reassignment(data) == moves
