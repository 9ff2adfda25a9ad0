"""What the controller remembers of topics that are to be deleted; all that must survive it stands in ZooKeeper."""

from attrs import define, field

Topics = dict[str, None]
"""Topics in the order in which they came."""


@define(eq=False)
class Deletions:
    """One term's topic deletions (Kafka's ControllerContext, 2.3).

    Attributes:
        queued: asked for and not done.
        begun: of those, the ones whose partitions have left the partition state machine. From then on a
            broker's answer to StopReplica is of interest.
        ineligible: of those, the ones that wait for a broker to come back or for a move to end.
        retrying: of those, the ones with replicas that could not be deleted and none being deleted: looked at
            again whenever anything is done about deletions at all.
    """

    queued: Topics = field(factory=dict)
    begun: Topics = field(factory=dict)
    ineligible: Topics = field(factory=dict)
    retrying: Topics = field(factory=dict)

    def add(self, topic: str) -> None:
        self.queued[topic] = None

    def discard(self, topic: str) -> None:
        """The topic is gone, or as good as gone."""
        for topics in (self.queued, self.begun, self.ineligible, self.retrying):
            topics.pop(topic, None)
