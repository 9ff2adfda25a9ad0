"""Steps, phases, hops: what a trigger names, and where it listens under each protocol."""

import pytest

from scenarios.errors import BadInput
from scenarios.language import ALIASES, PHASES, PROCEDURES, STEPS, Gate, Scenario, gate_of, hops, resolve
from tests.scenarios.language.builders import SMALL, small_and


def test_the_protocols_have_the_steps_of_their_documents() -> None:
    counts = {name: len(protocol.steps) for name, protocol in PROCEDURES.items()}
    expected = {"wiki": 12, "kafka-6794": 13, "kafka-42": 7, "failover": 9, "new-partition": 4}
    assert expected.items() <= counts.items()
    assert counts["broker-failure"] == 3
    assert counts["broker-startup"] == 4


def test_every_phase_maps_to_steps_of_every_protocol_that_runs() -> None:
    for protocol in PROCEDURES.values():
        assert set(protocol.phases) == (set(PHASES) if protocol.reassignment else set())
        for span in protocol.phases.values():
            assert STEPS[span.first] is STEPS[span.last] is protocol


@pytest.mark.parametrize(
    ("step", "edge", "protocol", "gate"),
    [
        ("move.start", "after", "wiki", Gate("wiki.3")),
        ("move.start", "after", "kafka-6794", Gate("kafka-6794.7")),
        ("move.stop", "before", "wiki", Gate("wiki.8")),
        ("move.stop", "after", "wiki", Gate("wiki.9")),
        ("move.wait", "before", "kafka-6794", Gate("kafka-6794.1", hop_shift=1)),
        ("move.record", "after", "kafka-6794", Gate("kafka-6794.5")),
        ("failover.3", "before", "wiki", Gate("failover.F8")),
        ("new-partition.2", "before", "kafka-6794", Gate("new-partition.2")),
        ("wiki.4", "after", "kafka-6794", None),
        ("kip-455.B3", "after", "wiki", None),
        ("shutdown.1", "after", "wiki", Gate("shutdown.1")),
        ("preferred.1", "before", "kafka-6794", Gate("preferred.1")),
    ],
)
def test_a_step_resolves_to_the_running_protocols_gate(step: str, edge: str, protocol: str, gate: Gate | None) -> None:
    assert resolve(step, edge, protocol) == gate


def test_of_a_list_the_first_step_that_the_protocol_has_counts() -> None:
    steps = ("kip-455.A2", "wiki.3", "move.start")
    assert gate_of(steps, "after", "wiki") == Gate("wiki.3")
    assert gate_of(steps, "after", "kafka-6794") == Gate("kafka-6794.7")


def test_aliases_name_real_steps() -> None:
    assert all(step in STEPS for step in ALIASES.values())


@pytest.mark.parametrize(
    ("current", "target", "width", "count"),
    [
        ((0, 1, 2), (3, 4, 5), 1, 4),
        ((0, 1, 2), (0, 1, 3), 1, 2),
        ((0, 1), (1, 0), 1, 1),
        ((0, 1, 2), (3, 4, 5), 2, 3),
        ((0, 1, 2), (3, 4, 5), 3, 2),
        ((0, 1, 2), (3, 4, 5), None, 2),
        ((0, 1), (1, 0), None, 1),
    ],
)
def test_hops_of_kafka_6794(current: tuple[int, ...], target: tuple[int, ...], width: int | None, count: int) -> None:
    assert hops(current, target, width) == count


def hop(step: str, number: int) -> str:
    text = small_and("[[method]]", f'when = {{ step = "{step}", hop = {number} }}', 'action = "controller.crash"')
    return text.replace('"wiki"', '"kafka-6794"')


def test_a_hop_must_be_one_that_the_plan_has() -> None:
    assert Scenario.loads(hop("move.start", 4))
    assert Scenario.loads(hop("move.wait", 3))
    for beyond in (hop("move.start", 5), hop("move.wait", 4), hop("failover.F8", 1)):
        with pytest.raises(BadInput, match="hop"):
            Scenario.loads(beyond)


def test_a_created_topic_may_be_named_before_it_exists() -> None:
    text = small_and(
        "[[method]]",
        'at = "2s"',
        'action = "topic.create"',
        'topic = { name = "late", partitions = 2 }',
        "[[method]]",
        'when = { step = "new-partition.3", partition = "late-1" }',
        'action = "broker.pause"',
        'target = "leader(late-0)"',
    )
    assert len(Scenario.loads(text).method) == 3
    assert "late" not in SMALL
