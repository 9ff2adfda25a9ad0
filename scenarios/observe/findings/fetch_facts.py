"""Facts about fetchers: what they ask for, leave out, give up, and how they are throttled."""

from typing import NamedTuple

from emulator.protocol.types import TopicPartition

THREAD_FAILED, THREAD_IDLE = "all partitions of it have failed", "it follows that in no partition"


class ThreadDied(NamedTuple):
    """A fetcher's thread that has died; ``leader``: from which it fetched."""

    broker: int
    fetcher: str
    leader: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"{self.fetcher} of broker {self.broker}, which fetches from {self.leader}, has died"


class NotFetched(NamedTuple):
    """A follower that has not fetched for too long."""

    broker: int
    leader: int
    leader_epoch: int
    held_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.broker} follows broker {self.leader} in epoch {self.leader_epoch}, and has not "
            f"fetched from it for {self.held_us / 1e6:.1f} s"
        )


class EpochsAsked(NamedTuple):
    """Partitions, each with a leader epoch, of which a broker asks where it ends although its fetches name it."""

    broker: int
    leader: int
    asked: tuple[tuple[TopicPartition, int], ...]

    def in_words(self, _tp: TopicPartition | None) -> str:
        asked = ", ".join(f"{tp}, epoch {epoch}" for tp, epoch in self.asked)
        return f"broker {self.broker} asks broker {self.leader} where epochs end that its fetches name: {asked}"


class FetchMistaken(NamedTuple):
    """An answer to a fetch that has a partition which is not in the session, or, with ``error``, refuses it."""

    broker: int
    leader: int
    error: str | None

    def in_words(self, tp: TopicPartition | None) -> str:
        what = f"that refuses the session: {self.error}" if self.error else f"for {tp}, which is not in the session"
        return f"broker {self.broker} gets an answer from broker {self.leader} {what}"


class SessionRefused(NamedTuple):
    """A fetch session that is refused by another error than its leader's having it, or not, asks for."""

    broker: int
    session: int
    known: bool
    error: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"broker {self.broker} {'has' if self.known else 'does not have'} fetch session {self.session}, and "
            f"refuses it: {self.error}"
        )


class AnsweredBesides(NamedTuple):
    """An answer in a client's fetch session for a partition that the client does not read there."""

    client: int
    leader: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"broker {self.leader} answers for {tp} in a session of client {self.client}, which does not read it there"
        )


class LeftOutOfAnswers(NamedTuple):
    """A partition of a client's fetch session of which two answers say nothing, though there is more to read."""

    client: int
    leader: int
    offset: int
    high_watermark: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.leader} tells client {self.client}, which is at {self.offset}, nothing in two answers "
            f"of its session, with the high watermark {self.high_watermark} before"
        )


class SessionGone(NamedTuple):
    """A client's fetch session that is refused while it is used, ``held_us`` after it began."""

    client: int
    leader: int
    error: str
    held_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"broker {self.leader} refuses the fetch session of client {self.client}, {self.held_us / 1e6:.1f} s old "
            f"and in use: {self.error}"
        )


class RequestsNotCounted(NamedTuple):
    """A meter of requests that stays where it was though a request was lost."""

    broker: int
    fetcher: str
    requests: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker}: {self.fetcher} has lost a request, and its meter shows {self.requests} as before"


class AskedAgainEarly(NamedTuple):
    """A fetch that follows a lost one sooner than two back-offs take."""

    broker: int
    fetcher: str
    leader: int
    passed_us: int
    least_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"broker {self.broker}: {self.fetcher} asks broker {self.leader} again within {self.passed_us / 1e6:.3f} "
            f"s, and its two back-offs take {self.least_us / 1e6:.3f} s"
        )


class ThreadGoesOn(NamedTuple):
    """A thread that goes on fetching although it has no partition left. ``failed``: all have failed."""

    broker: int
    fetcher: str
    leader: int
    failed: bool

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"broker {self.broker}: {self.fetcher} goes on fetching from broker {self.leader}, and "
            f"{THREAD_FAILED if self.failed else THREAD_IDLE}"
        )


class FetchedLate(NamedTuple):
    """A fetch that was answered when its time was over, with records that had come before."""

    leader: int
    reader: int
    waited_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        who = "a consumer" if self.reader < 0 else f"broker {self.reader}"
        return (
            f"{tp}: leader {self.leader} lets a fetch of {who} wait for {self.waited_us / 1e6:g} s until its time is "
            "over, and has the records that it waits for"
        )


class OverQuota(NamedTuple):
    """Records that are sent although broker ``limited`` has been above its replication quota for long. ``side``: the
    quota limits it as leader or as follower."""

    follower: int
    leader: int
    limited: int
    side: str
    rate: int | None
    since_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.follower} gets records from broker {self.leader}, and broker {self.limited} as a "
            f"{self.side} has been above its {self.rate} bytes/s since {self.since_us / 1e6:.3f} s and before"
        )


class HeldInSync(NamedTuple):
    """A partition that a follower leaves out of its fetches although its log reaches its leader's high watermark."""

    follower: int
    end: int
    leader: int
    high_watermark: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.follower} leaves it out of its fetches, and has everything up to {self.end}: the high "
            f"watermark of broker {self.leader} is {self.high_watermark}"
        )


class HeldUnderQuota(NamedTuple):
    """A partition that a follower leaves out of its fetches although its quota allows it. ``rate`` None: no quota."""

    follower: int
    rate: int | None

    def in_words(self, tp: TopicPartition | None) -> str:
        why = "no quota limits it" if self.rate is None else f"is below its {self.rate} bytes/s"
        return f"{tp}: broker {self.follower} leaves it out of its fetches, and {why}"
