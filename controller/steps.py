"""Steps of protocols and operations: each is a gate, before and after, where a scenario can stop the controller."""

from collections.abc import Iterable, Mapping
from types import TracebackType

from attrs import Factory, define, frozen

from emulator.gates import Edge, Gates
from emulator.nodes import Process
from emulator.protocol.types import TopicPartition


@frozen
class Span:
    """The steps that a phase covers: its ``before`` edge is that of ``first``, its ``after`` edge that of ``last``.

    Attributes:
        next_hop: whether they belong to the hop after the one that the phase is about.
    """

    first: str
    last: str
    next_hop: bool = False


PHASES: Mapping[str, str] = {
    "move.listen": "the controller takes the move up",
    "move.start": "new replicas are started",
    "move.wait": "new replicas catch up",
    "move.leader": "leadership goes to the target",
    "move.stop": "old replicas leave the ISR and are deleted",
    "move.record": "the final (kafka-6794: the hop's) assignment is written to ZooKeeper",
    "move.done": "the partition leaves the admin path",
}
"""The phases: names that mean the same under every reassignment protocol, in the order of KAFKA-42's seven stages. Each
protocol says which of its steps a phase covers."""


@frozen
class Procedure:
    """A protocol or an operation whose steps have names. Each step is a gate, before and after.

    Attributes:
        name: the part of a step's name before the dot.
        steps: the full names in order, each with what happens in it.
        phases: phase -> the steps that it covers, all of ``PHASES`` for a reassignment protocol. Other procedures have
            none: every controller runs them, whatever the strategy.
        aliases: other names of steps.
    """

    name: str
    steps: Mapping[str, str]
    phases: Mapping[str, Span] = Factory(dict)
    aliases: Mapping[str, str] = Factory(dict)

    @classmethod
    def numbered(cls, name: str, *texts: str, phases: Mapping[str, Span] | None = None) -> "Procedure":
        """The steps are ``name.1``, ``name.2`` and so on."""
        return cls(name, {f"{name}.{number}": text for number, text in enumerate(texts, start=1)}, phases or {})

    @property
    def reassignment(self) -> bool:
        """Whether only strategies of this protocol run it."""
        return bool(self.phases)


def phases(protocol: str, **steps: str | tuple[str, str]) -> dict[str, Span]:
    """The spans of a protocol: ``phases("wiki", listen="1", stop=("8", "9"))``, without the common prefixes."""
    found = {}
    for phase, step in steps.items():
        first, last = (step, step) if isinstance(step, str) else step
        found[f"move.{phase}"] = Span(f"{protocol}.{first}", f"{protocol}.{last}")
    return found


@frozen
class Label:
    """The topic, partition, broker and hop that a step is about; a default means that it is not about one."""

    topic: str = ""
    partition: int = -1
    broker: int = -1
    hop: int = 0


NOTHING = (Label(),)


def labels_of(partitions: Iterable[TopicPartition]) -> list[Label]:
    """One label for each topic, with the partition where it is the only one."""
    numbers: dict[str, list[int]] = {}
    for tp in partitions:
        numbers.setdefault(tp.topic, []).append(tp.partition)
    return [Label(topic, found[0]) if len(found) == 1 else Label(topic) for topic, found in numbers.items()]


@define(eq=False, repr=False)
class Step:
    """``async with step``: the gate before, the work, the gate after, which a step that fails does not reach.

    A step about several topics or brokers visits its gate once for each.
    """

    gates: Gates
    process: Process
    name: str
    labels: tuple[Label, ...] = NOTHING
    detail: str = ""

    async def reach(self, edge: Edge) -> None:
        """Visit the gate, once for each label."""
        for label in self.labels:
            await self.gates.reach(
                self.process, self.name, edge, topic=label.topic, partition=label.partition,
                broker=label.broker, hop=label.hop, detail=self.detail,
            )  # fmt: skip

    async def __aenter__(self) -> None:
        await self.reach("before")

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            await self.reach("after")


@frozen
class Steps:
    """Makes the steps of one controller: ``async with steps("failover.F1"): ...``."""

    gates: Gates
    process: Process

    def __call__(self, name: str, *labels: Label, detail: str = "") -> Step:
        return Step(self.gates, self.process, name, labels or NOTHING, detail)
