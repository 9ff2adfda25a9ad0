"""Small scenarios for end-to-end tests, and a way to run one that keeps every event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from attrs import define, field

from emulator.protocol import znodes
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from scenarios.language import Scenario
from scenarios.runs import Run
from scenarios.runs.runner import Stage, conclude, prepare

T = TypeVar("T")
Table = dict[str, Any]
TP = TopicPartition("orders", 0)
HEAL: tuple[Table, ...] = (
    {"action": "broker.start", "target": {"mode": "all", "state": "down"}},
    {"action": "broker.resume", "target": {"mode": "all", "state": "paused"}},
    {"action": "link.heal", "target": {"mode": "all"}},
    {"action": "link.heal", "target": {"mode": "all"}, "peer": "zookeeper"},
)
EXECUTE: Table = {"at": "2s", "action": "reassign.execute"}


def scenario(
    *,
    brokers: int = 7,
    controller: int | None = 6,
    assignment: Sequence[Sequence[int]] = ((0, 1, 2),),
    plan: Mapping[int, Sequence[int]] | None = None,
    method: Iterable[Table] = (),
    rollbacks: Iterable[Table] = (),
    expect: Iterable[Table] = (),
    config: Mapping[str, object] | None = None,
    topic_config: Mapping[str, object] | None = None,
    rate: int = 200,
    acks: str = "all",
    size: str = "64KiB",
    strategy: str = "wiki",
    profile: str = "kafka-2.3",
    seed: int = 1,
    horizon: str = "5m",
    cluster: Mapping[str, object] | None = None,
    **more: Any,
) -> Scenario:
    """A cluster of ``brokers`` with one topic, orders. ``plan``: partition -> replicas; ``rate`` 0: no load."""
    table: Table = {
        "title": "a test",
        "profile": profile,
        "seed": seed,
        "horizon": horizon,
        "cluster": {
            "brokers": brokers,
            "config": dict(config or {}),
            "network": {"jitter": "200us"},
            **(cluster or {}),
        },
        "topics": [
            {
                "name": "orders",
                "assignment": [list(replicas) for replicas in assignment],
                "size": size,
                "config": dict(topic_config or {}),
            }
        ],
        "strategy": {"name": strategy},
        "method": list(method),
        "rollbacks": list(rollbacks),
        "expect": list(expect),
        **more,
    }
    if controller is not None:
        table["cluster"]["controller"] = controller
    if rate:
        table["workloads"] = [{"topic": "orders", "producerRate": rate, "acks": acks}]
    if plan is not None:
        moves = [{"topic": "orders", "partition": p, "replicas": list(r)} for p, r in plan.items()]
        table["plan"] = {"version": 1, "partitions": moves}
    return Scenario.from_table(table)


def at_step(step: str, edge: str, action: str, **more: object) -> Table:
    """A method's entry at a gate; ``hop`` belongs to the gate, everything else to the action."""
    gate: Table = {"step": step, "edge": edge}
    if more.get("hop"):
        gate["hop"] = more.pop("hop")
    more.pop("hop", None)
    return {"when": gate, "action": action, **more}


@define(eq=False)
class Played:
    """A run with all of its events and the stage as it was at the end."""

    stage: Stage
    run: Run
    events: list[Any] = field(repr=False)

    def of(self, kind: type[T], where: Callable[[T], bool] = lambda _: True) -> list[T]:
        """The events of one kind, in order."""
        return [event for event in self.events if isinstance(event, kind) and where(event)]

    def lost_batches(self, acks: str) -> int:
        """Acknowledged batches that were lost; ``acks``: all or 1."""
        lost = self.run.metrics[f"lost_acks_{acks}_batches"]
        assert isinstance(lost, int)
        return lost

    def state(self, tp: TopicPartition = TP) -> LeaderAndIsr:
        """The partition's state znode at the end."""
        data = self.stage.cluster.zookeeper.tree.get(znodes.state_path(tp))
        assert data is not None
        return LeaderAndIsr.decode(data, 0)

    def assignment(self, tp: TopicPartition = TP) -> tuple[int, ...]:
        """The replicas in the topic's znode at the end."""
        data = self.stage.cluster.zookeeper.tree.get(znodes.topic_path(tp.topic))
        assert data is not None
        return znodes.decode_topic(data)[tp.partition]

    @property
    def admin(self) -> str | None:
        """/admin/reassign_partitions at the end."""
        return self.stage.cluster.zookeeper.tree.get(znodes.REASSIGN_PARTITIONS)


def play(wanted: Scenario, before: Callable[[Stage], object] = lambda _: None, **run: Any) -> Played:
    """Run ``wanted``; ``before`` sees the stage before it begins. Options of the run: seed, strategy, profile."""
    stage = Stage(prepare(wanted, **run))
    events: list[Any] = []
    stage.cluster.trace.sink(events.extend)
    before(stage)
    stage.play()
    concluded, _ = conclude(stage, wanted, 0.0)
    return Played(stage, concluded, events)
