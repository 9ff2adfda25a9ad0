"""The znodes, and the writes that change them. Each write can be undone, because a multi is all or nothing."""

from collections.abc import Callable, Collection
from functools import lru_cache, partial
from sys import intern
from typing import Any, NamedTuple

from attrs import define, field

from emulator.zookeeper.messages import Stat
from emulator.zookeeper.paths import check_path, split
from emulator.zookeeper.zk_errors import BadArguments, BadVersion, NoChildrenForEphemerals, NodeExists, NoNode, NotEmpty

_new: Any = tuple.__new__


@define(eq=False, weakref_slot=False)
class Znode:
    """One znode.

    Attributes:
        owner: the session of an ephemeral znode; 0 for a persistent one.
        pzxid: the transaction that last created or deleted a child.
        creates: the number of children that were ever created: the number of the next sequential one, and a part of
            ``cversion``.
        children: their names, in the order of creation: a tuple, or a dictionary from the second child on. Most znodes
            have none, or the one child of a partition's znode.
    """

    data: str
    czxid: int
    owner: int
    mzxid: int
    pzxid: int
    version: int = 0
    creates: int = 0
    children: dict[str, None] | tuple[str, ...] = ()

    @property
    def stat(self) -> Stat:
        children = len(self.children)
        # ZooKeeper counts creations, and derives the number of creations and deletions from that.
        cversion = 2 * self.creates - children
        # tuple.__new__ avoids the Python frame of the NamedTuple's own constructor: every answer has a Stat.
        stat: Stat = _new(Stat, (self.version, self.czxid, self.mzxid, cversion, self.owner, children))
        return stat

    def add_child(self, name: str) -> None:
        if isinstance(self.children, dict):
            self.children[intern(name)] = None  # every topic has its "0"
        elif self.children:
            self.children = dict.fromkeys((*self.children, intern(name)))
        else:
            self.children = _only(name)

    def remove_child(self, name: str) -> None:
        if isinstance(self.children, dict):
            del self.children[name]
        else:
            self.children = ()


@lru_cache(1024)
def _only(name: str) -> tuple[str, ...]:
    """One tuple for all znodes with this one child: every partition's znode has the child "state"."""
    return (intern(name),)


class Change(NamedTuple):
    """A write that was done.

    Attributes:
        op: ``create``, ``setData`` or ``delete``.
        version: the version of the data after the write; for a delete, before it.
        undo: undoes the write, if nothing else was written since.
    """

    op: str
    path: str
    version: int
    data: str
    stat: Stat | None
    undo: Callable[[], None]


