"""Types that every request uses."""

from functools import cache, lru_cache
from typing import ClassVar, NamedTuple

from attrs import define, field, fields

NO_LEADER = -1
LEADER_DURING_DELETE = -2


def unified(topic: str) -> str:
    """The name of a topic in the names of metrics, where dots become underscores. Two topics whose names are then equal
    collide (org.apache.kafka.common.internals.Topic.unifyCollisionChars)."""
    return topic.replace(".", "_")


class TopicPartition(NamedTuple):
    """One partition of one topic; prints as Kafka writes it, ``orders-0``."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"

    @classmethod
    def of(cls, topic: str, partition: int) -> "TopicPartition":
        """The object for a partition, which is one object each time: a dictionary finds it by identity, without
        comparing topic and number."""
        known = _known(topic)
        found = known.get(partition)
        if found is None:
            found = known[partition] = cls(topic, partition)
        return found

    @classmethod
    def parse(cls, text: str) -> "TopicPartition":
        """The partition that a text names: ``"my-topic-3"`` is partition 3 of ``my-topic``. Raises: ValueError."""
        topic, dash, partition = text.rpartition("-")
        if not dash or not topic or not partition.isdigit():
            raise ValueError(f"{text!r} is not a partition; write TOPIC-NUMBER, as in orders-0")
        return cls(topic, int(partition))


@lru_cache(1024)
def _known(_topic: str) -> dict[int, TopicPartition]:
    return {}


@define(eq=False)
class Batch:
    """A record batch: the unit of every append. Immutable once appended; replicas share the object.

    Attributes:
        base_offset, next_offset: it holds the records ``[base_offset, next_offset)``.
        leader_epoch: the epoch of the leader that appended it.
        size: the size in bytes.
        id: unique in the run for each batch of a producer, so that two batches at the same offset can be distinguished.
            0 and below for the preloaded data of a topic.
        timestamp_us: the time of its latest record, by which segments roll and expire: that which its producer gave it
            (``StoredBatch``), or when its leader appended it, by the leader's clock.
        corrupt: its checksum does not match its content.
        sequenced: whether its producer is idempotent and numbers its records: a ``SequencedBatch``.
        transactional: it belongs to a transaction, or ends one.
        in_extent: it was read from an extent: an ``extents.ExtentBatch`` or ``extents.SequencedExtentBatch``.
    """

    base_offset: int
    next_offset: int
    leader_epoch: int
    size: int
    id: int
    timestamp_us: int = field(default=0, kw_only=True)
    corrupt: ClassVar[bool] = False
    sequenced: ClassVar[bool] = False
    transactional: ClassVar[bool] = False
    in_extent: ClassVar[bool] = False


@define(eq=False)
class SequencedBatch(Batch):
    """A batch of an idempotent producer (KIP-98), with its producer id and the number of its first record.

    Attributes:
        producer_epoch: emulated producers are always in epoch 0.
    """

    producer_id: int
    base_sequence: int
    producer_epoch: int = field(default=0, kw_only=True)
    sequenced: ClassVar[bool] = True

    @property
    def last_sequence(self) -> int:
        return self.base_sequence + self.next_offset - self.base_offset - 1


def corrupted(batch: Batch) -> Batch:
    """``batch`` as a disk fault leaves it: its checksum does not match its content any more. Who does not look at the
    checksum, as when a log is loaded (Log.loadProducersFromLog, 2.3.1), finds in it what was there before."""
    kind = next(each for each in type(batch).__mro__ if issubclass(each, Batch) and not each.in_extent)
    known = {each.alias: getattr(batch, each.name) for each in fields(kind)}
    return _corrupt(kind)(**known)  # type: ignore[arg-type]  # classes are hashable


@cache
def _corrupt(kind: type[Batch]) -> type[Batch]:
    """The class of the batches of ``kind`` whose checksum is wrong."""
    return type(f"Corrupt{kind.__name__}", (kind,), {"__slots__": (), "corrupt": True})
