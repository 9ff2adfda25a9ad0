"""Facts about answers of brokers that are not those to what was asked, or not what the broker has."""

from typing import NamedTuple

from emulator.protocol.types import TopicPartition


class RowsUnlike(NamedTuple):
    """An answer that lacks partitions of its request, or has others, or one twice, or has them in another order."""

    broker: int
    api: str
    asked: tuple[TopicPartition, ...]
    answered: tuple[TopicPartition, ...]

    def in_words(self, _tp: TopicPartition | None) -> str:
        asked, answered = (", ".join(map(str, tps)) or "nothing" for tps in (self.asked, self.answered))
        return f"broker {self.broker}, asked by {self.api} about {asked}, answers for {answered}"


class AnsweredOther(NamedTuple):
    """A value in an answer, and what it should be by the log and the role of the broker."""

    broker: int
    api: str
    what: str
    answered: str
    fits: str

    def in_words(self, tp: TopicPartition | None) -> str:
        about = "" if tp is None else f"{tp}: "
        return (
            f"{about}broker {self.broker} answers {self.api} with the {self.what} {self.answered}, which should be "
            f"{self.fits}"
        )


class ErrorUnlike(NamedTuple):
    """The error of an answer that does not fit the role of its broker. ``leads``: it leads the partition;
    ``leader_epoch``: the leader epoch that it knows, ``asked_epoch`` the one that it was asked under; -1: none."""

    broker: int
    api: str
    error: str
    leads: bool
    leader_epoch: int
    asked_epoch: int

    def in_words(self, tp: TopicPartition | None) -> str:
        leads = "leads" if self.leads else "does not lead"
        under = f"under epoch {self.asked_epoch}" if self.asked_epoch >= 0 else "under no epoch"
        return (
            f"{tp}: broker {self.broker} answers {self.api} with {self.error}, asked {under}, and {leads} in epoch "
            f"{self.leader_epoch}"
        )
