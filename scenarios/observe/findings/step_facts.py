"""Facts about the steps of a controller's procedures."""

from typing import Literal, NamedTuple

from emulator.protocol.types import TopicPartition

Lack = Literal[
    "assigned",
    "recorded",
    "raised",
    "sent",
    "online",
    "stopped",
    "withdrawn",
    "metadata",
    "deleted",
    "resumed",
    "isr",
    "begun",
]
_LACKS: dict[Lack, str] = {
    "assigned": "the replicas that the move asks for are not assigned",
    "recorded": "the assignment is not what the move asks for",
    "raised": "the leader epoch has not risen",
    "sent": "no LeaderAndIsr was sent to",
    "online": "a replica is new still, on",
    "stopped": "no StopReplica was sent to",
    "withdrawn": "the request for the move is still there",
    "metadata": "no UpdateMetadata was sent to",
    "deleted": "what it deletes is still there",
    "isr": "an ISR still has",
    "begun": "",
    "resumed": "a move that ZooKeeper has was not gone on with",
}


class StepUndone(NamedTuple):
    """A step that ends and has not done what it says.

    Attributes:
        lack: what is missing; ``brokers``: where.
        topic: the topic that the step is about; "": none.
    """

    step: str
    controller: int
    lack: Lack
    brokers: tuple[int, ...]
    topic: str

    def in_words(self, tp: TopicPartition | None) -> str:
        about = f"{tp}: " if tp is not None else f"{self.topic}: " if self.topic else ""
        if self.lack == "begun":
            return f"{about}controller {self.controller} leaves out {self.step}"
        where = f" {', '.join(f'broker {broker}' for broker in self.brokers)}" if self.brokers else ""
        return f"{about}{self.step} ends on controller {self.controller}, and {_LACKS[self.lack]}{where}"
