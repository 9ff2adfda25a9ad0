"""At a message, or at a write to ZooKeeper: `when = { message = "LeaderAndIsr", to = 3 }`."""

from __future__ import annotations

from attrs import field, frozen

from emulator.protocol.api import apis, names_partitions
from scenarios.errors import BadInput
from scenarios.language.messages import MESSAGE_NAME, SESSION_EVENTS, WRITES, ZNODE_PATH
from scenarios.language.schema.kinds import DURATION, Boolean, Choice, Integer, Kind, Named, Schema
from scenarios.language.schema.reader import Block, key
from scenarios.language.targets import TARGET, Target
from scenarios.language.topics import PARTITION_NAME, TOPIC_NAME
from scenarios.language.when import STEP_WHEN, When

Since = int | When
"""From when on a trigger counts: a virtual time in microseconds, or a step."""


class SinceKind(Kind[Since]):
    """A virtual time, or a step with its filters."""

    def read(self, value: object) -> Since:
        return DURATION.read(value) if isinstance(value, str) else STEP_WHEN.read(value)

    def dump(self, value: Since) -> object:
        return STEP_WHEN.kind.dump(value) if isinstance(value, When) else DURATION.dump(value)

    def schema(self) -> Schema:
        return {"anyOf": [DURATION.schema(), STEP_WHEN.schema()]}


SINCE = key(SinceKind(), "count from this virtual time or step on; absent = from the start")
OCCURRENCE = key(Integer(1), "the how manieth time; requests are sent again when a connection is lost")


@frozen(kw_only=True)
class WhenMessage:
    """At a message between two machines, as it is sent, as it is delivered, or as its answer is."""

    message: str = field(metadata=key(MESSAGE_NAME, "the API"))
    response: bool = field(default=False, metadata=key(Boolean(), "the answer itself, in place of the request"))
    edge: str = field(
        default="sent",
        metadata=key(
            Choice(("sent", "delivered", "answered"), "edge"),
            "as it is sent; as it reaches the other end, before it is looked at; as its answer reaches its sender",
        ),
    )
    source: Target | None = field(default=None, metadata=key(TARGET, "only from these brokers", name="from"))
    target: Target | None = field(default=None, metadata=key(TARGET, "only to these brokers", name="to"))
    partition: str | None = field(
        default=None, metadata=key(PARTITION_NAME, "only if the message names this partition")
    )
    topic: str | None = field(default=None, metadata=key(TOPIC_NAME, "only if it names a partition of this topic"))
    occurrence: int = field(default=1, metadata=OCCURRENCE)
    since: Since | None = field(default=None, metadata=SINCE)

    def __attrs_post_init__(self) -> None:
        if self.response and self.edge == "answered":
            raise BadInput('an answer is not answered; write edge = "delivered"', where="edge")
        api = apis()[self.message]
        if not names_partitions(api.response if self.response else api.request):
            what = "the answer to " if self.response else ""
            for name in ("partition", "topic"):
                if getattr(self, name) is not None:
                    raise BadInput(f"{what}{self.message} names no partitions; leave {name!r} out", where=name)

    @property
    def name(self) -> str:
        return self.message

    @property
    def stoppable(self) -> bool:
        """Whether there is a message that can be held, delayed or lost."""
        return True


@frozen(kw_only=True)
class WhenZk:
    """At a write to ZooKeeper, before or after it is done, or at a turn of a session."""

    zk: str = field(metadata=key(Choice((*WRITES, *SESSION_EVENTS), "write"), "the write, or the session's turn"))
    path: str | None = field(
        default=None, metadata=key(ZNODE_PATH, "only this znode; `*` stands for any one segment")
    )
    edge: str = field(
        default="applied",
        metadata=key(
            Choice(("before", "applied", "answered"), "edge"),
            "as the request reaches ZooKeeper; as it has taken effect, before its answer; as the answer arrives",
        ),
    )
    source: Target | None = field(default=None, metadata=key(TARGET, "only from these brokers", name="from"))
    occurrence: int = field(default=1, metadata=OCCURRENCE)
    since: Since | None = field(default=None, metadata=SINCE)

    def __attrs_post_init__(self) -> None:
        if self.stoppable:
            return
        if self.path is not None:
            raise BadInput("a session has no path; leave it out", where="path")
        if self.edge != "applied":
            raise BadInput("a session's turn has one edge, applied; leave 'edge' out", where="edge")

    @property
    def name(self) -> str:
        return self.zk

    @property
    def stoppable(self) -> bool:
        """Whether there is a request or an answer that can be held, delayed or lost."""
        return self.zk in WRITES


MESSAGE_WHEN: Named[WhenMessage] = Named("when_message", Block(WhenMessage))
ZK_WHEN: Named[WhenZk] = Named("when_zk", Block(WhenZk))
