"""The brokers that a fault of a disk or of a fetcher has damaged for as long as their processes live."""

from __future__ import annotations

from attrs import define, field

from scenarios.faults.performer import ActionContext, Memory


@define(eq=False)
class Damaged(Memory):
    """A log directory that has gone offline, a failed partition (KIP-461) and a dead fetcher thread stay so until the
    broker is started again, as Kafka's operators do."""

    _incarnations: dict[int, int] = field(factory=dict)

    def note(self, context: ActionContext, broker: int) -> None:
        """The broker's present process is damaged."""
        self._incarnations[broker] = context.cluster.nodes[broker].incarnations

    def needs_restart(self, context: ActionContext, broker: int) -> bool:
        """Whether the broker's process is one that was damaged, or has found a disk that fails as it started."""
        replicas = context.replicas_of(broker)
        if replicas is None:
            return False
        is_damaged = self._incarnations.get(broker) == context.cluster.nodes[broker].incarnations
        return is_damaged or len(replicas.logs.online) < len(replicas.logs.directories)
