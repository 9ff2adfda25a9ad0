"""Hypothesis strategies for whole scenarios, valid by construction."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from scenarios.faults.actions.brokers import BrokerCrash
from scenarios.faults.actions.holds import GateHold
from scenarios.faults.actions.links import LinkDelay
from scenarios.faults.actions.reassignments import ReassignCancel, ReassignExecute, ReassignList
from scenarios.language import (
    PROFILES,
    After,
    At,
    CardSpec,
    ClusterSpec,
    ConsumerSpec,
    DelaySpec,
    DiskSpec,
    Expect,
    MethodEntry,
    Move,
    NetworkSpec,
    Plan,
    Scenario,
    SteadyState,
    StrategySpec,
    Target,
    Tolerance,
    TopicSpec,
    When,
    WhenMessage,
    WhenZk,
    WorkloadSpec,
    ZooKeeperSpec,
)
from scenarios.language.checks import NOT_EVERYWHERE
from scenarios.language.kafka_settings import BROKER_SETTINGS, TOPIC_SETTINGS, Setting
from scenarios.language.limited_metrics import METRICS
from scenarios.language.schema.kinds import Choice, Integer, Number
from scenarios.observe.invariants import INVARIANTS

HORIZON_US = 3_600_000_000
TIMES = st.integers(0, HORIZON_US)
SIGMAS = st.floats(0, 3)
SOME_TIMES = st.integers(1, HORIZON_US)
RATES = st.none() | st.integers(1, 10**12)
NUMBERS = st.integers(-5, 10**6) | st.floats(allow_nan=False)
MOVE_STEPS = {"wiki": "wiki.7", "kafka-6794": "kafka-6794.9", "kip-455": "kip-455.B3"}


def configs(settings: dict[str, Setting]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional={name: config_values(item) for name, item in settings.items()})


def config_values(setting: Setting) -> st.SearchStrategy[Any]:
    """Values that the setting takes; numbers from 14, which nearly all of them take, to a million."""
    kind = setting.kind
    if isinstance(kind, Choice):
        return st.sampled_from(list(kind.names))
    if isinstance(kind, Integer):
        return st.integers(max(14, kind.low or 0), min(10**6, 10**6 if kind.high is None else kind.high))
    if isinstance(kind, Number):
        return st.floats(kind.low, min(kind.high, 10**6))
    if setting.name.endswith("cleanup.policy"):
        return st.sampled_from(["compact", "delete", "compact,delete"])
    return st.booleans() if isinstance(setting.default, bool) else st.sampled_from(["*", "", "0:1,1:0"])


def replica_lists(brokers: int, size: int) -> st.SearchStrategy[list[int]]:
    return st.permutations(range(brokers)).map(lambda ids: list(ids[:size]))


@st.composite
def clusters(draw: st.DrawFn) -> ClusterSpec:
    brokers = draw(st.integers(2, 8))
    cards = [
        CardSpec(brokers=(broker,), egress=draw(RATES), ingress=draw(RATES))
        for broker in draw(st.lists(st.integers(0, brokers - 1), unique=True, max_size=2))
    ]
    network = NetworkSpec(
        latency_us=draw(TIMES),
        jitter_us=draw(TIMES),
        sigma=draw(SIGMAS),
        egress=draw(RATES),
        ingress=draw(RATES),
        cards=cards,
    )
    rtt_us = draw(TIMES)
    zk = ZooKeeperSpec(
        rtt_us=rtt_us, max_in_flight=draw(st.integers(1, 99)), session_timeout_us=draw(SOME_TIMES) + 6 * rtt_us
    )
    names = draw(st.just([]) | st.lists(st.text(max_size=4), min_size=brokers, max_size=brokers))
    return ClusterSpec(
        brokers=brokers,
        controller=draw(st.none() | st.integers(0, brokers - 1)),
        racks=1 if names else draw(st.integers(1, 4)),
        rack_names=names,
        config=draw(configs({name: s for name, s in BROKER_SETTINGS.items() if name not in NOT_EVERYWHERE})),
        log_dirs=draw(st.integers(1, 3)),
        disk=DiskSpec(
            read=draw(RATES), write=draw(RATES), latency_us=draw(TIMES), writeback_us=draw(st.none() | SOME_TIMES)
        ),
        network=network,
        zk=zk,
    )


@st.composite
def topics(draw: st.DrawFn, brokers: int, name: str) -> TopicSpec:
    size = draw(st.integers(1, brokers))
    stated = draw(st.none() | st.lists(replica_lists(brokers, size), min_size=1, max_size=4))
    counts: dict[str, Any] = {} if stated else {"partitions": draw(st.integers(1, 5)), "replication_factor": size}
    partitions = len(stated) if stated else counts["partitions"]
    sizes = draw(st.just([]) | st.lists(st.integers(0, 2**40), min_size=partitions, max_size=partitions))
    return TopicSpec(
        name=name,
        assignment=stated,
        size_bytes=0 if sizes else draw(st.integers(0, 2**40)),
        sizes=sizes,
        log_dirs=draw(st.just([]) | st.just([[0] * size] * partitions)),
        config=draw(configs(dict(TOPIC_SETTINGS))),
        **counts,
    )


def targets(brokers: int, moved: str) -> st.SearchStrategy[Target]:
    by_id = st.lists(st.integers(0, brokers - 1), min_size=1, unique=True).map(lambda ids: Target(brokers=ids))
    forms = ["controller", f"leader({moved})", f"isr({moved})-leader", f"adding({moved})", f"kept({moved})"]
    by_role = st.builds(Target, role=st.sampled_from(forms), state=st.sampled_from([None, "up", "paused"]))
    some = st.builds(Target, state=st.just("down"), mode=st.just("fixed"), value=st.integers(1, 9))
    return by_id | by_role | some | st.just(Target(mode="all", state="down"))


def actions(brokers: int, moved: str) -> st.SearchStrategy[dict[str, Any]]:
    whom = targets(brokers, moved)
    crash = st.fixed_dictionaries(
        {"action": st.sampled_from([BrokerCrash(), BrokerCrash(kind="host")]), "target": whom},
        optional={"duration_us": SOME_TIMES},
    )
    delay = st.builds(DelaySpec, latency_us=TIMES, jitter_us=TIMES, sigma=SIGMAS)
    link = st.fixed_dictionaries(
        {
            "action": st.builds(LinkDelay, delay=delay, peer=st.none() | whom | st.just("zookeeper")),
            "target": whom,
        }
    )
    gate = When(steps="move.leader", edge="before", partition=moved)
    hold = st.just({"action": GateHold(gate=gate)})
    return crash | link | hold | st.just({"action": "controller.crash"})


def requests(plan: Plan, moved: str) -> st.SearchStrategy[dict[str, Any]]:
    """Entries that only a controller with KIP-455 accepts."""
    error = st.sampled_from([None, "INVALID_REPLICA_ASSIGNMENT"])
    whose = st.sampled_from([None, (moved,)])
    ways = st.sampled_from(["zk", "api"])
    asked = (
        st.builds(ReassignExecute, plan=st.just(plan), via=ways, expect_error=error)
        | st.builds(ReassignCancel, partitions=whose, expect_error=error)
        | st.builds(ReassignList, partitions=whose)
    )
    return st.fixed_dictionaries({"action": asked})


def whens(strategy: str, moved: str) -> st.SearchStrategy[When]:
    names = st.sampled_from(["move.start", "move.done", "failover.F8", "failover.1.1", MOVE_STEPS[strategy]])
    steps = st.lists(names, min_size=1, unique=True) | names
    return st.builds(
        When,
        steps=steps,
        edge=st.sampled_from(["before", "after"]),
        partition=st.sampled_from([None, moved]),
        broker=st.sampled_from([None, 0]),
        occurrence=st.integers(1, 3),
    )


def wires(brokers: int, moved: str) -> st.SearchStrategy[WhenMessage | WhenZk]:
    """Messages and writes to ZooKeeper."""
    whom, times = st.none() | targets(brokers, moved), st.integers(1, 3)
    since = st.none() | TIMES | st.just(When(steps="move.start", edge="before"))
    messages = st.builds(
        WhenMessage,
        message=st.sampled_from(["LeaderAndIsr", "StopReplica", "Fetch"]),
        edge=st.sampled_from(["sent", "delivered", "answered"]),
        source=whom,
        target=whom,
        partition=st.sampled_from([None, moved]),
        occurrence=times,
        since=since,
    )
    paths = st.sampled_from([None, "/controller", "/brokers/topics/*/partitions/*/state", "/brokers/*/1"])
    edges = st.sampled_from(["before", "applied", "answered"])
    writes = st.builds(
        WhenZk,
        zk=st.sampled_from(["create", "setData", "multi"]),
        path=paths,
        edge=edges,
        source=whom,
        occurrence=times,
        since=since,
    )
    return messages | writes


def on_messages(brokers: int, moved: str) -> st.SearchStrategy[MethodEntry]:
    """Entries that act on the very message they wait for."""
    return st.builds(
        MethodEntry,
        action=st.sampled_from(["message.cut", "message.hold"]),
        trigger=wires(brokers, moved),
    )


def expectations(brokers: int, moved: str) -> st.SearchStrategy[Expect]:
    ids = replica_lists(brokers, 2).map(tuple)
    within = st.none() | SOME_TIMES
    limits = st.tuples(NUMBERS, NUMBERS).map(lambda pair: Tolerance(min(pair), max(pair)))
    return st.one_of(
        st.builds(Expect, assignment=ids.map(lambda found: {moved: found}), within_us=within),
        st.builds(Expect, leader=ids.map(lambda found: {moved: found[:1]}), within_us=within),
        st.builds(Expect, failed_partitions=st.sampled_from([{}, {moved: (1,)}]), within_us=within),
        st.builds(Expect, metric=st.sampled_from(list(METRICS)), tolerance=limits),
        st.builds(Expect, invariant=st.sampled_from(list(INVARIANTS))),
        st.builds(Expect, steps=st.just(("move.done",)), partition=st.sampled_from([None, moved])),
    )


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    cluster = draw(clusters())
    named = draw(st.lists(st.from_regex(r"[a-zA-Z0-9_-]{1,8}", fullmatch=True), min_size=1, max_size=3, unique=True))
    specs = [draw(topics(cluster.brokers, name)) for name in named]
    moved = f"{named[0]}-0"
    move = Move(topic=named[0], partition=0, replicas=draw(replica_lists(cluster.brokers, 2)))
    plan = Plan(partitions=[move])
    strategy = draw(st.sampled_from(list(MOVE_STEPS)))
    times = st.builds(At, TIMES) | st.builds(After, TIMES) | whens(strategy, moved) | wires(cluster.brokers, moved)
    possible = actions(cluster.brokers, moved)
    if strategy == "kip-455":
        possible |= requests(plan, moved)
    entry = st.tuples(times, possible).map(lambda p: MethodEntry(trigger=p[0], **p[1]))
    entry |= on_messages(cluster.brokers, moved)
    heal = MethodEntry(action="broker.start", target=Target(mode="all", state="down"))
    gauges = [name for name, metric in METRICS.items() if metric.form != "total"]
    return Scenario(
        title=draw(st.text()),
        description=draw(st.text()),
        tags=draw(st.lists(st.text(max_size=5))),
        profile=draw(st.sampled_from(list(PROFILES))),
        seed=draw(st.integers(0, 2**63 - 1)),
        horizon_us=HORIZON_US,
        cluster=cluster,
        topics=specs,
        workloads=draw(
            st.lists(
                st.builds(
                    WorkloadSpec,
                    topic=st.sampled_from(named),
                    producer_rate=st.integers(1, 10**6),
                    message_size=st.integers(1, 10**6),
                    acks=st.sampled_from(["0", "1", "all", 0, 1, -1]),
                    linger_us=SOME_TIMES,
                ),
                max_size=2,
            )
        ),
        consumers=draw(
            st.lists(
                st.builds(
                    ConsumerSpec,
                    topic=st.sampled_from(named),
                    partitions=st.sampled_from([(), (0,)]),
                    offset_reset=st.sampled_from(["earliest", "latest", "none"]),
                    poll_us=TIMES,
                    config=st.sampled_from([{}, {"max.poll.records": 7}]),
                ),
                max_size=2,
            )
        ),
        strategy=StrategySpec(name=strategy, throttle=draw(RATES)),
        plan=plan,
        steady_state=draw(
            st.lists(
                st.builds(
                    SteadyState,
                    metric=st.sampled_from(gauges),
                    tolerance=st.integers(0, 9).map(lambda high: Tolerance(0, high)),
                    mode=st.sampled_from(["edge", "start", "end", "continuous"]),
                ),
                max_size=2,
            )
        ),
        method=[MethodEntry(action="reassign.execute", trigger=At(0)), *draw(st.lists(entry, max_size=4))],
        rollbacks=draw(st.lists(st.just(heal), max_size=1)),
        expect=draw(st.lists(expectations(cluster.brokers, moved), max_size=4)),
    )
