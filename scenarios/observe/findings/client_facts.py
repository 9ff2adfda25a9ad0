"""Facts about clients: what they are answered, given and acknowledged."""

from typing import NamedTuple

from emulator.protocol.types import TopicPartition


class AckedByFew(NamedTuple):
    """A batch with acks=all that was acknowledged with fewer in-sync replicas than are wanted."""

    leader: int
    batch: int
    in_sync: int
    least: int
    since_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.leader} acknowledged batch {self.batch} with {self.in_sync} in-sync replica, of "
            f"{self.least}, since {self.since_us / 1e6:.3f} s"
        )


class AckWaits(NamedTuple):
    """A batch up to ``required`` whose time ended though it could have been acknowledged."""

    required: int
    acks: int
    leader: int
    high_watermark: int
    isr: tuple[int, ...]

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: a batch up to {self.required} waits for acks={self.acks} until its time is over, and leader "
            f"{self.leader} has the high watermark {self.high_watermark} and the ISR {list(self.isr)}"
        )


class TimedOutEarly(NamedTuple):
    """A request of a client that its leader has reported as timed out before its time."""

    leader: int
    client: int
    waited_us: int
    timeout_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"broker {self.leader} tells client {self.client} after {self.waited_us / 1e6:.3f} s that its request has "
            f"timed out, which has {self.timeout_us / 1e6:g} s"
        )


class RefusedInVain(NamedTuple):
    """A batch that its leader refused with ``error``, though it leads and has the ISR ``isr``."""

    leader: int
    error: str
    isr: tuple[int, ...]
    least: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.leader} refuses a batch ({self.error}), and leads with the ISR {list(self.isr)}; "
            f"{self.least} in sync are enough"
        )


class FollowerRefuses(NamedTuple):
    """A batch that a follower refused with an error that leaders alone have."""

    broker: int
    error: str

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}: broker {self.broker} refuses a batch ({self.error}), and does not lead"


class ReadRefusedInVain(NamedTuple):
    """A fetch that the leader of a partition refused with ``error``. ``reader``: the follower's broker, or -1."""

    leader: int
    error: str
    reader: int

    def in_words(self, tp: TopicPartition | None) -> str:
        who = f"broker {self.reader}" if self.reader >= 0 else "a consumer"
        return f"{tp}: broker {self.leader} refuses a fetch of {who} ({self.error}), and leads"


class AnsweredLate(NamedTuple):
    """A request of a client, by the name of its API, that a broker has answered after its time."""

    broker: int
    api: str
    client: int
    held_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"broker {self.broker} answers a {self.api} of machine {self.client} after {self.held_us / 1e6:g} s, with "
            "nothing to wait for"
        )


class NeverAnswered(NamedTuple):
    """A request of a client, by the name of its API, that a broker has not answered in its time; or so many ``times``,
    one after the other."""

    broker: int
    api: str
    client: int
    held_us: int
    times: int = 1

    def in_words(self, _tp: TopicPartition | None) -> str:
        if self.times > 1:
            return (
                f"broker {self.broker} has had {self.times} requests of machine {self.client} ({self.api}) for "
                f"{self.held_us / 1e6:g} s altogether, one after the other, and has answered none"
            )
        return (
            f"broker {self.broker} has a {self.api} of machine {self.client} for {self.held_us / 1e6:g} s, and does "
            "not answer it"
        )


class AckAbandoned(NamedTuple):
    """A batch up to ``required`` that waits at a broker which follows now."""

    required: int
    acks: int
    broker: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: a batch up to {self.required} waits for acks={self.acks} until its time is over at broker "
            f"{self.broker}, which follows now"
        )


class ProducersForgotten(NamedTuple):
    """A replica that a StopReplica has ended, with batches that wait there for an answer."""

    broker: int
    waiting: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}: {self.waiting} batches wait at broker {self.broker}, whose replica was stopped, for no answer"


class LatestTooEarly(NamedTuple):
    """A latest offset from before the start of the leader's epoch."""

    leader: int
    leader_epoch: int
    epoch_start: int
    offset: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.leader}, leader of epoch {self.leader_epoch}, which began at {self.epoch_start}, says "
            f"that the latest offset is {self.offset}"
        )


class PollElsewhere(NamedTuple):
    """Records from another offset than the client's position; None: it had none."""

    client: int
    offset: int
    position: int | None

    def in_words(self, tp: TopicPartition | None) -> str:
        position = "no position" if self.position is None else self.position
        return f"client {self.client} is given {tp} from offset {self.offset} on, and was at {position}"


class ResetInVain(NamedTuple):
    """A position at which a leader's log goes on, and which its client has to give up. ``reason``: as in
    ``PositionReset``."""

    client: int
    position: int
    reason: str
    leader: int
    start: int
    end: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"client {self.client} gives up its position {self.position} in {tp} ({self.reason}), and the log of "
            f"leader {self.leader} goes from {self.start} to {self.end}"
        )


class ReadUncommitted(NamedTuple):
    """Records that were given before they were committed. ``received``: the high watermark that came with them;
    ``highest``: of any leader."""

    client: int
    next_offset: int
    leader: int
    received: int
    highest: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"client {self.client} is given {tp} up to offset {self.next_offset} by broker {self.leader}; it received "
            f"the high watermark {self.received}, and the highest of any leader is {self.highest}"
        )


class ReadDiffers(NamedTuple):
    """A batch that was read where another one is committed."""

    client: int
    batch: int
    leader: int
    leader_epoch: int
    offset: int
    committed_batch: int
    committed_epoch: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"client {self.client} has read batch {self.batch} of {tp} from broker {self.leader} (epoch "
            f"{self.leader_epoch}) at offset {self.offset}, where batch {self.committed_batch} of epoch "
            f"{self.committed_epoch} is committed"
        )


UNDECIDED = "is open"
NOT_REPLICATED = "has a marker that is not replicated yet"
NOT_SAID = "was aborted, and the answer does not say so"
SAID_ABORTED = "was committed, and the answer says that it was aborted"


class ReadUndecided(NamedTuple):
    """A batch of a transaction that a reader of committed records should not get, or not so.

    Attributes:
        why: the state of its transaction, in words.
    """

    client: int
    offset: int
    producer_id: int
    leader: int
    why: str

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"client {self.client} is sent the batch at {self.offset} of {tp}, of producer {self.producer_id}, by "
            f"broker {self.leader}: its transaction {self.why}"
        )


class ReadBeyondStable(NamedTuple):
    """An answer to a reader of committed records that ends beyond the last stable offset in it."""

    client: int
    next_offset: int
    leader: int
    last_stable_offset: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"client {self.client} is sent records of {tp} up to {self.next_offset} by broker {self.leader}, whose "
            f"last stable offset is {self.last_stable_offset}"
        )


class ProducerHungUp(NamedTuple):
    """A connection that is closed though the producer's batches were appended."""

    broker: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker} closes the connection of a producer whose batches it has appended"


class ProducerRefused(NamedTuple):
    """A batch that a leader has refused for its producer epoch. ``latest``: the highest that any leader has had."""

    broker: int
    producer_id: int
    epoch: int
    latest: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: leader {self.broker} refuses producer {self.producer_id} in epoch {self.epoch}, and no leader has "
            f"had a later epoch than {self.latest}"
        )
