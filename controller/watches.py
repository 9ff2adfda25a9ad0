"""ZooKeeper's watches, turned into controller events. A watch says that something changed; the event reads what."""

from collections.abc import Callable

from attrs import define, field

from controller.events.cluster import (
    BrokerChange,
    IsrChangeNotification,
    LogDirEventNotification,
    PartitionModifications,
    TopicChange,
)
from controller.events.deletions import TopicDeletion
from controller.events.elections import ReplicaLeaderElection
from controller.events.moves import ReassignmentChange, ReassignmentIsrChange
from controller.events.queue import Event, EventQueue
from emulator.protocol import znodes
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import ZkClient
from emulator.zookeeper.messages import EventType, WatchEvent


@define(eq=False, repr=False)
class Watches:
    """The handlers of one term. Registering arms nothing: the next read of the path does."""

    zk: ZkClient
    queue: EventQueue
    _nodes: dict[str, None] = field(factory=dict)
    _children: dict[str, None] = field(factory=dict)

    def cluster(self, *, every_move_change: bool) -> None:
        """Brokers, topics, announced ISR changes and failed disks, requested elections and moves; of these that they
        are requested, or every change."""
        self._on_children(znodes.BROKER_IDS, BrokerChange)
        self._on_children(znodes.TOPICS, TopicChange)
        self._on_children(znodes.ISR_CHANGE_NOTIFICATION, IsrChangeNotification)
        self._on_children(znodes.LOG_DIR_EVENT_NOTIFICATION, LogDirEventNotification)
        self._on_node(znodes.PREFERRED_REPLICA_ELECTION, (EventType.NODE_CREATED,), ReplicaLeaderElection)
        kinds = tuple(EventType) if every_move_change else (EventType.NODE_CREATED,)
        self._on_node(znodes.REASSIGN_PARTITIONS, kinds, ReassignmentChange)

    def deletions(self) -> None:
        """Topics that are asked to go."""
        self._on_children(znodes.DELETE_TOPICS, TopicDeletion)

    def topic(self, topic: str) -> None:
        """The assignment of a topic."""
        path = znodes.topic_path(topic)
        self._on_node(path, (EventType.NODE_DATA_CHANGED,), lambda: PartitionModifications(topic))

    def state(self, tp: TopicPartition) -> None:
        """The state znode of a partition that is being moved."""
        self._on_node(znodes.state_path(tp), (EventType.NODE_DATA_CHANGED,), lambda: ReassignmentIsrChange(tp))

    def look_for_elections(self) -> None:
        """Have /admin/preferred_replica_election read again, and so its watch armed."""
        self.queue.put(ReplicaLeaderElection())

    def look_for_moves(self) -> None:
        """Have /admin/reassign_partitions read again, and so its watch armed."""
        self.queue.put(ReassignmentChange())

    def forget(self, path: str) -> None:
        if path in self._nodes:
            del self._nodes[path]
            self.zk.off_node(path)

    def clear(self) -> None:
        for path in list(self._nodes):
            self.forget(path)
        for path in self._children:
            self.zk.off_children(path)
        self._children.clear()

    def _on_node(self, path: str, kinds: tuple[EventType, ...], make: Callable[[], Event]) -> None:
        def fired(watch: WatchEvent) -> None:
            if watch.type in kinds:
                self.queue.put(make())

        self._nodes[path] = None
        self.zk.on_node(path, fired)

    def _on_children(self, path: str, make: Callable[[], Event]) -> None:
        self._children[path] = None
        self.zk.on_children(path, lambda _: self.queue.put(make()))
