"""The client's side of watches: who wants to hear of a path, and which watches its reads have armed."""

from collections.abc import Callable

from attrs import define, field

from emulator.zookeeper.errors import ZkCode
from emulator.zookeeper.messages import (
    EventType,
    Exists,
    GetChildren,
    GetData,
    Request,
    Response,
    SetWatches,
    WatchEvent,
)

Handler = Callable[[WatchEvent], object]


@define(eq=False)
class Handlers:
    """One handler for each path and kind, as in Kafka's ZooKeeperClient: a second one takes the place of the
    first.

    A watch that was armed stays armed at the server when its handler goes; it then fires into nothing.
    """

    node: dict[str, Handler] = field(factory=dict)
    children: dict[str, Handler] = field(factory=dict)
    _armed_data: dict[str, None] = field(factory=dict)
    _armed_exists: dict[str, None] = field(factory=dict)
    _armed_children: dict[str, None] = field(factory=dict)

    def wants(self, request: Request) -> bool:
        """Whether this read is to arm a watch."""
        kind = request.__class__
        if kind is GetData or kind is Exists:
            return request.path in self.node
        return kind is GetChildren and request.path in self.children

    def armed(self, request: Request, response: Response) -> None:
        """The answer to a read that was to arm a watch has come."""
        if request.__class__ is GetChildren:
            if response.error is ZkCode.OK:
                self._armed_children[request.path] = None
        elif response.error is ZkCode.OK:
            self._armed_data[request.path] = None
        elif request.__class__ is Exists and response.error is ZkCode.NO_NODE:
            self._armed_exists[request.path] = None

    def fired(self, event: WatchEvent) -> None:
        """A watch is gone: tell its handler. A deletion is told to the handler of the node alone, as Kafka
        does."""
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
        """What a new connection of the same session begins with."""
        if not (self._armed_data or self._armed_exists or self._armed_children):
            return None
        return SetWatches(zxid, tuple(self._armed_data), tuple(self._armed_exists), tuple(self._armed_children))

    def disarm(self) -> None:
        """The session is gone, and every watch with it. The handlers stay; reads arm them anew."""
        self._armed_data.clear()
        self._armed_exists.clear()
        self._armed_children.clear()
