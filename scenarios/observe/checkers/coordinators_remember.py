"""G1: a coordinator remembers what its log says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from brokers.groups.config import GROUP_METADATA_TOPIC
from emulator.protocol.events import TransactionMarked
from emulator.protocol.shown import Remembered
from emulator.protocol.shown_coordination import (
    CoordinatorAppends,
    CoordinatorWrote,
    GroupsRead,
    MarkerAppends,
    TransactionsRead,
)
from emulator.protocol.transactions.markers import WriteTxnMarkersRequest
from emulator.protocol.types import TopicPartition
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.checkers.broker_memory import BrokerMemory, Unlike
from scenarios.observe.findings.coordinated_facts import ReadAmiss, differences
from scenarios.observe.history.replica_logs import BASE_OFFSET, ID, NEXT_OFFSET

WAITS = "being written"
"""The words of a memory for a write that has no outcome."""
AND, OPEN = ", and ", " in a transaction of "
"""The words of a memory for an offset of a transaction that has not ended."""
ENDS = {"PrepareCommit": "CompleteCommit", "PrepareAbort": "CompleteAbort"}
"""The end that a decided transaction has in the log while that is being written: its memory has no words for it."""
WRITES_US = 15_000_000
"""How long a write may take: more than offsets.commit.timeout.ms. The timeout of a transaction's is its own."""


