"""The waits of triggers: for the visit of a gate, the message or the write to ZooKeeper that an entry names."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import define, field

from emulator.gates import Edge, Gates, Hook, Visit
from emulator.network import Endpoint, InterceptedMessage
from emulator.network.interceptors import Edge as MessageEdge
from emulator.protocol.api import Message, apis, forms
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkSession
from emulator.zookeeper.messages import Ask, Create, Delete, Multi, Op, Request, SetData, ZkResponse
from emulator.zookeeper.zk_errors import ZkCode
from scenarios.faults.target_roles import TargetRoles
from scenarios.language import Since, Target, When, WhenMessage, WhenZk, fits
from scenarios.language.messages import ANY
from scenarios.language.schema.spans import certain

if TYPE_CHECKING:
    from scenarios.cluster.cluster import Cluster

Fire = Callable[[InterceptedMessage | None], object]
"""Called when a trigger fires, with the message where there is one to act on."""

Disarm = Callable[[], object]
"""Ends the wait for a trigger. After the trigger has fired it does nothing."""

_WRITES: dict[str, type] = {"create": Create, "setData": SetData, "delete": Delete, "multi": Multi}


def arm(
    when: When | WhenMessage | WhenZk,
    cluster: Cluster,
    roles: TargetRoles,
    protocol: str,
    fire: Fire,
    *,
    stops: bool = False,
) -> Disarm:
    """Call ``fire`` once, when the condition of ``when`` is met. Returns a function that ends the wait.

    ``protocol`` is the reassignment protocol whose steps and phases the trigger names; ``stops`` says that ``fire``
    acts on the message itself, which is then intercepted.
    """
    if isinstance(when, When):
        return GateFilter.of(when, protocol).once(cluster.gates, lambda: fire(None))
    watch: Watch
    if isinstance(when, WhenMessage):
        watch = MessageWatch(cluster, roles, protocol, fire, stops, when=when)
    else:
        watch = ZkWatch(cluster, roles, protocol, fire, stops, when=when)
    watch.begin(when.since)
    return watch.end


# -- gates ------------------------------------------------------------------------------------------------------------


@define(eq=False)
class GateFilter:
    """Counts the visits of a gate, or of several, that match a trigger."""

    steps: tuple[str, ...]
    edge: Edge
    partition: str | None
    broker: int | None
    topic: str | None
    hop: int | None
    occurrence: int
    seen: int = 0

    @classmethod
    def of(cls, when: When, protocol: str) -> GateFilter:
        """The filter of ``when`` under a protocol, which has the step: the scenario's check has made sure of that."""
        gates = when.gates(protocol)
        assert gates, f"{when.steps} cannot be reached under {protocol}"
        hop = None if when.hop is None else when.hop + gates[0].hop_shift
        edge: Edge = "before" if when.edge == "before" else "after"
        steps = tuple(gate.step for gate in gates)
        return cls(steps, edge, when.partition, when.broker, when.topic, hop, certain(when.occurrence))

    def arm(self, gates: Gates, hook: Hook) -> None:
        """Call ``hook`` with every visit of these gates."""
        for step in self.steps:
            gates.arm(step, self.edge, hook)

    def disarm(self, gates: Gates, hook: Hook) -> None:
        for step in self.steps:
            gates.disarm(step, self.edge, hook)

    def lets(self, visit: Visit) -> bool:
        """Whether the visit matches and is the wanted occurrence, or a later one."""
        matches = (
            (self.partition is None or self.partition == f"{visit.topic}-{visit.partition}")
            and (self.broker is None or self.broker == visit.broker)
            and (self.topic is None or self.topic == visit.topic)
            and (self.hop is None or self.hop == visit.hop)
        )
        self.seen += matches
        return matches and self.seen >= self.occurrence

    def once(self, gates: Gates, act: Callable[[], object]) -> Disarm:
        """Act at the wanted visit, and at no later one. Returns a function that ends the wait."""
        armed = True

        def disarm() -> None:
            nonlocal armed
            if armed:
                armed = False
                self.disarm(gates, visited)

        def visited(visit: Visit) -> None:
            if self.lets(visit):
                disarm()
                act()

        self.arm(gates, visited)
        return disarm


