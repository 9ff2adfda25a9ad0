"""Facts about metadata: what brokers are sent, take over and know of partitions."""

from typing import NamedTuple

from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import ALL_BROKERS


class LeadershipFact(NamedTuple):
    """A leader with its leader epoch, as metadata or ZooKeeper has them."""

    leader: int
    leader_epoch: int

    def __str__(self) -> str:
        return f"leader {self.leader} of leader epoch {self.leader_epoch}"


def _known(known: LeadershipFact | None) -> str:
    return "nothing" if known is None else str(known)


class EpochTakenBack(NamedTuple):
    """Metadata that a controller sends after that of a later leader epoch."""

    controller: int
    sent: LeadershipFact
    before: LeadershipFact

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: controller {self.controller} tells the brokers {self.sent}, after {self.before.leader} of "
            f"{self.before.leader_epoch}"
        )


class SentAgain(NamedTuple):
    """A request for metadata that says nothing new."""

    controller: int
    broker: int
    live_brokers: tuple[int, ...]

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"controller {self.controller} sends broker {self.broker} no partition, and the live brokers "
            f"{list(self.live_brokers)} again"
        )


class NotSent(NamedTuple):
    """A leadership that a controller has not told the brokers in time; ``sent``: what it has; None: nothing."""

    leadership: LeadershipFact
    controller: int
    sent: LeadershipFact | None
    held_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: {self.leadership}, while controller {self.controller} has told the brokers {_known(self.sent)}, "
            f"for {self.held_us / 1e6:.1f} s"
        )


class RefusedAndTaken(NamedTuple):
    """Metadata that a broker refuses, and has taken over."""

    broker: int
    error: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker} refuses metadata ({self.error}), and has taken it over"


class LiveBrokersDiffer(NamedTuple):
    """The live brokers that a broker knows after a request that names others."""

    broker: int
    known: tuple[int, ...]
    sent: tuple[int, ...]

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker} takes {list(self.known)} for alive, after a request that names {list(self.sent)}"


class KnowsOtherThanSent(NamedTuple):
    """Metadata that a broker has of a partition after a request that says otherwise; None: none."""

    broker: int
    known: LeadershipFact | None
    sent: LeadershipFact | None

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}: broker {self.broker} knows {_known(self.known)}, and was sent {_known(self.sent)}"


class KnowsEarlierEpoch(NamedTuple):
    """Metadata that a broker has of a partition, after a later leader epoch."""

    broker: int
    known: LeadershipFact
    before: LeadershipFact

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}: broker {self.broker} knows {self.known}, after {self.before}"


class KnowsOtherThanZooKeeper(NamedTuple):
    """Metadata that a broker has of a partition (None: none), and the state in ZooKeeper."""

    broker: int
    known: LeadershipFact | None
    in_zookeeper: LeadershipFact

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"broker {self.broker}: {tp}: {_known(self.known)}, and in ZooKeeper {self.in_zookeeper}"


class ToldOtherThanKnown(NamedTuple):
    """An answer to Metadata that is not what its broker knows."""

    broker: int
    told: str
    known: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker} answers Metadata with {self.told}, and knows {self.known}"


class KnowsDeletedTopic(NamedTuple):
    """A topic that a broker knows though it is deleted."""

    broker: int
    topic: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker}: {self.topic} is known, and gone from ZooKeeper"


class AnsweredTooEarly(NamedTuple):
    """An answer of a controller that its own metadata contradicts.

    Attributes:
        asked: ``create`` or ``delete``.
        numbers: the partitions that have no leader there yet, or are still there.
    """

    broker: int
    asked: str
    topic: str
    numbers: tuple[int, ...]

    def in_words(self, _tp: TopicPartition | None) -> str:
        what = "are still" if self.asked == "delete" else "have no leader"
        return (
            f"controller {self.broker} answers without an error to a request to {self.asked} {self.topic}, whose "
            f"partitions {list(self.numbers)} {what} in its metadata"
        )


class NotWritten(NamedTuple):
    """A setting that a broker has answered to have, ``asked``, and that is otherwise in ZooKeeper. None: not there."""

    broker: int
    entity: str
    setting: str
    asked: str | None
    there: str | None

    def in_words(self, _tp: TopicPartition | None) -> str:
        whose = "all brokers" if self.entity == ALL_BROKERS else self.entity
        return (
            f"broker {self.broker} says that {self.setting} of {whose} is {self.asked or 'deleted'}; "
            f"in ZooKeeper it is {self.there or 'not there'}"
        )
