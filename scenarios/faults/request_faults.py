"""Requests of real clients that go wrong on purpose, where they come in from the wire: which, how often, and what
happens to them.

The client's end of a served cluster asks at each request (``scenarios.wire.gateway.client_connection``). What is
decided here depends on the requests and their order alone, so a replay decides the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from emulator.protocol.api import apis, control_apis
from emulator.protocol.errors import Errors
from emulator.streams import Stream
from scenarios.faults.performer import Memory
from scenarios.language import MethodEntry
from scenarios.language.schema.spans import certain

if TYPE_CHECKING:
    from scenarios.cluster.cluster import Cluster
    from scenarios.faults.arming import Disarm, Fire
    from scenarios.language import WhenFault

_GRAIN = 1 << 30


@frozen
class ClientRequest:
    """A request of a real client, as it came in.

    Attributes:
        api: the name of its API.
        body: its fields, by their names in Kafka's schemas, in snake_case.
    """

    api: str
    client: str
    broker: int
    body: Mapping[str, Any] = field(repr=False)

    @property
    def groups(self) -> Iterator[str]:
        for name in ("group_id", "key"):
            if isinstance(self.body.get(name), str):
                yield self.body[name]
        for name in ("groups", "groups_names", "coordinator_keys"):
            for each in self.body.get(name) or ():
                yield each if isinstance(each, str) else each.get("group_id", "")

    @property
    def partitions(self) -> Iterator[str]:
        """The partitions that it names, such as ``orders-0``."""
        for topics in ("topics", "topic_data"):
            for topic in self.body.get(topics) or ():
                if isinstance(topic, Mapping):
                    yield from partitions_of(topic)


def partitions_of(topic: Mapping[str, Any]) -> Iterator[str]:
    """The partitions in the part of a message that is about one topic."""
    name = topic.get("name") or topic.get("topic") or ""
    for key in ("partitions", "partition_data", "partition_indexes", "partition_responses"):
        for each in topic.get(key) or ():
            yield f"{name}-{partition_number(each)}"


def partition_number(part: Any) -> Any:
    """The number of the partition in the part of a message that is about it."""
    if not isinstance(part, Mapping):
        return part
    return next((part[key] for key in ("partition_index", "index", "partition") if key in part), None)


@frozen(kw_only=True)
class RequestFilter:
    """The requests that a fault is for. None: any."""

    api: str
    client: str | None = None
    broker: int | None = None
    partition: str | None = None
    group: str | None = None

    def takes(self, asked: ClientRequest) -> bool:
        return (
            self.api in (asked.api, ANY_API)
            and self.client in (None, asked.client)
            and self.broker in (None, asked.broker)
            and (self.partition is None or self.partition in asked.partitions)
            and (self.group is None or self.group in asked.groups)
        )


ANY_API = "any"
WITHOUT_ONE_ERROR = (
    "AddPartitionsToTxn", "AlterConfigs", "AlterReplicaLogDirs", "CreatePartitions", "DeleteGroups",
    "IncrementalAlterConfigs", "TxnOffsetCommit",
)  # fmt: skip
"""The APIs that change something, and whose answers have an error for each thing that was to be done only."""


@cache
def api_names() -> dict[int, str]:
    """The names of the APIs that clients can ask for, by number."""
    between_brokers = control_apis()
    return {api.key: name for name, api in apis().items() if api not in between_brokers}


@frozen(kw_only=True)
class RequestEffect:
    """The effect of a fault on a request that it hits.

    Attributes:
        kind: ``fail``, ``drop``, ``delay`` or ``silence``.
        performed: whether the broker carries the request out first.
        error: the error of the answer; ``latency_us``: how much later it comes.
    """

    kind: str
    performed: bool = True
    error: Errors = Errors.NONE
    latency_us: int = 0

    def __str__(self) -> str:
        if self.kind == "fail":
            what = f"answered with {self.error.name}"
        elif self.kind == "delay":
            what = f"answered {self.latency_us / 1000:g} ms later"
        else:
            what = "dropped with its connection" if self.kind == "drop" else "never answered"
        return what if self.kind == "delay" or not self.performed else f"carried out, and {what}"


@define(eq=False)
class RequestFault:
    """One fault, until it is removed or has hit as many requests as it may.

    Attributes:
        name: by which it is asked after and removed.
        occurrence: the first matching request that it hits, counted from 1.
        count: the most requests that it hits; 0: all.
        probability: that it hits a request which it could.
        draws: the draws for that.
        seen, fired: the matching requests, and those that were hit.
        ended: whether it was ended by ``heal``.
    """

    name: str
    entry: MethodEntry
    filter: RequestFilter
    effect: RequestEffect
    occurrence: int
    count: int
    probability: float
    draws: Stream
    seen: int = 0
    fired: int = 0
    ended: bool = False

    @property
    def is_over(self) -> bool:
        """Whether it hits nothing any more."""
        return self.ended or 0 < self.count <= self.fired

    def hits(self, asked: ClientRequest) -> bool:
        """Whether it hits the request; counts it."""
        if self.is_over or not self.filter.takes(asked):
            return False
        self.seen += 1
        if self.seen < self.occurrence or (
            self.probability < 1 and self.draws.below(_GRAIN) >= self.probability * _GRAIN
        ):
            return False
        self.fired += 1
        return True


@define(eq=False)
class _FaultWatch:
    """A wait for the hits of the fault that has a name.

    Attributes:
        over: whether nothing is to be looked at any more: the condition was met, or the wait has ended.
    """

    when: WhenFault
    cluster: Cluster
    fire: Fire
    over: bool = False
    _ended: bool = False

    def look(self, fault: RequestFault) -> None:
        """Look at a fault that has begun, or has hit a request."""
        if not self.over and fault.name == self.when.fault and fault.fired >= certain(self.when.occurrence):
            self.over = True
            # A request is hit in the middle of a transition: what waits for it acts in an event of its own.
            self.cluster.world.call_later(0, self._fire, self.cluster.trace.cause)

    def _fire(self, cause: int) -> None:
        if not self._ended:
            self.cluster.trace.cause = cause
            self.fire(None)

    def end(self) -> None:
        """End the wait, and do not act if that is still to come."""
        self.over = self._ended = True


@define(eq=False)
class RequestFaults(Memory):
    """The faults of one run.

    Attributes:
        known: all that were not removed, in the order in which they came.
        standing: whether any of them can hit a request.
        hit: called with each fault that hits a request, and the request.
    """

    known: list[RequestFault] = field(factory=list)
    standing: bool = False
    hit: Callable[[RequestFault, ClientRequest], object] = lambda _fault, _asked: None
    _watches: list[_FaultWatch] = field(factory=list)

    def add(self, fault: RequestFault) -> None:
        self.known.append(fault)
        self.standing = True

    def remove(self, chosen: Callable[[RequestFault], bool]) -> int:
        """Remove faults. Returns how many."""
        before = len(self.known)
        self.known = [fault for fault in self.known if not chosen(fault)]
        self._look()
        return before - len(self.known)

    def end_all(self) -> None:
        """End all. Those that have hit nothing stay known, for the verdict."""
        for fault in self.known:
            fault.ended = True
        self.remove(lambda fault: bool(fault.fired))

    def of(self, asked: ClientRequest) -> RequestFault | None:
        """The fault that hits a request: the first that does."""
        for fault in self.known:
            if fault.hits(asked):
                self._look()
                self.hit(fault, asked)
                for watch in self._watches:
                    watch.look(fault)
                return fault
        return None

    def watch(self, when: WhenFault, cluster: Cluster, fire: Fire) -> Disarm:
        """Call ``fire`` once, in an event of its own, when a fault has hit as many requests as ``when`` says. Returns a
        function that ends the wait."""
        watch = _FaultWatch(when, cluster, fire)
        self._watches = [*(each for each in self._watches if not each.over), watch]
        for fault in self.known:
            watch.look(fault)
        return watch.end

    def _look(self) -> None:
        self.standing = not all(fault.is_over for fault in self.known)

    def not_exercised(self) -> list[str]:
        return [
            f"{fault.entry.name}: no request that it was for came ({fault.filter.api})"
            for fault in self.known
            if not fault.fired and not fault.entry.optional
        ]
