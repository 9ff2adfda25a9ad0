"""Emulated members of groups, and emulated transactional producers, against the brokers' coordinators."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from emulator.protocol.control_requests import TopicsAnswered
from emulator.protocol.events import (
    CommittedFetched,
    Fetched,
    GroupGeneration,
    GroupMemberRemoved,
    GroupStateChanged,
    OffsetsCommitted,
    TransactionalAppended,
    TransactionMarked,
    TransactionStateChanged,
)
from emulator.protocol.shown import SessionAnswered
from emulator.protocol.shown_coordination import MemberHeard, OffsetsRead, ProducerInitialized
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.runs.runner import Stage, prepare

TEXT = """
schema = "scenario/1"
title = "coordinated"

[cluster]
brokers = 3
config = { "offsets.topic.num.partitions" = 1, "transaction.state.log.num.partitions" = 1 }

[[topics]]
name = "orders"
assignment = [[0, 1, 2], [1, 2, 0]]

[[method]]
at = "20s"
action = "controller.resign"
"""
MEMBERS = """
[[clients]]
behaviour = "group-member"
count = 2
group = "readers"
partitions = ["orders-0", "orders-1"]
stays = 4
stop = "20s"
"""
WRITERS = """
[[clients]]
behaviour = "transactional"
count = 2
id = "writer"
group = "readers"
partitions = ["orders-0", "orders-1"]
aborts = 50
stop = "20s"
"""


def seen(text: str, *kinds: type, profile: str = "kafka-2.3") -> list[Any]:
    """The events of these kinds in the run of a scenario, in which no checker finds anything."""
    found: list[Any] = []
    stage = Stage(prepare(Scenario.loads(TEXT + text).for_run(profile=profile)))
    for kind in kinds:
        stage.cluster.trace.fold(kind, found.append)
    stage.play()
    assert not stage.checkers.violations
    return found


def test_members_join_commit_what_grows_and_leave() -> None:
    events = seen(MEMBERS, GroupGeneration, OffsetsCommitted, GroupMemberRemoved)
    kinds = Counter(type(event).__name__ for event in events)
    assert kinds["GroupGeneration"] >= 2
    assert kinds["GroupMemberRemoved"] >= 1
    committed: dict[tuple[str, int], int] = {}
    for event in events:
        if isinstance(event, OffsetsCommitted) and event.error == "NONE":
            for topic, partition, offset in zip(event.topics, event.partitions, event.offsets, strict=True):
                assert offset > committed.get((topic, partition), 0), "a member goes on where the group was"
                committed[topic, partition] = offset
    assert set(committed) == {("orders", 0), ("orders", 1)}


def test_producers_with_one_id_fence_each_other_and_transactions_are_committed_and_aborted() -> None:
    events = seen(WRITERS, TransactionStateChanged, TransactionMarked)
    epochs = {event.producer_epoch for event in events if isinstance(event, TransactionStateChanged)}
    states = {event.state for event in events if isinstance(event, TransactionStateChanged)}
    assert len(epochs) > 2
    assert {"CompleteCommit", "CompleteAbort"} <= states
    assert {event.committed for event in events if isinstance(event, TransactionMarked)} == {True, False}


def test_a_member_that_joins_again_begins_a_generation_and_its_late_commit_is_refused() -> None:
    text = MEMBERS.replace("stays = 4", "rejoins = 3")
    generations = [event.generation for event in seen(text, GroupGeneration)]
    assert generations == list(range(1, len(generations) + 1))
    assert len(generations) > 3
    by_now: list[int] = []
    for event in seen(text, GroupGeneration, OffsetsCommitted):
        if isinstance(event, GroupGeneration):
            by_now.append(event.generation)
        else:
            assert event.generation == by_now[-1], "no commit of an earlier generation takes effect"


def test_a_static_member_whose_process_ends_takes_its_place_back() -> None:
    alone = MEMBERS.replace("count = 2", "count = 1").replace("stays = 4", 'stays = 3\ninstance = "one"')
    events = seen(alone, GroupGeneration, GroupMemberRemoved)
    assert len([event for event in events if isinstance(event, GroupGeneration)]) == 1
    assert {event.reason for event in events if isinstance(event, GroupMemberRemoved)} == {"replaced"}


def test_a_member_that_outsleeps_its_session_commits_nothing() -> None:
    text = MEMBERS.replace("stays = 4", 'stalls = 100\nsession = "6s"').replace('"20s"', '"50s"')
    events = seen(text, OffsetsCommitted, GroupMemberRemoved)
    assert {event.reason for event in events if isinstance(event, GroupMemberRemoved)} == {"session"}
    assert not [event for event in events if isinstance(event, OffsetsCommitted)]


def test_a_producer_that_stalls_is_fenced_by_the_other_one_and_its_transaction_is_aborted() -> None:
    text = WRITERS.replace("aborts = 50", 'aborts = 0\nstalls = 60\ntimeout = "2s"').replace('"20s"', '"40s"')
    states = Counter(event.state for event in seen(text, TransactionStateChanged))
    assert states["PrepareAbort"] == states["CompleteAbort"] > 0
    assert states["PrepareCommit"] > 0


def test_a_member_that_falls_quiet_stays_and_commits_nothing_more() -> None:
    events = seen(MEMBERS.replace("stays = 4", "quiet = 2"), OffsetsCommitted, GroupMemberRemoved, MemberHeard)
    kinds = Counter(type(event) for event in events)
    assert kinds[OffsetsCommitted] == 4, "two of each member"
    assert kinds[MemberHeard] > 20
    assert not kinds[GroupMemberRemoved]


def test_members_that_stay_away_leave_the_group_empty() -> None:
    text = MEMBERS.replace("stays = 4", 'stays = 2\naway = "6s"')
    states = Counter(event.state for event in seen(text, GroupStateChanged))
    assert states["Empty"] >= 2
    assert states["Stable"] >= 2


def test_a_member_that_works_for_long_keeps_its_session_and_holds_up_the_rebalance() -> None:
    """Another member joins meanwhile, and waits."""
    text = MEMBERS.replace("stays = 4", 'busy = 100\nsession = "6s"\nrebalance = "30s"').replace('"20s"', '"80s"')
    states = [event for event in seen(text, GroupStateChanged) if event.state in ("PreparingRebalance", "Stable")]
    waits = [after.t_us - before.t_us for before, after in pairwise(states) if before.state == "PreparingRebalance"]
    assert max(waits) > 6_000_000
    assert not [event for event in seen(text, GroupMemberRemoved) if event.reason == "rebalance"]


def test_a_member_that_dies_as_it_joins_holds_the_group_up_until_its_id_is_taken_back() -> None:
    text = MEMBERS.replace("stays = 4", 'gives_up = 50\nsession = "6s"').replace('"20s"', '"60s"')
    states = Counter(event.state for event in seen(text, GroupStateChanged))
    assert states["PreparingRebalance"] > states["Stable"] > 0


READER = """
[[clients]]
behaviour = "committed-reader"
partitions = ["orders-0", "orders-1"]
stop = "20s"
"""


def test_a_reader_of_committed_records_gets_each_batch_once_it_is_decided() -> None:
    text = WRITERS.replace("aborts", "rounds = 3\naborts") + READER
    events = seen(text, TransactionalAppended, CommittedFetched)
    written = [event.batch for event in events if isinstance(event, TransactionalAppended)]
    got = [id for event in events if isinstance(event, CommittedFetched) for id in event.ids]
    assert len(got) == len(set(got))
    assert len(set(written) & set(got)) > 0.8 * len(set(written)) > 20
    assert any(event.producer_ids for event in events if isinstance(event, CommittedFetched)), "some were aborted"


def test_a_reader_that_was_too_slow_begins_again_where_the_log_does() -> None:
    """Segments are deleted before it has read them."""
    short = 'name = "orders"\nconfig = { "segment.bytes" = 1000, "retention.ms" = 1000 }'
    text = WRITERS.replace("aborts", 'pause = "50ms"\naborts') + READER.replace("stop", 'poll = "5s"\nstop')
    text = text.replace(', "orders-1"', "")
    found: list[Any] = []
    quick = TEXT.replace('name = "orders"', short).replace("{ ", '{ "log.retention.check.interval.ms" = 500, ', 1)
    stage = Stage(prepare(Scenario.loads(quick + text)))
    stage.cluster.trace.fold(Fetched, found.append)
    stage.play()
    assert not stage.checkers.violations
    of_first = [event for event in found if event.partition == 0]
    assert any(later.offset > before.next_offset for before, later in pairwise(of_first))


@pytest.mark.parametrize("text", [MEMBERS, WRITERS, WRITERS + READER])
def test_a_file_with_them_is_its_own_replay(text: str) -> None:
    scenario = Scenario.loads(TEXT + text)
    again = Scenario.loads(scenario.to_toml())
    assert again == scenario
    assert again.run().digest == scenario.run().digest


def test_an_unknown_behaviour_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(BadInput, match=r"unknown behaviour 'group-membr'; did you mean 'group-member'"):
        Scenario.loads(TEXT + MEMBERS.replace("group-member", "group-membr"))


def test_a_reader_of_sessions_follows_what_it_wants_and_takes_partitions_out_of_them() -> None:
    reader = """
