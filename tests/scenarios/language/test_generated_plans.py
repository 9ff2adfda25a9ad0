"""Plans in words, and where Kafka's algorithm places replicas."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.protocol.placement import alternate_racks, place_replicas, rack_of
from scenarios.errors import BadInput
from scenarios.language import Scenario, scenario_json_schema
from tests.scenarios.language.json_schema import violations

RACKS = {0: "rack1", 1: "rack3", 2: "rack3", 3: "rack2", 4: "rack2", 5: "rack1"}
"""The racks of AdminRackAwareTest (Kafka 2.3.1)."""
EXECUTE = {"at": "1s", "action": "reassign.execute"}


def scenario(plan: object, *method: dict[str, Any], topics: object = None, **cluster: object) -> Scenario:
    """Six brokers; a has 4 partitions, b 2, with three replicas each, round robin."""
    return Scenario.from_table(
        {
            "title": "a plan in words",
            "cluster": {"brokers": 6, **cluster},
            "topics": topics or [{"name": "a", "partitions": 4}, {"name": "b", "partitions": 2}],
            "method": list(method) or [EXECUTE],
            **({} if plan is None else {"plan": plan}),
        }
    )


# -- placement --------------------------------------------------------------------------------------------------


def test_followers_shift_after_each_round() -> None:
    """The example of AdminUtils' comment: five brokers, partition 0 on broker 0."""
    assert place_replicas([0, 1, 2, 3, 4], 10, 3) == [
        (0, 1, 2), (1, 2, 3), (2, 3, 4), (3, 4, 0), (4, 0, 1), (0, 2, 3), (1, 3, 4), (2, 4, 0), (3, 0, 1), (4, 1, 2),
    ]  # fmt: skip
    assert place_replicas([1, 3], 2, 2, start=1, first_partition=1) == [(1, 3), (3, 1)]
    assert place_replicas([7], 2, 1, first_partition=3) == [(7,), (7,)]


def test_brokers_alternate_by_rack() -> None:
    """AdminRackAwareTest.testGetRackAlternatedBrokerListAndAssignReplicasToBrokers."""
    assert alternate_racks(range(6), RACKS) == (0, 3, 1, 5, 4, 2)
    assert alternate_racks(range(5), RACKS) == (0, 3, 1, 4, 2)
    assert place_replicas(range(6), 7, 3, racks=RACKS) == [
        (0, 3, 1), (3, 1, 5), (1, 5, 4), (5, 4, 2), (4, 2, 0), (2, 0, 3), (0, 4, 2),
    ]  # fmt: skip


@given(st.integers(1, 4), st.integers(1, 12), st.integers(1, 30), st.integers(0, 11), st.data())
def test_replicas_are_on_as_many_racks_as_can_be(
    racks: int, brokers: int, count: int, start: int, data: st.DataObject
) -> None:
    factor = data.draw(st.integers(1, brokers))
    names = {broker: rack_of(broker, racks) for broker in range(brokers)}
    every = len(set(names.values()))
    for replicas in place_replicas(range(brokers), count, factor, start=start % brokers, racks=names):
        assert len(set(replicas)) == factor
        assert len({names[broker] for broker in replicas}) == min(every, factor)


# -- to ---------------------------------------------------------------------------------------------------------


def test_to_places_every_partition_again() -> None:
    """A topic begins where the one before it has ended."""
    plan = scenario({"to": [5, 3, 4]}).plan
    assert plan is not None
    assert plan.targets() == {
        "a-0": (3, 4, 5), "a-1": (4, 5, 3), "a-2": (5, 3, 4), "a-3": (3, 5, 4),
        "b-0": (4, 3, 5), "b-1": (5, 4, 3),
    }  # fmt: skip


def test_topics_limit_the_plan() -> None:
    assert list(scenario({"topics": ["b"], "to": [3, 4, 5]}).targets()) == ["b-0", "b-1"]


def test_racks_are_respected() -> None:
    for replicas in scenario({"to": [0, 1, 2, 3, 4, 5]}, racks=3).targets().values():
        assert len({broker % 3 for broker in replicas}) == 3


# -- decommission -----------------------------------------------------------------------------------------------


def test_decommission_moves_the_replicas_of_that_broker_and_no_others() -> None:
    found = scenario({"decommission": 0}, topics=[{"name": "a", "partitions": 30}])
    before, targets = found.assignments(), found.targets()
    assert sorted(targets) == sorted(name for name, replicas in before.items() if 0 in replicas)
    for name, target in targets.items():
        kept = [(old, new) for old, new in zip(before[name], target, strict=True) if old != 0]
        assert all(old == new for old, new in kept), "the others keep their places"
    after = Counter(broker for replicas in {**before, **targets}.values() for broker in replicas)
    assert after[0] == 0
    assert max(after.values()) - min(after[broker] for broker in range(1, 6)) <= 3


