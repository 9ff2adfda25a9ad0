"""Facts about answers to administrators."""

from typing import NamedTuple

from emulator.protocol.types import TopicPartition


class Misanswered(NamedTuple):
    """A part of an answer to an administrator that is not so.

    Attributes:
        api: the request.
        of: what the part is about: a topic, a group, a setting ...; "": the partition, or the whole answer.
        said: what the broker says, in words.
        right: what is so, in words.
    """

    broker: int
    api: str
    of: str
    said: str
    right: str

    def in_words(self, tp: TopicPartition | None) -> str:
        about = " of ".join(part for part in (self.of, "" if tp is None else str(tp)) if part)
        of = f" for {about}" if about else ""
        return f"broker {self.broker} answers {self.api}{of}: {self.said}; right is: {self.right}"


class LogElsewhere(NamedTuple):
    """A replica that is not in the log directory to which its broker has said that it moves it."""

    broker: int
    promised: str
    directory: str

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}: broker {self.broker} has the log in {self.directory}, not in {self.promised} as it has said"