[[workloads]]
topic = "orders"
producerRate = 20
stop = "10s"

[[clients]]
behaviour = "session-reader"
partitions = ["orders-0", "orders-1"]
changes = 3
stop = "20s"
"""
    answers = seen(reader, SessionAnswered, Fetched, profile="kafka-2.7")
    assert any(answer.left_out for answer in answers if isinstance(answer, SessionAnswered))
    assert {answer.partition for answer in answers if isinstance(answer, Fetched)} == {0, 1}
    assert [answer for answer in answers if isinstance(answer, SessionAnswered) and answer.besides] == []


def test_a_reader_of_stable_offsets_gets_none_that_an_open_transaction_may_replace() -> None:
    reader = """
[[clients]]
behaviour = "offset-reader"
group = "readers"
partitions = ["orders-0", "orders-1"]
pause = "20ms"
stop = "20s"
"""
    told = seen(WRITERS + reader, OffsetsRead, profile="kafka-2.7")
    assert all(event.stable for event in told)
    assert any(event.unstable for event in told)
    assert any(offset >= 0 for event in told for _tp, offset in event.offsets)


def test_a_producer_gives_up_what_it_has_for_a_topic_that_is_deleted() -> None:
    writers = WRITERS.replace("count = 2\n", 'delivery = "2s"\n') + '\n[[method]]\nat = "5s"\n'
    gone = 'action = "topic.delete"\ntopic = "orders"\n'
    states = seen(writers.replace('stop = "20s"', 'stop = "40s"') + gone, TransactionStateChanged)
    assert states[-1].t_us > 5_000_000, "it begins again with another epoch"
    assert states[-1].state in ("Empty", "CompleteAbort", "CompleteCommit")


@pytest.mark.parametrize("profile", ["kafka-2.3", "kafka-2.7", "kafka-3.9"])
@pytest.mark.parametrize("action", ["broker.controlled_shutdown", "broker.crash"])
@pytest.mark.parametrize("broker", [0, 1, 2])
def test_a_broker_failure_causes_no_rebalance(profile: str, action: str, broker: int) -> None:
    """kafkatest's OffsetValidationTest.test_broker_failure, also with the broker that coordinates: the members go on,
    and what they commit grows."""
    text = MEMBERS.replace("count = 2", "count = 3").replace("stays = 4", "stays = 1000")
    text = text.replace('stop = "20s"', 'stop = "40s"')
    fault = f'[[method]]\nat = "15s"\naction = "{action}"\ntarget = {broker}\n'
    events = seen(text + fault, GroupGeneration, OffsetsCommitted, profile=profile)
    later = [event for event in events if event.t_us > 15_000_000]
    assert not [event for event in later if isinstance(event, GroupGeneration) and event.t_us < 39_000_000]
    assert [event for event in later if isinstance(event, OffsetsCommitted) and event.error == "NONE"]


def test_a_consumer_failure_leaves_its_partitions_to_the_others() -> None:
    """kafkatest's OffsetValidationTest.test_consumer_failure: a member falls silent; the others go on with all
    partitions."""
    text = MEMBERS.replace("count = 2", "count = 3").replace("stays = 4", 'stays = 1000\nsession = "6s"')
    alone = text.replace("count = 3", "count = 1\nstalls = 100").replace('stop = "20s"', 'stop = "60s"')
    events = seen(text.replace('stop = "20s"', 'stop = "60s"') + alone, GroupMemberRemoved, OffsetsCommitted)
    [first, *_] = [event for event in events if isinstance(event, GroupMemberRemoved)]
    assert first.reason == "session"
    later = [event for event in events if isinstance(event, OffsetsCommitted) and event.t_us > first.t_us + 10_000_000]
    assert {tp for event in later for tp in zip(event.topics, event.partitions, strict=True)} == {
        ("orders", 0), ("orders", 1),
    }  # fmt: skip


def test_a_producer_raises_its_own_epoch_and_commits_offsets_of_several_groups() -> None:
    alone = WRITERS.replace("count = 2", "raises = 100\ngroups = 2").replace("aborts = 50", "aborts = 0")
    events = seen(alone, ProducerInitialized, OffsetsCommitted, profile="kafka-2.7")
    raised = [event for event in events if isinstance(event, ProducerInitialized) and event.given_id >= 0]
    raised = [event for event in raised if event.producer_id >= 0]
    assert {event.given_epoch - event.producer_epoch for event in raised} == {1}
    assert {event.group for event in events if isinstance(event, OffsetsCommitted)} == {"readers", "readers-1"}


def test_an_administrator_creates_extends_and_deletes_topics() -> None:
    text = '\n[[clients]]\nbehaviour = "administrator"\ntopics = ["a", "b"]\npause = "200ms"\nstop = "20s"\n'
    answers = seen(text, TopicsAnswered)
    assert {event.asked for event in answers} == {"create", "delete"}
    assert {topic for event in answers for topic in event.partitions} == {"a", "b"}


def test_a_reader_of_small_answers_reads_some_of_them_again() -> None:
    reader = READER.replace("stop", "partition_bytes = 1\ngoes_back = 30\nstop")
    answers = seen(WRITERS.replace("aborts", "rounds = 3\naborts") + reader, CommittedFetched)
    got = [event.ids for event in answers if event.ids]
    assert {len(ids) for ids in got} == {1}, "a batch at a time"
    again = [later for before, later in pairwise(got) if later == before]
    assert again
    assert len(set(got)) > 20, "it goes on all the same"


def test_a_client_with_seldom_requests_commits_removes_members_and_deletes_its_group() -> None:
    text = (
        '[[clients]]\nbehaviour = "seldom-requests"\ngroup = "alone"\npartitions = ["orders-0"]\npause = "100ms"\n'
        'stop = "20s"\n'
    )
    members = MEMBERS.replace("stays = 4", 'instance = "static-0"').replace("count = 2\n", "")
    removes = text.replace('"alone"', '"readers"\nrequests = ["remove-member"]')
    events = seen(members + text + removes, OffsetsCommitted, GroupMemberRemoved, profile="kafka-3.0")
    assert any(event.group == "alone" for event in events if isinstance(event, OffsetsCommitted))
    assert "left" in {event.reason for event in events if isinstance(event, GroupMemberRemoved)}
