"""E9 and F11: what a broker remembers, part by part.

End to end: ``tests/scenarios/runs/test_broken_guards_of_memories.py``.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from brokers.memories import Fetched
from controller.states import ReplicaState
from emulator.protocol.kip_352_draft import DraftPartitionMetadata
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata
from emulator.protocol.znodes import LeaderAndIsr
from fetchers.quota import RATE_NAMES, UNLIMITED, QuotaSettings
from scenarios.observe.checkers.broker_remembers import BrokerRemembersTrue
from scenarios.observe.checkers.controller_remembers import ControllerRemembersTrue
from scenarios.observe.checkers.coordinators_lead import CoordinatorsLead
from scenarios.observe.checkers.fetchers_fit import FetchersFit

TP = TopicPartition("orders", 0)
ASSIGNED = (1, 0, 4, 3)


def unlike(known: PartitionMetadata, *, isrs_announced: bool = True) -> list[str]:
    """Differences from ZooKeeper, which has orders-0 on ``ASSIGNED``, led by broker 1, with that ISR."""
    cluster = SimpleNamespace(
        registrations={}, topics={"orders": {0: ASSIGNED}}, is_deleting=lambda _topic: False,
        state=lambda _tp: LeaderAndIsr(1, 3, ASSIGNED, 1), assignment=lambda _tp: ASSIGNED,
    )  # fmt: skip
    now = SimpleNamespace(isr_announced=lambda *_of: True)
    checker = SimpleNamespace(cluster=cluster, _announced=False, _isrs_announced=isrs_announced, now=now)
    memories = {"live_brokers": (), "metadata": {"orders": {0: known}}}
    found = BrokerRemembersTrue.metadata(cast("Any", checker), cast("Any", SimpleNamespace(t_us=9)), memories)
    return [f"{one.kept}; {one.wanted}" for one in found]


@pytest.mark.parametrize(
    ("replicas", "isr", "wanted"),
    [
        (ASSIGNED, ASSIGNED, []),
        ((1, 0, 4), ASSIGNED, ["replicas [1, 0, 4]; replicas [1, 0, 4, 3]"]),
        ((1, 3, 4, 0), ASSIGNED, ["replicas [1, 3, 4, 0]; replicas [1, 0, 4, 3]"]),
        (ASSIGNED, (1, 0), ["the ISR [1, 0]; the ISR [1, 0, 4, 3]"]),
    ],
)
def test_replicas_and_isrs_of_the_metadata(replicas: tuple[int, ...], isr: tuple[int, ...], wanted: list[str]) -> None:
    assert unlike(PartitionMetadata(TP, 1, 1, 3, isr, 1, replicas, ())) == wanted


def test_isrs_are_not_compared_where_leaders_do_not_announce_them() -> None:
    """Before KAFKA-1367 (0.9)."""
    assert unlike(PartitionMetadata(TP, 1, 1, 3, (1, 0), 1, ASSIGNED, ()), isrs_announced=False) == []
    replicas = PartitionMetadata(TP, 1, 1, 3, (1, 0), 1, (1, 0, 4), ())
    assert unlike(replicas, isrs_announced=False) == ["replicas [1, 0, 4]; replicas [1, 0, 4, 3]"]


def test_the_draft_of_kip_352_names_the_replicas_before_a_move_and_after_it() -> None:
    """kip-352-draft, seed 22 of the default swarm: a controller that takes over takes [1] to be those before it."""

    def drafted(isr: tuple[int, ...], current: tuple[int, ...], impending: tuple[int, ...]) -> DraftPartitionMetadata:
        return DraftPartitionMetadata(
            TP, 1, 1, 3, isr, 1, (1, 3, 4, 0), (), current_replicas=current, impending_replicas=impending
        )

    assert unlike(drafted(ASSIGNED, (1,), (3, 4, 0))) == []
    assert unlike(drafted((1, 0), (1,), (3, 4, 0))) == ["the ISR [1, 0]; the ISR [1, 0, 4, 3]"]
    assert unlike(drafted(ASSIGNED, (1, 3, 4, 0), ())) == ["replicas [1, 3, 4, 0]; replicas [1, 0, 4, 3]"]


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        ((3, 4), []),
        ((3,), ["the offline replicas [3]; the offline replicas [4, 3]"]),
        ((0, 3, 4), ["the offline replicas [0, 3, 4]; the offline replicas [4, 3]"]),
        ((1, 3, 4), []),
    ],
)
def test_offline_replicas_of_the_metadata(told: tuple[int, ...], wanted: list[str]) -> None:
    """Broker 4 is not registered, 3 has lost the log, 1 has lost a directory and never had it."""
    roles = {3: SimpleNamespace(offline=True), 0: SimpleNamespace(offline=False)}
    cluster = SimpleNamespace(
        registrations={0: 1, 1: 1, 3: 1}, lacks_dirs=lambda broker: broker in (1, 3),
        last_role=lambda broker, _tp: roles.get(broker),
    )  # fmt: skip
    checker = SimpleNamespace(cluster=cluster, shut_down={})
    of = BrokerRemembersTrue
    checker._is_offline = lambda *of_replica: of._is_offline(cast("Any", checker), *of_replica)
    known = PartitionMetadata(TP, 1, 1, 3, ASSIGNED, 1, ASSIGNED, told)
    wrong = of._wrongly_told(cast("Any", checker), known)
    right = [broker for broker in ASSIGNED if (broker in told) is not (broker in wrong)]
    assert [f"the offline replicas {list(told)}; the offline replicas {right}"] * bool(wrong) == wanted


@pytest.mark.parametrize(("counts", "rate"), [(False, UNLIMITED), (True, 200)])
def test_throttled_rates_of_all_brokers(counts: bool, rate: int) -> None:
    """KAFKA-10190 (3.9): they count where a broker has none of its own."""
    of, name = BrokerRemembersTrue, RATE_NAMES[0]
    configs = {"brokers/<default>": {name: "200"}, "brokers/0": {name: "100"}}
    cluster = SimpleNamespace(topics={})
    checker: Any = SimpleNamespace(cluster=cluster, _configs=configs, _rates_of_all=counts)
    checker._own = lambda broker: of._own(checker, broker)
    checker._of_broker = lambda broker: of._of_broker(checker, broker)
    for broker, right in ((0, 100), (1, rate)):
        for kept in (100, 200, UNLIMITED):
            rates = (kept, *(UNLIMITED for _ in RATE_NAMES[1:]))
            memories = {"throttles": QuotaSettings(rates, {}, {})}
            found = list(of.throttles(checker, cast("Any", SimpleNamespace(node=broker)), memories))
            assert bool(found) is (kept != right)


@pytest.mark.parametrize(
    ("topic", "partition", "fetchers", "number"),
    [("orders", 0, 1, 0), ("orders", 0, 4, 1), ("orders", 1, 4, 0), ("wide-topic", 3, 5, 1), ("a", 7, 3, 2)],
)
def test_the_thread_of_a_partition(topic: str, partition: int, fetchers: int, number: int) -> None:
    """As Java counts: ``String.hashCode``, and a sum of 32 bits."""
    tp, of = TopicPartition(topic, partition), FetchersFit
    role = SimpleNamespace(leads=False, leader=1, leader_epoch=3)
    cluster = SimpleNamespace(state=lambda _tp: LeaderAndIsr(1, 3, ASSIGNED, 1))
    for counts in (True, False):
        checker: Any = SimpleNamespace(cluster=cluster, start=SimpleNamespace(detects_bounces=counts))
        for kept in range(fetchers):
            memories = {"replicas": {tp: role}, "fetched": {tp: Fetched(1, 3, False, kept)}}
            found = list(of.unlike_meanwhile(checker, cast("Any", None), memories | {"fetcher_threads": fetchers}))
            assert [one.wanted for one in found] == [f"fetcher {number}"] * (counts and kept != number)


@pytest.mark.parametrize(
    ("leader", "role", "wanted"),
    [(1, True, []), (-1, True, []), (-1, False, ["broker -1 leads"]), (-1, None, ["broker -1 leads"])]
    + [(2, role, ["broker 2 leads"]) for role in (True, False, None)],
)
def test_the_coordinator_of_a_partition_without_a_leader_is_the_last_one(
    leader: int, role: bool | None, wanted: list[str]
) -> None:
    """wiki-text, seed 27003: broker 1 has received that the partition has no leader, and goes on."""
    home = TopicPartition("__transaction_state", 1)
    cluster = SimpleNamespace(
        topics=(), leader=lambda _tp: leader, assignment=lambda _tp: (1, 0), is_deleting=lambda _topic: False
    )
    replicas = {} if role is None else {home: SimpleNamespace(leads=role)}
    memories = {"coordinates": {home: None}, "replicas": replicas}
    checker, event = SimpleNamespace(cluster=cluster), SimpleNamespace(node=1)
    found = CoordinatorsLead.unlike(cast("Any", checker), cast("Any", event), memories)
    assert [one.wanted for one in found] == wanted


@pytest.mark.parametrize(("asked", "count"), [({}, 1), ({TP: (2, 1)}, 0)])
def test_a_replica_is_new_while_zookeeper_asks_for_its_move(asked: dict[TopicPartition, Any], count: int) -> None:
    """kafka-0.8, seed 28049: the tool did not get ZooKeeper's answer, and does not know that it has asked."""

    def no(_of: object) -> bool:
        return False

    cluster = SimpleNamespace(
        is_registered=lambda _broker: True, lacks_dirs=no, is_shutting_down=no, is_deleting=no, is_reassigning=no,
        open_move=no, state=lambda _tp: LeaderAndIsr(0, 3, (0,), 1), assignment=lambda _tp: (0, 3),
        requested_moves=lambda: asked,
    )  # fmt: skip
    memories = {"replica_states": {2: {TP: ReplicaState.NEW}}}
    found = ControllerRemembersTrue.replica_states(cast("Any", SimpleNamespace(cluster=cluster)), memories)
    assert len(list(found)) == count
