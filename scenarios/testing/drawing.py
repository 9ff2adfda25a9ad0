"""Hypothesis strategies: clusters, plans, faults and loads, as parts of scenarios; they shrink towards few and early.

Needs Hypothesis, which ``pip install understudy[test]`` brings.
"""

from __future__ import annotations

from typing import Any

from attrs import evolve
from hypothesis import strategies as st

from scenarios.language import MethodEntry, Move, Plan, Scenario, WorkloadSpec
from scenarios.language.entries import METHOD_ENTRY
from scenarios.language.topic_spec import split_partition
from scenarios.profiles import DEFAULT_PROFILE

Table = dict[str, Any]
MOST_BROKERS = 5
TOPIC = "orders"


@st.composite
def clusters(
    draw: st.DrawFn,
    *,
    brokers: tuple[int, int] = (1, MOST_BROKERS),
    partitions: int = 3,
    profile: str = DEFAULT_PROFILE,
) -> Scenario:
    """Scenarios with a cluster and one topic, ``orders``, and nothing that happens in it.

    Args:
        brokers: the least and the largest number of brokers.
        partitions: the most partitions of the topic. Its replicas are on any brokers, in any order.
    """
    count = draw(st.integers(*brokers))
    factor = draw(st.integers(1, min(3, count)))
    ids = st.permutations(range(count)).map(lambda order: list(order[:factor]))
    table: Table = {
        "title": "drawn by Hypothesis",
        "profile": profile,
        "seed": draw(st.integers(0, 2**31)),
        "cluster": {
            "brokers": count,
            "config": {"min.insync.replicas": draw(st.integers(1, factor)), "replica.lag.time.max.ms": 10_000},
        },
        "topics": [{"name": TOPIC, "assignment": draw(st.lists(ids, min_size=1, max_size=partitions))}],
    }
    return Scenario.from_table(table)


@st.composite
def loads(draw: st.DrawFn, scenario: Scenario) -> WorkloadSpec:
    """A producer of one of the scenario's topics."""
    acks = draw(st.sampled_from(["all", "1"]))
    return WorkloadSpec(
        topic=draw(st.sampled_from([topic.name for topic in scenario.topics])),
        producer_rate=draw(st.sampled_from([20, 100, 200])),
        acks=acks,
        config={"enable.idempotence": True} if acks == "all" and draw(st.booleans()) else {},
    )


@st.composite
def plans(draw: st.DrawFn, scenario: Scenario) -> Plan:
    """A reassignment plan: some partitions get other replicas, more or fewer of them, or another order."""
    names = draw(st.lists(st.sampled_from(list(scenario.assignments())), min_size=1, unique=True))
    return Plan(partitions=tuple(draw(_move(scenario, name)) for name in names))


@st.composite
def _move(draw: st.DrawFn, scenario: Scenario, partition: str) -> Move:
    topic, number = split_partition(partition)
    factor = len(scenario.assignments()[partition])
    order = draw(st.permutations(scenario.cluster.ids))
    return Move(topic=topic, partition=number, replicas=tuple(order[: draw(st.integers(1, factor + 1))]))


@st.composite
def faults(draw: st.DrawFn, scenario: Scenario, *, most: int = 5, within_s: int = 60) -> tuple[MethodEntry, ...]:
    """Faults at random times, each of which ends after some seconds.

    Args:
        most: the largest number of faults.
        within_s: the virtual time in which all of them begin.
    """
    brokers = st.sampled_from(scenario.cluster.ids)
    partitions = st.sampled_from(list(scenario.assignments()))
    times = st.integers(1, within_s * 10).map(lambda tenths: f"{tenths * 100}ms")
    lasting = st.integers(1, 300).map(lambda tenths: f"{tenths * 100}ms")
    entries = draw(st.lists(st.tuples(times, _fault(brokers, partitions, lasting)), max_size=most))
    return tuple(METHOD_ENTRY.read({"at": at, "optional": True, **fault}) for at, fault in entries)


def _fault(
    brokers: st.SearchStrategy[int], partitions: st.SearchStrategy[str], lasting: st.SearchStrategy[str]
) -> st.SearchStrategy[Table]:
    def of(action: str, **more: Any) -> st.SearchStrategy[Table]:
        return st.fixed_dictionaries({"action": st.just(action), **more})

    peer = st.one_of(brokers.map(lambda id: [id]), st.just("zookeeper"))
    target = st.one_of(brokers, partitions.map("leader({})".format), partitions.map("isr({})-leader".format))
    return st.one_of(
        of("broker.crash", target=target, kind=st.sampled_from(["process", "host"]), duration=lasting),
        of("broker.pause", target=target, duration=lasting),
        of("zk.expire", target=target),
        of(
            "link.cut",
            target=target,
            peer=peer,
            duration=lasting,
        ),
        of("controller.crash", duration=lasting),
        of("fetcher.fail_partition", target=brokers, partition=partitions),
    )


@st.composite
def scenarios(draw: st.DrawFn, /, **cluster: Any) -> Scenario:
    """Whole scenarios: a cluster, a load, a plan, faults; then everything is healed, and the cluster has to converge.

    Args:
        cluster: as for ``clusters``.
    """
    scenario = draw(clusters(**cluster))
    load, plan, method = draw(loads(scenario)), draw(plans(scenario)), list(draw(faults(scenario)))
    method.insert(0, METHOD_ENTRY.read({"at": "5s", "action": "reassign.execute"}))
    method.append(METHOD_ENTRY.read({"at": "100s", "action": "heal"}))
    whole = evolve(scenario, workloads=(load,), plan=plan, method=tuple(method))
    whole.check()
    return whole
