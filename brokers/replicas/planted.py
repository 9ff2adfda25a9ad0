"""What a scenario has a broker get wrong: the next times that it is told to start, or to lead, a replica."""

from attrs import define, field

from emulator.protocol.types import TopicPartition


@define(eq=False)
class PlantedFaults:
    """Failures that are due, and how often; they end with the broker's process.

    Attributes:
        start: becoming a follower fails: no log is opened, no fetcher started, no epoch remembered.
        lead: becoming the leader fails: the broker stays what it was, though ZooKeeper names it.
    """

    start: dict[TopicPartition, int] = field(factory=dict)
    lead: dict[TopicPartition, int] = field(factory=dict)

    def strike(self, tp: TopicPartition, *, leads: bool) -> bool:
        """Whether this change of role fails; if it does, one less is due."""
        due = self.lead if leads else self.start
        if not due.get(tp):
            return False
        due[tp] -= 1
        return True