# -- messages and writes ----------------------------------------------------------------------------------------------


@define(eq=False)
class Watch:
    """A wait for one message, or one write.

    Attributes:
        protocol: the reassignment protocol whose steps ``since`` names.
        fire: called once.
        stops: whether ``fire`` acts on the message itself. It is then called while the message can still be stopped;
            otherwise in an event of its own, where a call at once would be in the middle of a transition.
    """

    cluster: Cluster
    roles: TargetRoles
    protocol: str
    fire: Fire
    stops: bool
    _counting: bool = False
    _over: bool = False
    _seen: int = 0
    _ends: list[Callable[[], object]] = field(factory=list)

    def begin(self, since: Since | None) -> None:
        """Start to wait, and to count from ``since`` on."""
        world = self.cluster.world
        if since is None:
            self._count()
        elif isinstance(since, When):
            self._ends.append(GateFilter.of(since, self.protocol).once(self.cluster.gates, self._count))
        else:
            world.call_later(max(0, since - world.now), self._count, None, True)
        self._listen()

    def _listen(self) -> None:
        raise NotImplementedError

    def _count(self, _: Any = None) -> None:
        self._counting = not self._over

    def _intercept(self, kind: type, edge: MessageEdge, hook: Callable[[InterceptedMessage], object]) -> None:
        """Call ``hook`` with every message of a class until the trigger fires."""
        interceptors = self.cluster.network.interceptors
        for form in forms(kind):
            interceptors.arm(form, edge, hook)
            self._ends.append(partial(interceptors.disarm, form, edge, hook))

    def _counts(self, occurrence: int) -> bool:
        """Count a message, or a write, that matches. Returns whether it is the wanted occurrence."""
        self._seen += self._counting
        return self._counting and self._seen == occurrence

    def _is_one_of(self, machine: int, target: Target | None) -> bool:
        """Whether the machine is one of the brokers that ``target`` means now."""
        return target is None or self.roles.means(target, machine)

    def _fire(self, passing: InterceptedMessage | None, cause: int | None = None) -> None:
        """Act: the trigger's condition is met. ``cause``: the event that caused it, if not the trace's current one."""
        self._stop_listening()
        if self.stops or (passing is not None and passing.edge == "delivered"):
            self.fire(passing)
        else:
            self.cluster.world.call_later(0, self._fire_later, self.cluster.trace.cause if cause is None else cause)

    def _fire_later(self, cause: int) -> None:
        if not self._over:
            self.cluster.trace.cause = cause
            self.fire(None)

    def _stop_listening(self) -> None:
        ends, self._ends = self._ends, []
        for end in ends:
            end()

    def end(self) -> None:
        """End the wait, and do not act if that is still to come."""
        self._over = True
        self._counting = False
        self._stop_listening()


