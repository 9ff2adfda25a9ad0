"""ZooKeeper's watches, turned into controller events. A watch says that something changed; the event reads what."""

from collections.abc import Callable

from attrs import define, field

from controller.event_manager import ControllerEventManager
from controller.events import (
    BrokerChange,
    Event,
    IsrChangeNotification,
    LogDirEventNotification,
    PartitionModifications,
    ReassignmentChange,
    ReassignmentIsrChange,
    ReplicaLeaderElection,
    TopicChange,
    TopicDeletion,
)
from emulator.protocol import znodes
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import ZkClient
from emulator.zookeeper.messages import EventType, WatchEvent


@define(eq=False, repr=False)
class Watches:
    """The handlers that an active controller registers. Registering arms no watch: the next read of the path does."""

    zk: ZkClient
    event_manager: ControllerEventManager
    _nodes: dict[str, None] = field(factory=dict)
    _children: dict[str, None] = field(factory=dict)

    def cluster(self, *, every_reassignment_change: bool) -> None:
        """Watch brokers, topics, announced ISR changes and failed log directories, requested elections and
        reassignments. ``every_reassignment_change``: not only the creation of /admin/reassign_partitions."""
        self._on_children(znodes.BROKER_IDS, BrokerChange)
        self._on_children(znodes.TOPICS, TopicChange)
        self._on_children(znodes.ISR_CHANGE_NOTIFICATION, IsrChangeNotification)
        self._on_children(znodes.LOG_DIR_EVENT_NOTIFICATION, LogDirEventNotification)
        self._on_node(znodes.PREFERRED_REPLICA_ELECTION, (EventType.NODE_CREATED,), ReplicaLeaderElection)
        kinds = tuple(EventType) if every_reassignment_change else (EventType.NODE_CREATED,)
        self._on_node(znodes.REASSIGN_PARTITIONS, kinds, ReassignmentChange)

    def deletions(self) -> None:
        """Watch the topics to be deleted."""
        self._on_children(znodes.DELETE_TOPICS, TopicDeletion)

    def topic(self, topic: str) -> None:
        """Watch a topic's assignment."""
        path = znodes.topic_path(topic)
        self._on_node(path, (EventType.NODE_DATA_CHANGED,), lambda: PartitionModifications(topic))

    def state(self, tp: TopicPartition) -> None:
        """Watch the state znode of a partition that is being reassigned."""
        self._on_node(znodes.state_path(tp), (EventType.NODE_DATA_CHANGED,), lambda: ReassignmentIsrChange(tp))

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics whose assignment is watched."""
        parent = f"{znodes.TOPICS}/"
        names = (path.removeprefix(parent) for path in self._nodes if path.startswith(parent))
        return tuple(name for name in names if "/" not in name)

    @property
    def fixed(self) -> tuple[str, ...]:
        """The znodes that have a handler and are not of one topic."""
        return tuple(path for path in (*self._children, *self._nodes) if not path.startswith(f"{znodes.TOPICS}/"))

    @property
    def count(self) -> int:
        return len(self._nodes) + len(self._children)

    def read_elections(self) -> None:
        """Queue an event that reads /admin/preferred_replica_election, which arms its watch."""
        self.event_manager.put(ReplicaLeaderElection())

    def read_reassignments(self) -> None:
        """Queue an event that reads /admin/reassign_partitions, which arms its watch."""
        self.event_manager.put(ReassignmentChange())

    def forget(self, path: str) -> None:
        """Remove the handler of a znode, if there is one."""
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
                self.event_manager.put(make())

        self._nodes[path] = None
        self.zk.on_node(path, fired)

    def _on_children(self, path: str, make: Callable[[], Event]) -> None:
        self._children[path] = None
        self.zk.on_children(path, lambda _: self.event_manager.put(make()))
