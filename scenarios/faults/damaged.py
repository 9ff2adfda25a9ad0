"""The brokers that a fault of a disk or of a fetcher has damaged for as long as their processes live."""

from __future__ import annotations

from attrs import define, field

from scenarios.faults.performer import ActionContext, Memory


@define(eq=False)
class Damaged(Memory):
    """The damaged processes. A log directory that has gone offline, a failed partition (KIP-461) and a dead fetcher
    thread stay so until the broker is started again, as Kafka's operators do."""

    _incarnations: dict[int, int] = field(factory=dict)

    def note(self, context: ActionContext, broker: int) -> None:
        """Take note that the broker's present process is damaged."""
        self._incarnations[broker] = context.cluster.nodes[broker].incarnations

    def is_damaged(self, context: ActionContext, broker: int) -> bool:
        """Whether the broker's last process, which may have ended because of it, was damaged, or its present one has
        found a disk that fails."""
        if self._incarnations.get(broker) == context.cluster.nodes[broker].incarnations:
            return True
        replicas = context.replicas_of(broker)
        return replicas is not None and any(directory.failed for directory in replicas.logs.directories)

    def needs_restart(self, context: ActionContext, broker: int) -> bool:
        """Whether the broker's process runs, and is damaged."""
        return context.replicas_of(broker) is not None and self.is_damaged(context, broker)


def run_again(context: ActionContext, broker: int) -> None:
    """Let the broker continue, or start it; one that is shutting down, as soon as it is down."""
    cluster, process = context.cluster, context.cluster.nodes[broker].process
    if context.roles.state_of(broker) == "paused":
        assert process is not None
        process.resume()
    if cluster.is_stopping(broker):
        cluster.start_broker(broker)
        return
    if context.performer.memory(Damaged).needs_restart(context, broker):
        stop(context, broker)
    if context.roles.state_of(broker) == "down":
        cluster.start_broker(broker)


def stop(context: ActionContext, broker: int) -> None:
    """Stop the broker cleanly; at once where its process has not started yet, or is paused."""
    cluster = context.cluster
    if context.roles.state_of(broker) == "up" and cluster.brokers[broker].started:
        cluster.stop_broker(broker)
    else:
        cluster.crash_broker(broker)
