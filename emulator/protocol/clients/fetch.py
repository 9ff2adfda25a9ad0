"""Fetch, as a real consumer sends it: with sessions that it may or may not want, and limits for each partition.

Version notes:

- v11 (2.3, KIP-392): the reader's rack. From 2.4 on a follower answers a reader that may name one
- v13 (3.1, KIP-516): topics by their ids. A broker that does not know an id has no name for its topic; so
  partitions are named ``by_id``
- v16 (3.7, KIP-951): the leader that a broker knows, with NOT_LEADER_FOR_PARTITION and FENCED_LEADER_EPOCH
"""

from collections.abc import Mapping
from typing import NamedTuple

from attrs import define, field

from emulator.protocol.api import variant
from emulator.protocol.clients.produce import KnownLeader
from emulator.protocol.fetch import FetchRequest, FetchResponse
from emulator.protocol.types import TopicPartition

NO_SESSION = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
"""The session epochs of a full request: INITIAL_EPOCH asks for a session, FINAL_EPOCH does not (FetchMetadata)."""
READ_UNCOMMITTED, READ_COMMITTED = 0, 1
"""Isolation levels. With READ_COMMITTED, a reader does not get records of a transaction which is open or was
aborted."""
DEBUGGING_CONSUMER = -2
"""The replica id of a reader that also reads from followers (kafka-replica-verification)."""
_ID = "id:"
"""The beginning of a name that no topic can have, since topics have no colons."""


def by_id(topic_id: str, partition: int) -> TopicPartition:
    """A partition of the topic that has this id, whatever its name."""
    return TopicPartition.of(f"{_ID}{topic_id}", partition)


def id_of(tp: TopicPartition) -> str:
    """The id of a partition's topic, where it is named by its id; else ""."""
    return tp.topic.removeprefix(_ID) if tp.topic.startswith(_ID) else ""


class PartitionData(NamedTuple):
    """The position and limits of a reader in one partition (FetchRequest.PartitionData).

    Attributes:
        tp: the partition, ``by_id`` in a request that names topics so.
        last_fetched_epoch: as in ``FetchPartition``.
        max_bytes: the most bytes of this partition in the answer.
    """

    tp: TopicPartition
    leader_epoch: int
    fetch_offset: int
    last_fetched_epoch: int
    max_bytes: int


@variant(FetchRequest)
@define(eq=False)
class ConsumerFetchRequest(FetchRequest):
    """A fetch of a real consumer. ``wanted`` says the same as ``positions`` does, and more.

    Attributes:
        names_ids: whether it names topics by their ids: ``wanted`` and ``forgotten`` are ``by_id``. ``positions`` has
            the names that Metadata has given to clients, for what watches the network.
        names_rack: whether it is of a version that names the reader's rack.
    """

    wanted: tuple[PartitionData, ...]
    isolation: int = READ_UNCOMMITTED
    names_ids: bool = False
    names_rack: bool = False


class Stability(NamedTuple):
    """The answer's facts about transactions in one partition, for readers of committed records.

    Attributes:
        last_stable_offset: no batch that is sent to such a reader reaches beyond it.
        aborted: the transactions that have records in the answer, and that the reader has to leave out: producer id and
            first offset of each.
    """

    last_stable_offset: int
    aborted: tuple[tuple[int, int], ...] = ()


@variant(FetchResponse)
@define(eq=False)
class ConsumerFetchResponse(FetchResponse):
    """The answer to a real consumer.

    Attributes:
        stability: the stability of the partitions in whose logs there are transactions; elsewhere all that is committed
            is stable.
        topic_ids: the id of each answer's topic; empty: the request names topics.
        leaders: the leaders of the partitions that this broker does not lead, or not under the reader's leader epoch.
    """

    stability: dict[TopicPartition, Stability] = field(factory=dict)
    topic_ids: tuple[str, ...] = ()
    leaders: Mapping[TopicPartition, KnownLeader] = field(factory=dict)
