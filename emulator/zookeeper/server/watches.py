"""The watches that reads have armed, on the server: each fires once, to one connection."""

from collections.abc import Container
from typing import Protocol

from attrs import define, field

from emulator.zookeeper.messages import EventType, WatchEvent
from emulator.zookeeper.paths import split


class Watcher(Protocol):
    """A connection. Its watches end with it."""

    def notify(self, event: WatchEvent) -> None: ...


Armed = dict[str, dict[Watcher, None]]


@define(eq=False)
class Watches:
    """The armed watches, by path. Watches of one znode fire in the order in which they were armed.

    Attributes:
        data: the watches of getData and exists.
        children: the watches of getChildren.
    """

    data: Armed = field(factory=dict)
    children: Armed = field(factory=dict)
    _paths: dict[Watcher, dict[str, None]] = field(factory=dict)

    def arm_data(self, path: str, watcher: Watcher) -> None:
        """Notify ``watcher`` once, of the next creation, deletion or change of the data of ``path``."""
        self.data.setdefault(path, {})[watcher] = None
        self._paths.setdefault(watcher, {})[path] = None

    def arm_children(self, path: str, watcher: Watcher) -> None:
        """Notify ``watcher`` once, of the next creation or deletion of a child of ``path``, or of its own deletion."""
        self.children.setdefault(path, {})[watcher] = None
        self._paths.setdefault(watcher, {})[path] = None

    def paths(self, watcher: Watcher) -> Container[str]:
        """The paths of which ``watcher`` will be notified."""
        return self._paths.get(watcher, ())

    def forget(self, watcher: Watcher) -> None:
        """Drop the watches of a connection that has ended."""
        for path in self._paths.pop(watcher, ()):
            for armed in (self.data, self.children):
                watchers = armed.get(path)
                if watchers is not None:
                    watchers.pop(watcher, None)
                    if not watchers:
                        del armed[path]

    def fire(self, op: str, path: str) -> None:
        """Notify the watchers of ``path`` after ``op`` (``create``, ``setData``, ``delete``)."""
        # Nearly every write of a large cluster is to a znode that has no watch.
        if op == "setData":
            if path in self.data:
                self._notify(self._take(self.data, path), EventType.NODE_DATA_CHANGED, path)
            return
        if op == "create":
            if path in self.data:
                self._notify(self._take(self.data, path), EventType.NODE_CREATED, path)
        else:
            # A watcher of both the data and the children is notified of the deletion once.
            gone = self._take(self.data, path) | self._take(self.children, path)
            self._notify(gone, EventType.NODE_DELETED, path)
        if self.children:
            parent = split(path)[0]
            if parent in self.children:
                self._notify(self._take(self.children, parent), EventType.NODE_CHILDREN_CHANGED, parent)

    def _take(self, armed: Armed, path: str) -> dict[Watcher, None]:
        watchers = armed.pop(path, None)
        if watchers is None:
            return {}
        other = self.children if armed is self.data else self.data
        left = other.get(path, ())
        for watcher in watchers:
            if watcher not in left:
                self._paths[watcher].pop(path, None)
        return watchers

    def _notify(self, watchers: dict[Watcher, None], kind: EventType, path: str) -> None:
        if watchers:
            event = WatchEvent(kind, path)
            for watcher in watchers:
                watcher.notify(event)
