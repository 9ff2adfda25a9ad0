"""At rest UnderReplicatedPartitions, as brokers of three kinds count it, is what the measures find in ZooKeeper by the
three definitions (readings §8), whichever brokers are dead and however far a move has come."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from emulator.metrics.metric_events import GaugeSet
from emulator.protocol.events import NodeCrashed
from scenarios.language import Scenario
from scenarios.observe.mbeans import UNDER_REPLICATED
from scenarios.observe.measures.isr_row import IsrRow
from scenarios.runs.runner import Stage, conclude, prepare
from tests.scenarios.runs.building import EXECUTE, Table, scenario
from tests.scenarios.runs.test_random import EVEN

DEFINITIONS = {
    ("kafka-2.3", "wiki"): "under_replicated_assigned",
    ("kip-352-draft", "wiki"): "under_replicated_draft",
    ("kafka-2.5", "kip-455"): "under_replicated_final",
}
BROKERS = 6
EXAMPLES = 8


@st.composite
def ruins(draw: st.DrawFn, profile: str, strategy: str) -> Scenario:
    """Two partitions, one of which moves at least, and up to three brokers that die for good: some that the move adds,
    so that it cannot end, and some that are arbitrary. Not the controller: a new one of the draft cannot know the
    original replicas where the move has widened the znode (readings §8)."""
    factor = draw(st.integers(2, 3))
    replicas = st.lists(st.integers(0, BROKERS - 1), min_size=factor, max_size=factor, unique=True)
    assignment = [draw(replicas), draw(replicas)]
    plan = draw(st.dictionaries(st.integers(0, 1), replicas, min_size=1))
    added = sorted({broker for p, target in plan.items() for broker in target if broker not in assignment[p]})
    dead = added[: draw(st.integers(0, 1))] + draw(st.lists(st.integers(0, BROKERS - 1), max_size=2, unique=True))
    crashes: list[Table] = [
        {"at": f"{draw(st.sampled_from((1_990, 2_010, 2_500, 5_000)))}ms", "action": "broker.crash", "target": broker}
        for broker in dict.fromkeys(dead)
    ]
    return scenario(
        brokers=BROKERS + 1,
        controller=BROKERS,
        assignment=assignment,
        plan=plan,
        method=[EXECUTE, *crashes],
        rate=10,
        size=draw(st.sampled_from(("0B", "4MiB"))),
        strategy=strategy,
        profile=profile,
        seed=draw(st.integers(0, 10_000)),
        horizon="30s",
    )


def played(wanted: Scenario) -> tuple[int, dict[str, int]]:
    """The sum over the live brokers, and what each definition finds among the partitions with a leader: a gauge belongs
    to the leader."""
    stage = Stage(prepare(wanted), keep_rows=True)
    gauges: dict[int, int] = {}

    def see(event: GaugeSet) -> None:
        if event.metric == UNDER_REPLICATED:
            gauges[event.node] = event.value

    def crashed(event: NodeCrashed) -> None:
        gauges.pop(event.node, None)

    stage.cluster.trace.fold(GaugeSet, see)
    stage.cluster.trace.fold(NodeCrashed, crashed)
    stage.play()
    run, _ = conclude(stage, wanted, 0.0)
    assert run.violations == (), run.explanation
    last: dict[int, IsrRow] = {row.partition: row for row in stage.measures.tables()["isr_events"]}
    assert set(last) == {0, 1}
    led = [row for row in last.values() if row.leader >= 0]
    true = {definition: sum(getattr(row, definition) for row in led) for definition in DEFINITIONS.values()}
    return sum(gauges.values()), true


@pytest.mark.parametrize(("profile", "strategy"), DEFINITIONS)
def test_at_rest_brokers_and_measures_agree(profile: str, strategy: str) -> None:
    definition = DEFINITIONS[profile, strategy]
    counts: list[dict[str, int]] = []

    @settings(EVEN, max_examples=EXAMPLES, phases=[Phase.generate])
    @given(ruins(profile, strategy))
    def check(wanted: Scenario) -> None:
        shown, true = played(wanted)
        assert shown == true[definition]
        counts.append(true)

    check()
    assert min(true[definition] for true in counts) == 0 < max(true[definition] for true in counts)
    assert any(len(set(true.values())) > 1 for true in counts), "the definitions have to differ"