@define(eq=False)
class MessageWatch(Watch):
    """A wait for a message of one of Kafka's APIs."""

    when: WhenMessage = field(kw_only=True)

    def _listen(self) -> None:
        when = self.when
        edge: MessageEdge = "sent" if when.edge == "sent" else "delivered"
        for api in (apis()[name] for name in when.messages):
            if when.edge == "answered":
                self._listen_for_response(api.request, api.response)
            else:
                self._intercept(api.response if when.response else api.request, edge, self._passes)

    def _passes(self, passing: InterceptedMessage) -> None:
        if self._is_it(passing):
            self._fire(passing)

    def _is_it(self, passing: InterceptedMessage) -> bool:
        when = self.when
        return (
            self._names_it(passing.body)
            and self._is_one_of(passing.source, when.source)
            and self._is_one_of(passing.target, when.target)
            and self._counts(certain(when.occurrence))
        )

    def _names_it(self, body: Message) -> bool:
        """Whether the message names the partition, or a partition of the topic, that the trigger names."""
        name, topic = self.when.partition, self.when.topic
        if name is None and topic is None:
            return True
        wanted = None if name is None else TopicPartition.parse(name)
        return any(wanted in (None, tp) and topic in (None, tp.topic) for tp in body.topic_partitions())

    def _listen_for_response(self, request: type, response: type) -> None:
        """Wait for the response to a request that matches. Responses leave a connection in the order of its requests,
        which shows to which request each of them belongs."""
        asked: dict[Endpoint, deque[bool]] = {}
        awaited: list[Any] = []

        def ask(passing: InterceptedMessage) -> None:
            if getattr(passing.body, "acks", None) != 0:
                asked.setdefault(passing.endpoint, deque()).append(self._is_it(passing))

        def leave(passing: InterceptedMessage) -> None:
            before = asked.get(passing.endpoint)  # None for a request from before the watch began
            if before and before.popleft():
                awaited.append(passing.body)

        def arrive(passing: InterceptedMessage) -> None:
            if any(body is passing.body for body in awaited):
                self._fire(passing)

        self._intercept(request, "delivered", ask)
        self._intercept(response, "sent", leave)
        self._intercept(response, "delivered", arrive)


def operations(request: Request) -> tuple[Op, ...]:
    """The operations of a request to ZooKeeper: those of a multi, or the request itself."""
    return request.ops if isinstance(request, Multi) else (request,)  # type: ignore[return-value]


@define(eq=False)
class ZkWatch(Watch):
    """A wait for a write to ZooKeeper, or for a session event."""

    when: WhenZk = field(kw_only=True)

    def _listen(self) -> None:
        if not self.when.stoppable:
            self._listen_to_sessions()
        elif self.when.edge == "before":
            self._intercept(Ask, "delivered", self._asks)
        else:
            self._listen_to_writes()

    def _is_wanted(self, request: Request) -> bool:
        kinds, path = _WRITES.get(self.when.zk) or tuple(_WRITES.values()), self.when.path
        whole = self.when.zk in ("multi", ANY) and isinstance(request, Multi)
        parts = operations(request)
        return any((whole or isinstance(op, kinds)) and (path is None or fits(path, op.path)) for op in parts)

    def _is_it(self, request: Request, client: int) -> bool:
        when = self.when
        return (
            self._is_wanted(request) and self._is_one_of(client, when.source) and self._counts(certain(when.occurrence))
        )

    def _asks(self, passing: InterceptedMessage) -> None:
        if self._is_it(passing.body.request, passing.source):
            self._fire(passing)

    def _listen_to_writes(self) -> None:
        """Wait for writes at one of two moments. ``applied``: the write is done, and its response is about to be sent;
        ``answered``: its response, even an error, arrives."""
        awaited: list[ZkResponse] = []
        applied = self.when.edge == "applied"

        def done(client: int, request: Request, response: ZkResponse) -> None:
            counts = (response.error is ZkCode.OK or not applied) and self._is_it(request, client)
            if counts and applied and not self.stops:
                self._fire(None)
            elif counts:
                awaited.append(response)

        def passes(passing: InterceptedMessage) -> None:
            if any(response is passing.body for response in awaited):
                self._fire(passing)

        hooks = self.cluster.zookeeper.server.hooks
        hooks.append(done)
        self._ends.append(lambda: hooks.remove(done))
        self._intercept(ZkResponse, "sent" if applied else "delivered", passes)

    def _listen_to_sessions(self) -> None:
        when, state = self.when, self.when.zk.removeprefix("session.")

        def turned(event: ZkSession) -> None:
            if (
                event.state == state
                and self._is_one_of(event.client, when.source)
                and self._counts(certain(when.occurrence))
            ):
                self._fire(None, event.seq)

        self.cluster.trace.fold(ZkSession, turned)
