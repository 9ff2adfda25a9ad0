"""The client's side of watches: the handlers by path, and the watches that reads have armed."""

from collections.abc import Callable, Container

from attrs import define, field

from emulator.zookeeper.messages import (
    EventType,
    Exists,
    GetChildren,
    GetData,
    Request,
    SetWatches,
    WatchEvent,
    ZkResponse,
)
from emulator.zookeeper.zk_errors import ZkCode

Handler = Callable[[WatchEvent], object]


@define(eq=False)
class Handlers:
    """One handler per path and kind, as in Kafka's ZooKeeperClient: a second one replaces the first.

    When a handler is removed, its watch stays armed at the server; the notification is then ignored.

    Attributes:
        node: handlers of the creation, change or deletion of a path.
        children: handlers of the creation or deletion of a child.
    """

    node: dict[str, Handler] = field(factory=dict)
    children: dict[str, Handler] = field(factory=dict)
    _armed_data: dict[str, None] = field(factory=dict)
    _armed_exists: dict[str, None] = field(factory=dict)
    _armed_children: dict[str, None] = field(factory=dict)

    def wants(self, request: Request) -> bool:
        """Whether this read has to arm a watch."""
        kind = request.__class__
        if kind is GetData or kind is Exists:
            return request.path in self.node
        return kind is GetChildren and request.path in self.children

    def armed(self, request: Request, response: ZkResponse) -> None:
        """Record the watch that a read has armed, now that its answer is here."""
        if request.__class__ is GetChildren:
            if response.error is ZkCode.OK:
                self._armed_children[request.path] = None
        elif response.error is ZkCode.OK:
            self._armed_data[request.path] = None
        elif request.__class__ is Exists and response.error is ZkCode.NO_NODE:
            self._armed_exists[request.path] = None

    def unarmed(self, at_server: Container[str] | None) -> tuple[str, ...]:
        """The paths that have a handler, of whose next change no watch will tell. ``at_server``: those of which the
        server will; None: a new connection arms them again."""
        nodes = [path for path in self.node if path not in self._armed_data and path not in self._armed_exists]
        children = [path for path in self.children if path not in self._armed_children]
        armed = (path for path in (*self.node, *self.children) if path not in nodes and path not in children)
        lost = () if at_server is None else (path for path in armed if path not in at_server)
        return (*nodes, *children, *lost)

    def fired(self, event: WatchEvent) -> None:
        """Call the handler of a watch that fired. A deletion goes to the handler of the node only, as in Kafka."""
        path = event.path
        if event.type is EventType.NODE_CHILDREN_CHANGED:
            self._armed_children.pop(path, None)
            handler = self.children.get(path)
        else:
            self._armed_data.pop(path, None)
            self._armed_exists.pop(path, None)
            if event.type is EventType.NODE_DELETED:
                self._armed_children.pop(path, None)
            handler = self.node.get(path)
        if handler is not None:
            handler(event)

    def to_arm_again(self, zxid: int) -> SetWatches | None:
        """The request that a new connection of the same session sends first; None if no watch is armed."""
        if not (self._armed_data or self._armed_exists or self._armed_children):
            return None
        return SetWatches(zxid, tuple(self._armed_data), tuple(self._armed_exists), tuple(self._armed_children))

    def disarm(self) -> None:
        """Forget every watch, because the session is gone. The handlers stay; later reads arm their watches again."""
        self._armed_data.clear()
        self._armed_exists.clear()
        self._armed_children.clear()
