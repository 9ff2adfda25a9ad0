"""The ZooKeeper operations that roles use, over the session of their process."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from attrs import define, field

from emulator.kernel import Signal
from emulator.zookeeper.client.client_cnxn import ClientCnxn
from emulator.zookeeper.client.handlers import Handler
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
    Stat,
    ZkResponse,
)
from emulator.zookeeper.paths import ancestors
from emulator.zookeeper.zk_errors import NoNode, SessionExpired, ZkCode, error_of

T = TypeVar("T")


@define(eq=False, repr=False)
class ZkClient(ClientCnxn):
    """The ZooKeeper client of one process; many tasks may use it at once. Requests are sent in the order of the calls.

    No method raises ConnectionLoss: requests are sent again until they are answered. So a create may raise NodeExists,
    and a conditional set BadVersion, because its own first attempt succeeded; the caller has to read and compare. Every
    method raises SessionExpired once the session is known to be gone.
    """

    # -- reading ---------------------------------------------------------------------------------------------

    async def get(self, path: str) -> tuple[str, Stat]:
        """The data and metadata of a znode. Raises: NoNode."""
        response = await self._ask(GetData(path))
        return response.data, _stat(response)

    async def exists(self, path: str) -> Stat | None:
        """The metadata of a znode; None if it does not exist."""
        try:
            return _stat(await self._ask(Exists(path)))
        except NoNode:
            return None

    async def children(self, path: str) -> tuple[str, ...]:
        """The names of the children, numbers first and in numeric order. Raises: NoNode."""
        return (await self._ask(GetChildren(path))).children

    @property
    def unarmed(self) -> tuple[str, ...]:
        """The paths that have a handler, of whose next change no watch will tell: none is armed, or not at the
        server."""
        server: Any = None if self._endpoint is None or self._endpoint.peer is None else self._endpoint.peer.owner
        return self._handlers.unarmed(None if server is None else server.watched)

    # -- writing ---------------------------------------------------------------------------------------------

    async def create(self, path: str, data: str = "", *, ephemeral: bool = False, sequential: bool = False) -> str:
        """Create a znode and return its path. Raises: NodeExists, NoNode (the parent), NoChildrenForEphemerals."""
        return (await self._ask(Create(path, data, ephemeral, sequential))).path

    async def create_parents(self, path: str) -> None:
        """Create the missing parents of ``path``, persistent, but not ``path`` itself."""
        for response in await self.pipeline([Create(parent) for parent in ancestors(path)]):
            if response.error not in (ZkCode.OK, ZkCode.NODE_EXISTS):
                raise error_of(response.error, response.path)

    async def set(self, path: str, data: str, version: int = -1) -> Stat:
        """Replace the data if the znode has ``version`` (-1: any). Raises: NoNode, BadVersion."""
        return _stat(await self._ask(SetData(path, data, version)))

    async def delete(self, path: str, version: int = -1) -> None:
        """Delete a znode if it has ``version`` (-1: any). Raises: NoNode, BadVersion, NotEmpty."""
        await self._ask(Delete(path, version))

    async def multi(self, *ops: Op) -> tuple[ZkResponse, ...]:
        """Do all operations or none; one response per operation. Raises: the error of the first one that fails."""
        return (await self._ask(Multi(ops))).results

    # -- many at once ----------------------------------------------------------------------------------------

    async def pipeline(self, requests: Iterable[Request]) -> list[ZkResponse]:
        """The answers in the order of ``requests``, of which at most ``max_in_flight`` are sent at a time.

        A failed operation is reported in its response.

        Raises:
            SessionExpired: the session ended before all were answered.
        """
        return await self.pipeline_into(_as_it_is, requests)

    async def pipeline_into(self, take: Callable[[ZkResponse], T], requests: Iterable[Request]) -> list[T]:
        """Send requests as ``pipeline`` does, and return ``take(answer)`` of each answer. Requests are drawn from the
        iterable as they are sent: of a hundred thousand, only those in flight are in memory.

        Raises: SessionExpired: the session ended before all were answered.
        """
        pipe = _Pipe(self, iter(requests), take, Signal(self._world, "answers of ZooKeeper"))
        pipe.cause = self._trace.cause
        while pipe.missing < self._spec.max_in_flight and pipe.feed():
            pass
        if pipe.missing:
            await pipe.full.wait()
            self._trace.cause = pipe.last_cause
        if pipe.expired is not None:
            raise SessionExpired(pipe.expired)
        return pipe.answers

    async def _ask(self, request: Request) -> ZkResponse:
        """One round trip. Raises: the error of the response."""
        signal = Signal(self._world, f"ZooKeeper {request.__class__.__name__} {request.path}")
        self.submit(request, signal.set)
        response: ZkResponse = await signal.wait()
        self._trace.cause = response.cause
        if response.error is not ZkCode.OK:
            raise error_of(response.error, response.path)
        return response

    # -- watching --------------------------------------------------------------------------------------------

    def on_node(self, path: str, handler: Handler) -> None:
        """Call ``handler`` after the creation, change or deletion of ``path``.

        This alone arms nothing: each later ``get`` or ``exists`` of the path arms one notification. A path has one
        handler: a second replaces the first.
        """
        self._handlers.node[path] = handler

    def off_node(self, path: str) -> None:
        """Remove the handler of ``on_node``, if there is one."""
        self._handlers.node.pop(path, None)

    def on_children(self, path: str, handler: Handler) -> None:
        """Call ``handler`` after a child of ``path`` was created or deleted. Each later ``children`` of the path arms
        one notification."""
        self._handlers.children[path] = handler

    def off_children(self, path: str) -> None:
        """Remove the handler of ``on_children``, if there is one."""
        self._handlers.children.pop(path, None)


@define(eq=False)
class _Pipe:
    """A batch of pipelined requests: each answer sends the next one, so that requests of other tasks can be sent
    in between."""

    client: ZkClient
    waiting: Iterator[Request]
    take: Callable[[ZkResponse], Any]
    full: Signal
    cause: int = 0
    last_cause: int = 0
    answers: list[Any] = field(factory=list)
    missing: int = 0
    expired: str | None = None

    def feed(self) -> bool:
        """Send the next request. False if none is left."""
        request = next(self.waiting, None)
        if request is None:
            return False
        self.missing += 1
        self.client.submit(request, self._answered)
        return True

    def _answered(self, response: ZkResponse) -> None:
        self.missing -= 1
        self.last_cause = response.cause
        if response.error is ZkCode.SESSION_EXPIRED:
            self.expired = self.expired or response.path
        else:
            self.answers.append(self.take(response))
        trace = self.client._trace
        trace.cause, cause = self.cause, trace.cause
        more = self.expired is None and self.feed()
        trace.cause = cause
        if not more and not self.missing:
            self.full.set()


def _as_it_is(response: ZkResponse) -> ZkResponse:
    return response


def _stat(response: ZkResponse) -> Stat:
    assert response.stat is not None
    return response.stat