def test_several_brokers_are_decommissioned_in_favour_of_some() -> None:
    found = scenario({"decommission": [0, 1], "to": [4, 5]})
    before = found.assignments()
    for name, target in found.targets().items():
        assert set(target) - set(before[name]) <= {4, 5}
        assert not {0, 1} & set(target)


def test_a_replica_stays_in_its_rack() -> None:
    found = scenario({"decommission": 0}, racks=3)
    assert all(3 in target for target in found.targets().values())


# -- where a plan starts from -----------------------------------------------------------------------------------


def test_an_entry_starts_from_what_the_entries_before_it_leave() -> None:
    """First the partitions go to 3, 4 and 5, among them those of a topic that is created; then 3 is emptied."""
    created = {"at": "500ms", "action": "topic.create", "topic": {"name": "c", "brokers": [3, 4, 5]}}
    emptied = {"after": "20s", "action": "reassign.execute", "plan": {"decommission": 3}}
    found = scenario({"to": [3, 4, 5]}, created, EXECUTE, emptied)
    assert [len(plan.partitions) for plan in found.plans] == [6, 7]
    assert found.plans[1].targets()["a-0"] == (0, 4, 5)
    assert found.plans[1].targets()["c-0"] == (2, 4, 5)


def test_the_same_words_mean_the_same_plan() -> None:
    verify = {"after": "20s", "action": "reassign.verify", "plan": {"decommission": 0}}
    found = scenario(None, {**EXECUTE, "plan": {"decommission": 0}}, verify)
    assert found.plans[0] == found.plans[1]


# -- reading and writing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("plan", [{"to": [3, 4, 5]}, {"decommission": 0}, {"decommission": [0, 1], "topics": ["b"]}])
def test_the_words_are_written_and_not_what_they_mean(plan: dict[str, object]) -> None:
    found = scenario(plan)
    assert found.to_table()["plan"] == plan
    assert Scenario.loads(found.to_toml()) == found
    schema = scenario_json_schema()
    assert violations(found.to_table(), schema, schema) == []


def test_a_change_of_the_cluster_changes_the_plan() -> None:
    changed = scenario({"decommission": 0}).with_overrides({"plan.decommission": "1", "topics[0].partitions": "1"})
    assert list(changed.targets()) == ["a-0", "b-0", "b-1"]


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({"decommision": 0}, "plan.decommision: unknown key 'decommision'; did you mean 'decommission'?"),
        ({"topics": ["a"]}, "plan: nothing says where to; add to = [3, 4, 5] or decommission = 0"),
        ({"to": [1, 2]}, "plan.to: a has 3 replicas of each partition, which do not fit on 2 brokers; name 3 or more"),
        ({"to": [1, 2, 6]}, "plan.to: broker 6 does not exist; write an id from 0 to 5"),
        ({"to": [3, 4, 5], "topics": ["A"]}, "plan.topics[0]: unknown topic 'A'; did you mean 'a'?"),
        ({"decommission": 0, "to": [0, 1]}, "plan.to: broker 0 is decommissioned; leave it out"),
        ({"decommission": 0, "to": [1]}, "plan.to: no broker is left that could take a-0; name more brokers"),
    ],
)
def test_what_is_refused(plan: object, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        scenario(plan)
    assert said in str(refused.value)


def test_nothing_to_decommission_is_refused() -> None:
    with pytest.raises(BadInput, match="no partition has a replica on broker 5; nothing is to be moved"):
        scenario({"decommission": 5}, topics=[{"name": "a"}])


# -- brokers of a topic -----------------------------------------------------------------------------------------


def test_a_topic_is_placed_on_its_brokers() -> None:
    [topic] = scenario(None, {"at": "1s", "action": "broker.crash", "target": 0}, topics=[
        {"name": "a", "partitions": 4, "brokers": [5, 1, 3], "replication_factor": 2}
    ]).topics  # fmt: skip
    assert topic.replica_lists(range(6)) == ((5, 1), (1, 3), (3, 5), (5, 1))


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ({"brokers": [0, 1]}, "topics[0].brokers: 3 replicas do not fit on 2 brokers"),
        ({"brokers": [0, 1, 7]}, "topics[0].brokers: broker 7 does not exist"),
        ({"brokers": [0, 1, 2], "assignment": [[0, 1, 2]]}, "the assignment names the brokers already"),
    ],
)
def test_brokers_of_a_topic_that_are_refused(topic: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput) as refused:
        scenario(None, topics=[{"name": "a", **topic}])
    assert said in str(refused.value)
