"""Requests applied to the tree, one at a time: the answer, the events of the trace, the watches that fire."""

from collections.abc import Callable
from typing import Any

from attrs import Attribute, define, field

from emulator.nodes import Process
from emulator.trace.events import ZkWritten
from emulator.trace.shown_znodes import ZnodeCreated
from emulator.zookeeper.messages import (
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    Multi,
    Op,
    Request,
    SetData,
    SetWatches,
    WatchEvent,
    ZkResponse,
)
from emulator.zookeeper.messages import EventType as E
from emulator.zookeeper.server.tree import Change, Tree
from emulator.zookeeper.server.watches import Watcher, Watches
from emulator.zookeeper.zk_errors import ZkCode, ZkError


def _rouse(database: "Database", _: "Attribute[int]", zxid: int) -> int:
    """Rouse parked pings before the zxid changes: each answer to a ping carries it, and answers on their way have the
    old one."""
    database.process.parked.rouse()
    return zxid


@define(eq=False)
class Database:
    """The tree, the watches on it and the last transaction (``zxid``)."""

    process: Process
    tree: Tree = field(factory=Tree)
    watches: Watches = field(factory=Watches)
    zxid: int = field(default=0, on_setattr=_rouse)

    def answer(self, request: Request, watcher: Watcher | None, client: int, session: int) -> ZkResponse:
        """Do ``request``. ``watcher``: notified of the next change to what a read found; None arms no watch."""
        kind = request.__class__
        read = _READS.get(kind)
        if read is not None:
            response = read(self, request, watcher)
            response.zxid = self.zxid  # here and not by a call: a failover reads a znode for each partition
            response.cause = self.process.node.trace.cause
            return response
        if kind is Multi:
            return self._sealed(self._multi(request, client, session))  # type: ignore[arg-type]
        try:
            change = self._perform(request, session, self.zxid + 1)  # type: ignore[arg-type]
        except ZkError as error:
            return self._sealed(ZkResponse(error.code, error.path))
        self.zxid += 1
        assert change is not None, "a check is allowed in a multi only"
        self._announce(change, client)
        return self._sealed(_done(change, request.path))

    def remove_ephemerals(self, session: int, client: int) -> None:
        """Delete the ephemerals of a session that has ended, in one transaction."""
        self.zxid += 1
        trace = self.process.node.trace
        cause = trace.cause
        for path in self.tree.ephemerals(session):
            trace.cause = cause
            self._announce(self.tree.delete(path, -1, self.zxid), client)

    def set_watches(self, wanted: SetWatches, watcher: Watcher) -> None:
        """Arm the watches of a client that has reconnected; those that missed a change fire at once."""
        nodes = self.tree.nodes
        for path in wanted.data:
            node = nodes.get(path)
            if node is not None and node.mzxid <= wanted.zxid:
                self.watches.arm_data(path, watcher)
            else:
                watcher.notify(WatchEvent(E.NODE_DELETED if node is None else E.NODE_DATA_CHANGED, path))
        for path in wanted.exists:
            if path in nodes:
                watcher.notify(WatchEvent(E.NODE_CREATED, path))
            else:
                self.watches.arm_data(path, watcher)
        for path in wanted.children:
            node = nodes.get(path)
            if node is not None and node.pzxid <= wanted.zxid:
                self.watches.arm_children(path, watcher)
            else:
                watcher.notify(WatchEvent(E.NODE_DELETED if node is None else E.NODE_CHILDREN_CHANGED, path))

    # -- reads -----------------------------------------------------------------------------------------------

    def _get_data(self, request: GetData, watcher: Watcher | None) -> ZkResponse:
        node = self.tree.nodes.get(request.path)
        if node is None:
            return ZkResponse(ZkCode.NO_NODE, request.path)
        if watcher is not None:
            self.watches.arm_data(request.path, watcher)
        return ZkResponse(ZkCode.OK, request.path, node.data, node.stat)

    def _exists(self, request: Exists, watcher: Watcher | None) -> ZkResponse:
        if watcher is not None:
            self.watches.arm_data(request.path, watcher)
        stat = self.tree.stat(request.path)
        return ZkResponse(ZkCode.NO_NODE if stat is None else ZkCode.OK, request.path, "", stat)

    def _get_children(self, request: GetChildren, watcher: Watcher | None) -> ZkResponse:
        node = self.tree.nodes.get(request.path)
        if node is None:
            return ZkResponse(ZkCode.NO_NODE, request.path)
        if watcher is not None:
            self.watches.arm_children(request.path, watcher)
        return ZkResponse(ZkCode.OK, request.path, "", node.stat, self.tree.children(request.path))

    # -- writes ----------------------------------------------------------------------------------------------

    def _perform(self, op: Op, session: int, zxid: int) -> Change | None:
        """Change the tree. Raises: ZkError."""
        tree = self.tree
        if op.__class__ is SetData:
            return tree.set(op.path, op.data, op.version, zxid)
        if isinstance(op, Create):
            return tree.create(op.path, op.data, zxid, session if op.ephemeral else 0, op.sequential)
        if isinstance(op, Delete):
            return tree.delete(op.path, op.version, zxid)
        tree.check(op.path, op.version)
        return None

    def _multi(self, multi: Multi, client: int, session: int) -> ZkResponse:
        zxid = self.zxid + 1
        changes: list[Change | None] = []
        for position, op in enumerate(multi.ops):
            try:
                changes.append(self._perform(op, session, zxid))
            except ZkError as error:
                for change in reversed(changes):
                    if change is not None:
                        change.undo()
                return _failed(multi, position, error)
        self.zxid = zxid
        trace = self.process.node.trace
        cause = trace.cause
        for change in changes:
            if change is not None:
                trace.cause = cause
                self._announce(change, client)
        results = tuple([_done(change, op.path) for change, op in zip(changes, multi.ops, strict=True)])
        return ZkResponse(ZkCode.OK, multi.path, results=results)

    def _announce(self, change: Change, client: int) -> None:
        self.process.anchor(ZkWritten, client, change.op, change.path, change.version, self.zxid, change.data)
        if change.op == "create" and change.stat is not None:
            self.process.show(ZnodeCreated, client, change.path, change.stat.ephemeral_owner != 0)
        self.watches.fire(change.op, change.path)

    def _sealed(self, response: ZkResponse) -> ZkResponse:
        response.zxid = self.zxid
        response.cause = self.process.node.trace.cause
        return response


_READS: dict[type, Callable[[Database, Any, Watcher | None], ZkResponse]] = {
    GetData: Database._get_data,
    Exists: Database._exists,
    GetChildren: Database._get_children,
}


def _done(change: Change | None, path: str) -> ZkResponse:
    if change is None:
        return ZkResponse(ZkCode.OK, path)
    return ZkResponse(ZkCode.OK, change.path, change.data, change.stat)


def _failed(multi: Multi, position: int, error: ZkError) -> ZkResponse:
    results = [ZkResponse(ZkCode.OK, op.path) for op in multi.ops[:position]]
    results.append(ZkResponse(error.code, error.path))
    results += [ZkResponse(ZkCode.RUNTIME_INCONSISTENCY, op.path) for op in multi.ops[position + 1 :]]
    return ZkResponse(error.code, error.path, results=tuple(results))