class CoordinatorsRemember(BrokerMemory):
    """A coordinator of groups or of transactions works with what the next one will find in the log: committed offsets,
    the generation and the members of a stable group, and of each transactional id its producer, its state and the
    partitions of an open transaction. No write waits for ever.

    Verified: when the cluster is at rest, and before (``BrokerMemory.looks_meanwhile``), on each broker that the
        controller has reached for long enough, for all that it coordinates, against its logs of __consumer_offsets and
        __transaction_state, read to their ends. Each time that a coordinator has read such a log: all fields of all
        groups, offsets and transactional ids, against the records and markers that coordinators and leaders have
        appended, as far as the log has them.

    A write that has failed as far as its coordinator knows may be in the log all the same, and counts for the next one
    (GroupMetadataManager.storeOffsets, TransactionStateManager.appendTransactionToLog, 2.3): it is not compared until
    the coordinator writes that again, in a transaction until that has its marker of COMMIT.

    The generation of a group without members need not be in the log (GroupCoordinator.onCompleteJoin, 2.3), nor the
    last producer epoch of a fenced producer. Before KAFKA-10284 (2.7) a static member that came back had a member id
    that was not in the log: there members are not compared.

    The offsets of a transaction count for its coordinator once all in-sync replicas have the marker, which is in the
    log before (KafkaApis.handleWriteTxnMarkersRequest, 0.11 to 3.9).

    Not verified: groups that rebalance, and times, before another coordinator reads them.
    """

    ids = ("G1",)
    looks_meanwhile = True
    statement = (
        "at rest memory = read(__consumer_offsets, __transaction_state): a coordinator remembers what its log says"
    )
    catches = ("KAFKA-5351", "KAFKA-10284")
    fails_when = "a commit counts that is not written"

    def begin(self) -> None:
        super().begin()
        self._failed: dict[str, None] = {}
        """The records that may be in the log after a write that has failed, and no later one."""
        self._opened: dict[tuple[int, int], dict[str, None]] = {}
        """By broker and producer id, what was written in a transaction that has no marker yet."""
        self._waiting: dict[tuple[str, int, str], int] = {}
        """The writes without an outcome, each with the time at which it was first seen."""
        self._logs = self.history.logs
        self._records: dict[int, Any] = {}
        """By batch id, what coordinators have appended."""
        self._markers: dict[int, tuple[int, bool]] = {}
        """By batch id, the producer of a marker, and whether it says COMMIT."""
        self._committed = False
        self._lag_us = self.start.time_us("replica.lag.time.max.ms", 10_000) * 3 // 2
        """How long a marker may wait for a replica until that leaves the ISR."""
        self._under_way: dict[tuple[int, int], None] = {}
        """By broker and producer id, the markers in __consumer_offsets whose request has no answer yet."""
        self.history.answers.of(self._marked, WriteTxnMarkersRequest)

    def on_appends(self, event: CoordinatorAppends) -> None:
        self._records[event.records.id] = event.records

    def on_marked(self, event: TransactionMarked) -> None:
        self._committed = event.committed

    def on_marker(self, event: MarkerAppends) -> None:
        self._markers[event.id] = event.producer_id, self._committed
        if event.tp.topic == GROUP_METADATA_TOPIC:
            self._under_way[event.node, event.producer_id] = None
            for of in self._opened.pop((event.node, event.producer_id), ()):
                if self._committed:
                    self._failed.pop(of, None)

    def _marked(self, event: RequestAnswered) -> None:
        for marker in event.request.markers:
            self._under_way.pop((event.node, marker.producer_id), None)

    def _is_ending(self, node: int, has: str, should: str) -> bool:
        """Whether a memory differs from the log by a marker that is not on all in-sync replicas yet."""
        committed, *opened = has.split(AND)
        for place, each in enumerate(opened):
            offset, found, producer_id = each.partition(OPEN)
            ended = [AND.join((value, *opened[:place], *opened[place + 1 :])) for value in (offset, committed)]
            if found and (node, int(producer_id)) in self._under_way and should in ended:
                return True
        return False

    def _in_log(self, node: int, home: TopicPartition) -> list[tuple[int, Any]] | None:
        """The records and markers in a log, each with its offset; None: not all are known."""
        log, found = self._logs.get(node, home), []
        if log is None or not log.known:
            return None
        for entry in log.entries[1:]:
            if entry[NEXT_OFFSET] <= log.start_offset:
                continue
            known = self._records.get(entry[ID], self._markers.get(entry[ID]))
            if known is None:
                return None
            found.append((entry[BASE_OFFSET], known))
        return found

    def on_groups_read(self, event: GroupsRead) -> None:
        batches = self._in_log(event.node, event.home)
        if batches is not None:
            groups, offsets, opened = _groups_in(batches)
            self._compare(event, "group", event.groups, groups)
            self._compare(event, "the offset of", event.offsets, offsets)
            self._compare(event, "the offset in a transaction of", event.opened, opened)

    def on_ids_read(self, event: TransactionsRead) -> None:
        batches = self._in_log(event.node, event.home)
        if batches is not None:
            records = [each for _, each in batches if not isinstance(each, tuple)]  # a client may ask for markers here
            last = {each.transactional_id: each.value for each in records}
            wanted = {id: _stored(value) for id, value in last.items() if value is not None}
            self._compare(event, "transactional id", {id: _stored(value) for id, value in event.ids.items()}, wanted)

    def _compare(
        self, event: GroupsRead | TransactionsRead, of: str, said: Mapping[Any, Any], wanted: Mapping[Any, Any]
    ) -> None:
        if said == wanted:
            return
        for key in dict.fromkeys((*said, *wanted)):
            if said.get(key) != wanted.get(key):
                name = key if isinstance(key, str) else " ".join(map(str, key))
                for part in differences(said.get(key), wanted.get(key)):
                    self.violated(event, ReadAmiss(event.node, f"{of} {name}", *part), event.home, (event.node,))

    def on_wrote(self, event: CoordinatorWrote) -> None:
        for of in event.of:
            if event.failed:
                self._failed[of] = None
            elif event.producer_id >= 0:
                self._opened.setdefault((event.node, event.producer_id), {})[of] = None
            else:
                self._failed.pop(of, None)
        for waiting in [waiting for waiting in self._waiting if waiting[0] in event.of]:
            del self._waiting[waiting]

    def unlike(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        for kept, loaded in memories["coordinated"].values():
            for of in dict.fromkeys((*kept, *loaded)):
                has, should = kept.get(of, "nothing"), loaded.get(of, "nothing")
                if has == should:
                    continue
                is_ending = self._is_ending(event.node, has, should)
                if WAITS in has or _ends(has) == should or is_ending:
                    since_us = self._waiting.setdefault((of, event.node, has), event.t_us)
                    is_wrong = event.t_us - since_us > WRITES_US + is_ending * self._lag_us
                else:
                    is_wrong = of not in self._failed
                if is_wrong:
                    yield Unlike("coordinated", of, has, should)


def _ends(has: str) -> str:
    """A decided transaction once it has ended."""
    return next((has.replace(decided, end) for decided, end in ENDS.items() if decided in has), "")


def _stored(value: Any) -> Any:
    """A transactional id without what no record has."""
    return value._replace(last_producer_id=-1, last_producer_epoch=-1, partitions=frozenset(value.partitions))


def _groups_in(batches: Iterable[tuple[int, Any]]) -> tuple[dict[str, Any], dict[Any, Any], dict[Any, Any]]:
    """The states of groups, the committed offsets, and those of open transactions, in a log of __consumer_offsets."""
    groups: dict[str, Any] = {}
    offsets: dict[Any, tuple[int, Any]] = {}
    opened: dict[Any, tuple[int, Any]] = {}
    for at, batch in batches:
        if isinstance(batch, tuple):
            producer_id, committed = batch
            for key in [key for key in opened if key[0] == producer_id]:
                ended, before = opened.pop(key), offsets.get(key[1:])
                if committed and (before is None or before[0] < ended[0]):
                    offsets[key[1:]] = ended
            continue
        producer_id = getattr(batch, "producer_id", None)
        for of, value in batch.entries:
            if not hasattr(of, "tp"):
                _put(groups, of.group, value)
            elif producer_id is None:
                _put(offsets, (of.group, of.tp), None if value is None else (at, value))
            else:
                _put(opened, (producer_id, of.group, of.tp), None if value is None else (at, value))
    first = {key: value for key, (_, value) in offsets.items()}, {key: value for key, (_, value) in opened.items()}
    return groups, *first


def _put(table: dict[Any, Any], key: Any, value: Any) -> None:
    """Keep the value of a record, or what a tombstone leaves."""
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value
