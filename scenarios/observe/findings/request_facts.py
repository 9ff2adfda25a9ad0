"""Facts about control requests and their answers: a field that is not what it should be."""

from __future__ import annotations

from typing import NamedTuple

from emulator.protocol.types import TopicPartition
from scenarios.observe.findings.control_facts import LeadershipState


class SentDead(NamedTuple):
    """An UpdateMetadata that names a broker among the live ones whose end its controller has begun to handle."""

    controller: int
    broker: int
    dead: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"controller {self.controller} sends broker {self.broker} that broker {self.dead} is alive, and has begun "
            "to handle its end"
        )


class SentUnknown(NamedTuple):
    """An UpdateMetadata that does not name a broker among the live ones to which its controller sends requests."""

    controller: int
    broker: int
    live: tuple[int, ...]

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"controller {self.controller} sends broker {self.broker} that {list(self.live)} are alive"


class SentOffline(NamedTuple):
    """Metadata of a partition that calls other replicas offline than those that do not live, in the same request."""

    controller: int
    replicas: tuple[int, ...]
    live: tuple[int, ...]
    offline: tuple[int, ...]

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: controller {self.controller} sends that of the replicas {list(self.replicas)} {list(self.offline)} "
            f"are offline, and that {list(self.live)} are alive"
        )


class SentOtherwise(NamedTuple):
    """A field of a control request that is not what it should be, ``wanted``, by what ZooKeeper has."""

    controller: int
    broker: int
    request: str
    field: str
    said: str
    wanted: str

    def in_words(self, tp: TopicPartition | None) -> str:
        of = "" if tp is None else f"{tp}: "
        return (
            f"{of}controller {self.controller} sends broker {self.broker} {self.request} with {self.field} "
            f"{self.said}; it is {self.wanted}"
        )


class SentMove(NamedTuple):
    """A LeaderAndIsr that names other adding and removing replicas than the topic's znode."""

    controller: int
    broker: int
    sent: tuple[tuple[int, ...], tuple[int, ...]]
    there: tuple[tuple[int, ...], tuple[int, ...]]

    def in_words(self, tp: TopicPartition | None) -> str:
        sent, there = ([list(part) for part in both] for both in (self.sent, self.there))
        return (
            f"{tp}: controller {self.controller} sends broker {self.broker} adding {sent[0]} and removing {sent[1]}; "
            f"the topic's znode has {there[0]} and {there[1]}"
        )


class SentUnwritten(NamedTuple):
    """A state that a controller sends, and that is not the one which was ``written`` under the version that it
    names."""

    controller: int
    broker: int
    version: int
    sent: LeadershipState
    written: LeadershipState

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: controller {self.controller} sends broker {self.broker} {self.sent}, as version {self.version}; "
            f"that was {self.written}"
        )


class AnswerIgnored(NamedTuple):
    """An answer to a deletion that has changed nothing at the controller."""

    controller: int
    broker: int
    held_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.broker} has answered {self.held_us / 1e6:g} s ago whether it has deleted its replica, "
            f"and controller {self.controller} still waits"
        )


class AnswerMistaken(NamedTuple):
    """A replica that counts as ``deleted``, or as one that cannot be deleted, though its broker has answered otherwise.

    Attributes:
        answered: the error of the answer; "": there is none.
    """

    controller: int
    broker: int
    deleted: bool
    answered: str

    def in_words(self, tp: TopicPartition | None) -> str:
        state = "deleted" if self.deleted else "not to be deleted now"
        return (
            f"{tp}: controller {self.controller} takes the replica on broker {self.broker} for {state}; that has "
            f"answered {self.answered or 'nothing'}"
        )
