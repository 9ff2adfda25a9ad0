"""The metadata cache against a plain dictionary for each broker, and what brokers share of it."""

import gc
from weakref import ref

from hypothesis import given
from hypothesis import strategies as st

from brokers.metadata_cache import MetadataCache, Snapshot
from emulator.protocol.metadata import MetadataRequest
from emulator.protocol.types import LEADER_DURING_DELETE, TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest

BROKERS = 3
UPDATES = st.lists(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2), st.sampled_from((0, 1, LEADER_DURING_DELETE)))),
    max_size=8,
)
"""Updates, each a list of (topic, partition, leader)."""


def metadata(topic: str, partition: int, leader: int) -> PartitionMetadata:
    return PartitionMetadata(TopicPartition(topic, partition), 1, leader, 1, (leader,), 0, (leader,), ())


def request(update: tuple[PartitionMetadata, ...]) -> UpdateMetadataRequest:
    return UpdateMetadataRequest(0, 1, -1, update, (0, 1))


def known(cache: MetadataCache, *topics: str) -> dict[TopicPartition, PartitionMetadata]:
    return {state.tp: state for state in cache.answer(MetadataRequest(topics or None)).partitions}


@given(UPDATES, st.lists(st.integers(0, BROKERS - 1), max_size=24))
def test_brokers_that_take_updates_over_in_their_own_time_know_what_each_was_metadata(
    updates: list[list[tuple[str, int, int]]], turns: list[int]
) -> None:
    """Each broker takes all updates over in order; ``turns`` says whose turn it is."""
    sent = [tuple(metadata(*what) for what in update) for update in updates]
    caches = [MetadataCache() for _ in range(BROKERS)]
    models: list[dict[TopicPartition, PartitionMetadata]] = [{} for _ in range(BROKERS)]
    done = [0] * BROKERS
    for broker in [*turns, *(broker for broker in range(BROKERS) for _ in sent)]:
        if done[broker] == len(sent):
            continue
        update = sent[done[broker]]
        done[broker] += 1
        caches[broker].update(request(update))
        for state in update:
            if state.leader == LEADER_DURING_DELETE:
                models[broker].pop(state.tp, None)
            else:
                models[broker][state.tp] = state
        assert known(caches[broker]) == models[broker]
        assert known(caches[broker], "a") == {tp: s for tp, s in models[broker].items() if tp.topic == "a"}
        assert all(caches[broker].knows(tp) == (tp in models[broker]) for tp in (s.tp for s in update))


def test_brokers_that_received_the_same_updates_share_one_table() -> None:
    caches = [MetadataCache() for _ in range(BROKERS)]
    for update in ((metadata("a", 0, 1), metadata("b", 0, 1)), (metadata("a", 0, 2),)):
        for cache in caches:
            cache.update(request(update))
    assert len({id(cache._snapshot) for cache in caches}) == 1
    assert known(caches[0])[TopicPartition("a", 0)].leader == 2


def test_a_topic_that_an_update_does_not_name_is_not_copied() -> None:
    before = Snapshot({}, ()).after((metadata("a", 0, 1), metadata("b", 0, 1)))
    after = before.after((metadata("a", 0, 2),))
    assert after.topics["b"] is before.topics["b"]
    assert before.topics["a"][0].leader == 1


def test_a_broker_that_lags_does_not_keep_later_snapshots() -> None:
    start = Snapshot({}, ()).after((metadata("a", 0, 1),))
    middle = start.after((metadata("a", 0, 2),))
    gone, newest = ref(middle), middle.after((metadata("a", 0, 1),))
    del middle
    gc.collect()
    assert gone() is None
    assert newest.topics["a"][0].leader == 1


def test_a_topic_has_the_id_that_an_update_names_until_it_is_gone() -> None:
    first = Snapshot({}, ()).after((metadata("a", 0, 1), metadata("b", 0, 1)), {"a": "id of a", "b": "id of b"})
    moved = first.after((metadata("a", 0, 2),), {"a": "id of a"})
    assert moved.topic_ids is first.topic_ids, "most updates change no id"
    gone = moved.after((metadata("a", 0, LEADER_DURING_DELETE),), {"a": "id of a"})
    assert dict(gone.topic_ids) == {"b": "id of b"}
    again = gone.after((metadata("a", 0, 1),), {"a": "another id"})
    assert dict(again.topic_ids) == {"b": "id of b", "a": "another id"}
    missed = moved.after((metadata("a", 0, 1),), {"a": "another id"})
    assert missed.topic_ids["a"] == "another id", "a broker that missed the deletion"
    assert dict(first.topic_ids) == {"a": "id of a", "b": "id of b"}