@define(eq=False)
class Tree:
    """All znodes by path. Any component may read it; only the server writes."""

    nodes: dict[str, Znode] = field(factory=dict)
    _ephemerals: dict[int, dict[str, None]] = field(factory=dict)
    _listed: tuple[Znode | None, int, tuple[str, ...]] = (None, 0, ())
    """The znode listed last, its pzxid at that time, and its children: after a watch fires, every broker lists the
    same znode."""

    def __attrs_post_init__(self) -> None:
        self.nodes["/"] = Znode("", 0, 0, 0, 0)

    # -- reading ---------------------------------------------------------------------------------------------

    def get(self, path: str) -> str | None:
        """The data of a znode; None if it does not exist."""
        node = self.nodes.get(path)
        return None if node is None else node.data

    def stat(self, path: str) -> Stat | None:
        """The metadata of a znode; None if it does not exist."""
        node = self.nodes.get(path)
        return None if node is None else node.stat

    def children(self, path: str) -> tuple[str, ...]:
        """The names of a znode's children, numbers first and in numeric order; empty if there is no such znode."""
        node = self.nodes.get(path)
        if node is None:
            return ()
        last, changed, names = self._listed
        if node is not last or node.pzxid != changed:
            names = _in_order(node.children)
            self._listed = node, node.pzxid, names
        return names

    def ephemerals(self, session: int) -> tuple[str, ...]:
        """The ephemeral znodes of ``session``, in the order of their creation."""
        return tuple(self._ephemerals.get(session, ()))

    # -- writing ---------------------------------------------------------------------------------------------

    def create(self, path: str, data: str, zxid: int, owner: int = 0, sequential: bool = False) -> Change:
        """Create a znode. Raises: BadArguments, NoNode (the parent), NoChildrenForEphemerals, NodeExists."""
        check_path(path + "1" if sequential else path)
        parent_path, name = split(path)
        parent = self.nodes.get(parent_path)
        if parent is None:
            raise NoNode(path)
        if sequential:
            path, name = f"{path}{parent.creates:010d}", f"{name}{parent.creates:010d}"
        if parent.owner:
            raise NoChildrenForEphemerals(path)
        if path in self.nodes:
            raise NodeExists(path)
        self.nodes[path] = node = Znode(data, zxid, owner, zxid, zxid)
        undo = partial(self._uncreate, path, parent, name, parent.pzxid)
        parent.add_child(name)
        parent.creates += 1
        parent.pzxid = zxid
        if owner:
            self._ephemerals.setdefault(owner, {})[path] = None
        return Change("create", path, 0, data, node.stat, undo)

    def set(self, path: str, data: str, version: int, zxid: int) -> Change:
        """Replace the data of a znode. Raises: NoNode, BadVersion."""
        node = self.check(path, version)
        undo = partial(_unset, node, node.data, node.version, node.mzxid)
        node.data = data
        node.version += 1
        node.mzxid = zxid
        return Change("setData", path, node.version, data, node.stat, undo)

    def delete(self, path: str, version: int, zxid: int) -> Change:
        """Delete a znode. Raises: BadArguments (the root), NoNode, BadVersion, NotEmpty."""
        if path == "/":
            raise BadArguments(path)
        node = self.check(path, version)
        if node.children:
            raise NotEmpty(path)
        parent_path, name = split(path)
        parent = self.nodes[parent_path]
        undo = partial(self._undelete, path, node, parent, name, parent.pzxid)
        del self.nodes[path]
        parent.remove_child(name)
        parent.pzxid = zxid
        self._disown(path, node)
        return Change("delete", path, node.version, "", None, undo)

    def check(self, path: str, version: int) -> Znode:
        """The znode, if it has ``version`` (-1: any). Raises: NoNode, BadVersion."""
        node = self.nodes.get(path)
        if node is None:
            raise NoNode(path)
        if version not in (-1, node.version):
            raise BadVersion(path)
        return node

    # -- undoing ---------------------------------------------------------------------------------------------

    def _uncreate(self, path: str, parent: Znode, name: str, pzxid: int) -> None:
        self._disown(path, self.nodes.pop(path))
        parent.remove_child(name)
        parent.creates -= 1
        parent.pzxid = pzxid

    def _undelete(self, path: str, node: Znode, parent: Znode, name: str, pzxid: int) -> None:
        self.nodes[path] = node
        parent.add_child(name)
        parent.pzxid = pzxid
        if node.owner:
            self._ephemerals.setdefault(node.owner, {})[path] = None

    def _disown(self, path: str, node: Znode) -> None:
        if node.owner:
            owned = self._ephemerals[node.owner]
            del owned[path]
            if not owned:
                del self._ephemerals[node.owner]


def _unset(node: Znode, data: str, version: int, mzxid: int) -> None:
    node.data, node.version, node.mzxid = data, version, mzxid


def _in_order(names: Collection[str]) -> tuple[str, ...]:
    """The names in order: numbers first in numeric order, then the others. Two sorts, because computing a key for each
    of thousands of topics would take longer."""
    numbers = [name for name in names if name.isdigit() and name.isascii()]
    words = [name for name in names if not name.isdigit() or not name.isascii()] if numbers else names
    return *sorted(numbers, key=_number), *sorted(words)


def _number(name: str) -> tuple[int, str]:
    return int(name), name
