"""What roles use: the verbs of ZooKeeper over one session of their process."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from attrs import define, field

from emulator.kernel import Signal
from emulator.zookeeper.errors import NoNode, SessionExpired, ZkCode, error_of
from emulator.zookeeper.handlers import Handler
from emulator.zookeeper.messages import (
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    Multi,
    Op,
    Request,
    Response,
    SetData,
    Stat,
)
from emulator.zookeeper.session import Session
from emulator.zookeeper.tree import ancestors

T = TypeVar("T")


class ZkClient(Session):
    """One for each process; many tasks may use it at once. Requests are sent in the order of the calls.

    No method raises ConnectionLoss: requests are sent again until they are answered. So a create may raise
    NodeExists and a conditional set BadVersion because the first attempt did succeed; the caller looks. Every
    method raises SessionExpired once the session is known to be gone.
    """

    # -- reading ---------------------------------------------------------------------------------------------

    async def get(self, path: str) -> tuple[str, Stat]:
        """The data and metadata of a znode. Raises: NoNode."""
        response = await self._ask(GetData(path))
        return response.data, _stat(response)

    async def exists(self, path: str) -> Stat | None:
        """The metadata of a znode, None where it is missing."""
        try:
            return _stat(await self._ask(Exists(path)))
        except NoNode:
            return None

    async def children(self, path: str) -> tuple[str, ...]:
        """The names of the children, numbers in their order before words. Raises: NoNode."""
        return (await self._ask(GetChildren(path))).children

    # -- writing ---------------------------------------------------------------------------------------------

    async def create(self, path: str, data: str = "", *, ephemeral: bool = False, sequential: bool = False) -> str:
        """Create a znode; its real path. Raises: NodeExists, NoNode (the parent), NoChildrenForEphemerals."""
        return (await self._ask(Create(path, data, ephemeral, sequential))).path

    async def create_parents(self, path: str) -> None:
        """Make the persistent parents of ``path`` that are missing, not ``path`` itself."""
        for response in await self.pipeline([Create(parent) for parent in ancestors(path)]):
            if response.error not in (ZkCode.OK, ZkCode.NODE_EXISTS):
                raise error_of(response.error, response.path)

    async def set(self, path: str, data: str, version: int = -1) -> Stat:
        """Replace the data if the znode has ``version`` (-1: any). Raises: NoNode, BadVersion."""
        return _stat(await self._ask(SetData(path, data, version)))

    async def delete(self, path: str, version: int = -1) -> None:
        """Delete a znode if it has ``version`` (-1: any). Raises: NoNode, BadVersion, NotEmpty."""
        await self._ask(Delete(path, version))

    async def multi(self, *ops: Op) -> tuple[Response, ...]:
        """Do all or nothing; one response for each. Raises: the error of the first operation that fails."""
        return (await self._ask(Multi(ops))).results

    # -- many at once ----------------------------------------------------------------------------------------

    async def pipeline(self, requests: Iterable[Request]) -> list[Response]:
        """The answers in the order of ``requests``, of which up to ``max_in_flight`` are under way at a time.

        An operation that fails says so in its response.

        Raises:
            SessionExpired: the session ended before all had an answer.
        """
        return await self.pipeline_into(_as_it_is, requests)

    async def pipeline_into(self, take: Callable[[Response], T], requests: Iterable[Request]) -> list[T]:
        """What ``take`` makes of each answer when it comes. A request is made when its turn has come: of a hundred
        thousand, those under way are all there is in memory.

        Raises:
            SessionExpired: as above.
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

    async def _ask(self, request: Request) -> Response:
        """One round trip. Raises: the error of the response."""
        signal = Signal(self._world, f"ZooKeeper {request.__class__.__name__} {request.path}")
        self.submit(request, signal.set)
        response: Response = await signal.wait()
        self._trace.cause = response.cause
        if response.error is not ZkCode.OK:
            raise error_of(response.error, response.path)
        return response

    # -- watching --------------------------------------------------------------------------------------------

    def on_node(self, path: str, handler: Handler) -> None:
        """Let ``handler`` hear of the creation, change or deletion of ``path``.

        This arms nothing: each ``get`` or ``exists`` made from now on arms one notification. One handler for
        a path: a second takes the place of the first.
        """
        self._handlers.node[path] = handler

    def off_node(self, path: str) -> None:
        """Stop that; it does not matter whether there was a handler."""
        self._handlers.node.pop(path, None)

    def on_children(self, path: str, handler: Handler) -> None:
        """Let ``handler`` hear that a child of ``path`` came or went; armed by ``children``, once for each
        call."""
        self._handlers.children[path] = handler

    def off_children(self, path: str) -> None:
        """Stop that; it does not matter whether there was a handler."""
        self._handlers.children.pop(path, None)


@define(eq=False)
class _Pipe:
    """A batch on its way: each answer lets the next request go, so that others get their turn in between."""

    client: ZkClient
    waiting: Iterator[Request]
    take: Callable[[Response], Any]
    full: Signal
    cause: int = 0
    last_cause: int = 0
    answers: list[Any] = field(factory=list)
    missing: int = 0
    expired: str | None = None

    def feed(self) -> bool:
        """Send the next request; False where there is none left."""
        request = next(self.waiting, None)
        if request is None:
            return False
        self.missing += 1
        self.client.submit(request, self._answered)
        return True

    def _answered(self, response: Response) -> None:
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


def _as_it_is(response: Response) -> Response:
    return response


def _stat(response: Response) -> Stat:
    assert response.stat is not None
    return response.stat
