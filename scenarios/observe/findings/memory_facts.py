"""Facts about memories: what a process remembers, against what a fresh one would read."""

from typing import NamedTuple

from emulator.protocol.types import TopicPartition


def _about(tp: TopicPartition | None) -> str:
    return "" if tp is None else f"{tp}: "


class ControllerRemembers(NamedTuple):
    """A part of a controller's memory, by the name of its declaration, that a new one would read otherwise.

    Attributes:
        of: whose it is, beside the partition: a topic or a broker; "": nothing else's.
        kept, wanted: what it remembers and what is there, in words.
        failover: found as it has taken over; otherwise at rest, or for some time while there is work to do.
    """

    controller: int
    memory: str
    of: str
    kept: str
    wanted: str
    failover: bool

    def in_words(self, tp: TopicPartition | None) -> str:
        when = " after its failover" if self.failover else ""
        of = f" of {self.of}" if self.of else ""
        return (
            f"{_about(tp)}controller {self.controller} remembers{when} as {self.memory}{of}: {self.kept}; a new one "
            f"reads {self.wanted}"
        )


class ResignedKeeps(NamedTuple):
    """A part of the memory that a broker still has, and is not the controller any more.

    Attributes:
        left: how much of it is left: a number of entries, or 1.
        resigns: found in the step in which it resigns; otherwise at rest.
    """

    broker: int
    memory: str
    left: int
    resigns: bool

    def in_words(self, _tp: TopicPartition | None) -> str:
        when = "when it resigns" if self.resigns else "at rest, where another one is the controller"
        return f"broker {self.broker} keeps {self.memory} ({self.left}) {when}"


class BrokerRemembers(NamedTuple):
    """A part of a broker's memory, by the name of its declaration, that a fresh process would have otherwise.

    Attributes:
        of: whose it is, beside the partition: a topic; "": nothing else's.
        kept, wanted: what it remembers and what is there, in words.
        offline: the brokers whose replicas its metadata calls offline, and are not.
    """

    broker: int
    memory: str
    of: str
    kept: str
    wanted: str
    offline: tuple[int, ...] = ()

    def in_words(self, tp: TopicPartition | None) -> str:
        of = f" of {self.of}" if self.of else ""
        wrong = f"; wrongly offline: {list(self.offline)}" if self.offline else ""
        return (
            f"{_about(tp)}broker {self.broker} remembers as {self.memory}{of}: {self.kept}; a fresh process has "
            f"{self.wanted}{wrong}"
        )


class LeftUntaken(NamedTuple):
    """An announcement to the controller that it has not taken."""

    path: str
    lasted_us: int
    controller: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"{self.path} is there for {self.lasted_us / 1e6:g} s, and controller {self.controller} works"


class DeletedUnread(NamedTuple):
    """An announcement that a controller deletes, and of which it has sent nothing: of an ISR to all brokers, or of a
    log directory to ``announced_by``."""

    path: str
    controller: int
    announced_by: int

    def in_words(self, tp: TopicPartition | None) -> str:
        if tp is None:
            sent = f"has sent broker {self.announced_by}, which lost a log directory, no LeaderAndIsr"
        else:
            sent = f"has sent no metadata of {tp}, of which broker {self.announced_by} says there that its ISR changed"
        return f"controller {self.controller} deletes {self.path}, and {sent}"


class NotAnnounced(NamedTuple):
    """A log directory that has failed, and of which its broker has not written to ZooKeeper."""

    broker: int
    directory: str
    lasted_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"broker {self.broker} lost {self.directory} {self.lasted_us / 1e6:.1f} s ago, and has announced nothing "
            "to the controller"
        )


class IsrUnannounced(NamedTuple):
    """An ISR that a leader has written, and of which it tells the controller nothing."""

    leader: int
    lasted_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: leader {self.leader} has written the ISR, and changed none for {self.lasted_us / 1e6:g} s, and "
            "does not announce it"
        )


class ChangeUntaken(NamedTuple):
    """A znode that has come or gone, and of which the controller takes no notice.

    Attributes:
        step: the step that it would begin.
    """

    path: str
    step: str
    lasted_us: int
    controller: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"{self.path} has changed {self.lasted_us / 1e6:.1f} s ago, and controller {self.controller}, which works, "
            f"has not begun {self.step}"
        )
