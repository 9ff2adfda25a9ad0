"""Waits for the message, or the write to ZooKeeper, that a trigger names, and for its turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from attrs import define, field

from emulator.network import Endpoint, InterceptedMessage
from emulator.network.interceptors import Edge
from emulator.protocol.api import Message, apis
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkSession
from emulator.zookeeper.errors import ZkCode
from emulator.zookeeper.messages import Ask, Create, Delete, Multi, Request, Response, SetData
from scenarios.faults.apis import operations
from scenarios.faults.gates import GateFilter
from scenarios.language import Target, When, WhenMessage, WhenZk, fits

if TYPE_CHECKING:
    from scenarios.cluster import Cluster
    from scenarios.faults.roles import Roles

Caught = Callable[[InterceptedMessage | None], object]
"""Told when a trigger's time has come, with the message where there is one to act on."""

_WRITES: dict[str, type] = {"create": Create, "setData": SetData, "delete": Delete, "multi": Multi}


@define(eq=False)
class Watch:
    """One trigger's wait.

    Attributes:
        stops: whoever is told acts on the message itself, so it is told while the message can still be stopped. Others
            are told in an event of their own, where telling them at once would be in the middle of a transition.
        protocol: the reassignment protocol whose steps ``since`` names.
    """

    when: WhenMessage | WhenZk
    cluster: Cluster
    roles: Roles
    protocol: str
    stops: bool
    caught: Caught
    _counting: bool = False
    _seen: int = 0
    _over: list[Callable[[], object]] = field(factory=list)

    def begin(self) -> None:
        """Wait from now on."""
        since, world = self.when.since, self.cluster.world
        if since is None:
            self._count()
        elif isinstance(since, When):
            GateFilter.of(since, self.protocol).once(self.cluster.gates, self._count)
        else:
            world.call_later(max(0, since - world.now), self._count, None, True)
        if isinstance(self.when, WhenMessage):
            _watch_message(self, self.when)
        else:
            _watch_zookeeper(self, self.when)

    def _count(self, _: Any = None) -> None:
        self._counting = True

    # -- for those that look ------------------------------------------------------------------------------------------

    def tap(self, kind: type, edge: Edge, hook: Callable[[InterceptedMessage], object]) -> None:
        """Have ``hook`` see messages of a class until the trigger's time has come."""
        interceptors = self.cluster.network.interceptors
        interceptors.arm(kind, edge, hook)
        self._over.append(lambda: interceptors.disarm(kind, edge, hook))

    def hook(self, hook: Callable[[int, Request, Response], object]) -> None:
        """Have ``hook`` see what ZooKeeper has done until the trigger's time has come."""
        hooks = self.cluster.zookeeper.server.hooks
        hooks.append(hook)
        self._over.append(lambda: hooks.remove(hook))

    def counts(self) -> bool:
        """One that matches was seen: is it the one that was asked for?"""
        self._seen += self._counting
        return self._counting and self._seen == self.when.occurrence

    def is_one_of(self, machine: int, target: Target | None) -> bool:
        """Whether the machine is a broker that ``target`` means now."""
        return target is None or machine in self.roles.find(target)

    def fire(self, passing: InterceptedMessage | None, cause: int | None = None) -> None:
        """Its time has come. ``cause``: the event that it goes back to, where that is not the trace's own."""
        over, self._over = self._over, []
        for end in over:
            end()
        if self.stops or (passing is not None and passing.edge == "delivered"):
            self.caught(passing)
        else:
            self.cluster.world.call_later(0, self._tell, self.cluster.trace.cause if cause is None else cause)

    def _tell(self, cause: int) -> None:
        self.cluster.trace.cause = cause
        self.caught(None)


# -- messages ---------------------------------------------------------------------------------------------------------


