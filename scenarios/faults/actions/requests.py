"""Requests of real clients of a served cluster: answered with an error, dropped, delayed, never answered."""

from __future__ import annotations

from attrs import field, frozen

from emulator.protocol.errors import Errors
from scenarios.errors import BadInput, did_you_mean
from scenarios.faults.performer import ActionContext, PerformedAction
from scenarios.faults.request_faults import (
    ANY_API,
    WITHOUT_ONE_ERROR,
    RequestEffect,
    RequestFault,
    RequestFaults,
    RequestFilter,
    api_names,
)
from scenarios.language.actions import action
from scenarios.language.known_names import KnownNames
from scenarios.language.schema.kinds import BROKER_ID, DURATION, Boolean, Integer, Number, Text
from scenarios.language.schema.table_reader import key
from scenarios.language.topic_spec import PARTITION_NAME

ALIASES = {"NOT_LEADER_OR_FOLLOWER": Errors.NOT_LEADER_FOR_PARTITION}
"""Names that later releases have for an error."""


@action("request.clear", "end what request.fail, request.drop, request.delay and request.silence do")
@frozen(kw_only=True)
class RequestClear(PerformedAction):
    fault: str | None = field(default=None, metadata=key(Text(), "only the one of this name; absent = every one"))

    def perform(self, context: ActionContext) -> None:
        faults = context.performer.memory(RequestFaults)
        if context.undoes:
            faults.remove(lambda each: each.entry is context.entry)
        elif not faults.remove(lambda each: self.fault in (None, each.name)) and not context.in_rollbacks:
            context.refuse(f"there is none{f' called {self.fault!r}' if self.fault else ''}")

    @classmethod
    def end_all(cls, context: ActionContext) -> None:
        context.performer.memory(RequestFaults).end_all()


@frozen(kw_only=True)
class OnRequests(PerformedAction):
    """An action on requests of real clients; the keys say on which."""

    api: str = field(metadata=key(Text(), "the API, such as Produce; any: every one"))
    client: str | None = field(default=None, metadata=key(Text(), "only of the client with this client.id"))
    broker: int | None = field(default=None, metadata=key(BROKER_ID, "only to this broker"))
    partition: str | None = field(default=None, metadata=key(PARTITION_NAME, "only if it names this partition"))
    group: str | None = field(default=None, metadata=key(Text(), "only if it names this group"))
    occurrence: int = field(default=1, metadata=key(Integer(1), "the first of these requests that it hits"))
    count: int = field(default=1, metadata=key(Integer(0), "how many it hits; 0: all, until it is ended"))
    probability: float = field(default=1.0, metadata=key(Number(0, 1), "of hitting each of them"))
    fault: str | None = field(default=None, metadata=key(Text(), "a name, by which it is asked after and ended"))

    @property
    def named_fault(self) -> str | None:
        return self.fault

    @property
    def effect(self) -> RequestEffect:
        raise NotImplementedError

    def check(self, known: KnownNames) -> None:
        if self.partition is not None:
            known.partition(self.partition, "partition")
        self.check_operation(known)

    def check_operation(self, known: KnownNames) -> None:
        names = sorted(api_names().values())
        if self.api != ANY_API and self.api not in names:
            raise BadInput(f"no API of clients is called {self.api!r}; {did_you_mean(self.api, names)}", where="api")
        if self.broker is not None:
            known.broker(self.broker, "broker")

    def perform(self, context: ActionContext) -> None:
        faults = context.performer.memory(RequestFaults)
        name = self.fault or context.address
        if any(each.name == name for each in faults.known):
            context.refuse(f"there is a fault called {name!r} already; write another name")
            return
        wanted = RequestFilter(
            api=self.api, client=self.client, broker=self.broker, partition=self.partition, group=self.group
        )
        draws = context.stream("requests")
        faults.add(
            RequestFault(name, context.entry, wanted, self.effect, self.occurrence, self.count, self.probability, draws)
        )


def error_named(name: str) -> Errors:
    """The error of that name. Raises: BadInput."""
    found = ALIASES.get(name) or Errors.__members__.get(name)
    if not found:
        names = [each for each in Errors.__members__ if each != "NONE"]
        raise BadInput(f"no error is called {name!r}; {did_you_mean(name, [*names, *ALIASES])}", where="error")
    return found


@action("request.fail", "answer requests of real clients with an error", undo=RequestClear)
@frozen(kw_only=True)
class RequestFail(OnRequests):
    error: str = field(metadata=key(Text(), "the name of the error, such as NOT_ENOUGH_REPLICAS"))
    performed: bool = field(
        default=False, metadata=key(Boolean(), "whether the broker carries the request out, before it is answered so")
    )

    @property
    def effect(self) -> RequestEffect:
        return RequestEffect(kind="fail", performed=self.performed, error=error_named(self.error))

    def check_operation(self, known: KnownNames) -> None:
        super().check_operation(known)
        error_named(self.error)
        if self.api == ANY_API:
            raise BadInput("an error is the answer of one API; write which", where="api")
        if not self.performed and self.api in WITHOUT_ONE_ERROR:
            what = f"{self.api} has an error for each thing that was done; add performed = true"
            raise BadInput(what, where="performed")


@action("request.drop", "close the connection of real clients' requests instead of the answer", undo=RequestClear)
@frozen(kw_only=True)
class RequestDrop(OnRequests):
    performed: bool = field(default=True, metadata=key(Boolean(), "whether the broker carries the request out first"))

    @property
    def effect(self) -> RequestEffect:
        return RequestEffect(kind="drop", performed=self.performed)


@action("request.delay", "answer requests of real clients later, and what comes after them too", undo=RequestClear)
@frozen(kw_only=True)
class RequestDelay(OnRequests):
    latency_us: int = field(metadata=key(DURATION, "how much later", name="latency"))

    @property
    def effect(self) -> RequestEffect:
        return RequestEffect(kind="delay", latency_us=self.latency_us)


@action(
    "request.silence",
    "never answer requests of real clients, nor anything after them on their connections, which stay open",
    undo=RequestClear,
)
@frozen(kw_only=True)
class RequestSilence(OnRequests):
    performed: bool = field(default=False, metadata=key(Boolean(), "whether the broker carries the request out"))

    @property
    def effect(self) -> RequestEffect:
        return RequestEffect(kind="silence", performed=self.performed)