def _watch_message(watch: Watch, when: WhenMessage) -> None:
    api = apis()[when.message]
    request, answer = api.request, api.response
    wanted = None if when.partition is None else TopicPartition.parse(when.partition)

    def names_it(body: Message) -> bool:
        if wanted is None and when.topic is None:
            return True
        return any(wanted in (None, tp) and when.topic in (None, tp.topic) for tp in body.topic_partitions())

    def matches(passing: InterceptedMessage) -> bool:
        return (
            names_it(passing.body)
            and watch.is_one_of(passing.source, when.source)
            and watch.is_one_of(passing.target, when.target)
        )

    def passes(passing: InterceptedMessage) -> None:
        if matches(passing) and watch.counts():
            watch.fire(passing)

    if when.edge == "sent":
        watch.tap(answer if when.response else request, "sent", passes)
    elif when.edge == "delivered":
        watch.tap(answer if when.response else request, "delivered", passes)
    else:
        _watch_answers(watch, request, answer, lambda passing: matches(passing) and watch.counts())


def _watch_answers(watch: Watch, request: type, answer: type, is_the_one: Callable[[InterceptedMessage], bool]) -> None:
    """Answers leave a connection in the order of its requests: that tells which belongs to which."""
    asked: dict[Endpoint, deque[bool]] = {}
    awaited: list[Any] = []

    def ask(passing: InterceptedMessage) -> None:
        if getattr(passing.body, "acks", None) != 0:
            asked.setdefault(passing.endpoint, deque()).append(is_the_one(passing))

    def leave(passing: InterceptedMessage) -> None:
        before = asked.get(passing.endpoint)  # nothing where it was asked before the watch began
        if before and before.popleft():
            awaited.append(passing.body)

    def arrive(passing: InterceptedMessage) -> None:
        if any(body is passing.body for body in awaited):
            watch.fire(passing)

    watch.tap(request, "delivered", ask)
    watch.tap(answer, "sent", leave)
    watch.tap(answer, "delivered", arrive)


# -- ZooKeeper --------------------------------------------------------------------------------------------------------


def _watch_zookeeper(watch: Watch, when: WhenZk) -> None:
    if not when.stoppable:
        _watch_sessions(watch, when)
    elif when.edge == "before":
        _watch_requests(watch, when)
    else:
        _watch_writes(watch, when)


def _is_wanted(when: WhenZk, request: Request) -> bool:
    kind, path = _WRITES[when.zk], when.path
    whole = kind is Multi and isinstance(request, Multi)
    return any((whole or isinstance(op, kind)) and (path is None or fits(path, op.path)) for op in operations(request))


def _watch_requests(watch: Watch, when: WhenZk) -> None:
    def passes(passing: InterceptedMessage) -> None:
        if _is_wanted(when, passing.body.request) and watch.is_one_of(passing.source, when.source) and watch.counts():
            watch.fire(passing)

    watch.tap(Ask, "delivered", passes)


def _watch_writes(watch: Watch, when: WhenZk) -> None:
    """``applied``: done, and its answer about to leave; ``answered``: its answer, whatever it says, arrives."""
    awaited: list[Response] = []
    applied = when.edge == "applied"

    def done(client: int, request: Request, response: Response) -> None:
        counts = (
            (response.error is ZkCode.OK or not applied)
            and _is_wanted(when, request)
            and watch.is_one_of(client, when.source)
            and watch.counts()
        )
        if counts and applied and not watch.stops:
            watch.fire(None)
        elif counts:
            awaited.append(response)

    def passes(passing: InterceptedMessage) -> None:
        if any(response is passing.body for response in awaited):
            watch.fire(passing)

    watch.hook(done)
    watch.tap(Response, "sent" if applied else "delivered", passes)


def _watch_sessions(watch: Watch, when: WhenZk) -> None:
    state = when.zk.removeprefix("session.")

    def turned(event: ZkSession) -> None:
        if event.state == state and watch.is_one_of(event.client, when.source) and watch.counts():
            watch.fire(None, event.seq)

    watch.cluster.trace.fold(ZkSession, turned)
