"""A consumer that behaves as Kafka's (KafkaConsumer with assigned partitions, 2.3.1): it reads from the leaders,
returns messages with each poll, and follows changes of leaders."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from attrs import define, field

from emulator.network import Network
from emulator.nodes import Process
from emulator.protocol.events import PollReturned
from emulator.protocol.fetch import NO_EPOCH
from emulator.protocol.types import NO_LEADER, Batch, TopicPartition
from scenarios.cluster.clients.client_metadata import ClientMetadata
from scenarios.cluster.clients.consuming import NOWHERE, Consumption, Position
from scenarios.cluster.clients.fetcher import Fetcher


@define(eq=False)
class Consumer:
    """One consumer process, from its start on.

    Attributes:
        _arrived: the partitions that have messages for the application, in the order in which these came.
        _busy: the application is working on the last messages, and polls again when it is done.
    """

    _network: Network
    _process: Process
    _load: Consumption
    _bootstrap: tuple[int, ...]
    _begun: Mapping[TopicPartition, Position]
    _positions: dict[TopicPartition, Position] = field(init=False)
    _metadata: ClientMetadata = field(init=False)
    _readers: dict[int, Fetcher] = field(init=False, factory=dict)
    _arrived: dict[Position, None] = field(init=False, factory=dict)
    _busy: bool = field(init=False, default=False)
    _polled_us: int = field(init=False, default=-1)
    _held: bool = field(init=False, default=False)

    def __attrs_post_init__(self) -> None:
        process, load = self._process, self._load
        self._positions = {tp: self._begun.get(tp) or Position(tp) for tp in load.partitions}
        self._metadata = ClientMetadata(
            self._network, process, self._bootstrap, load.partitions, load.retry_backoff_us, load.request_timeout_us,
            self._learnt, load.knows_epochs,
        )  # fmt: skip
        process.call_later(max(0, load.start_us - process.world.now), lambda _: self._metadata.ask())
        if load.stop_us is not None:
            process.call_later(max(0, load.stop_us - process.world.now), self._stop)

    @classmethod
    async def main(
        cls, network: Network, load: Consumption, bootstrap: tuple[int, ...], start: Mapping[TopicPartition, Position],
        started: Callable[["Consumer"], object], process: Process,
    ) -> None:  # fmt: skip
        """The main function of the consumer's process: it begins at the load's start, in each partition at the position
        that ``start`` has, or where auto.offset.reset says. ``started`` gets it."""
        started(cls(network, process, load, bootstrap, start))

    def positions(self) -> Mapping[TopicPartition, Position]:
        """The position of the application: a consumer that continues after it begins there."""
        kept = [p for p in self._positions.values() if p.offset != NOWHERE and not p.failed]
        return {p.tp: Position(p.tp, p.offset, p.offset_epoch, reason="") for p in kept}

    # -- leaders ----------------------------------------------------------------------------------------------------

    def _learnt(self) -> None:
        checks = self._load.knows_epochs
        for tp, position in self._positions.items():
            state = self._metadata.partitions.get(tp)
            leader, epoch = (NO_LEADER, NO_EPOCH) if state is None else (state.leader, state.leader_epoch)
            position.lead_by(leader, epoch, checks=checks)
            if leader != NO_LEADER and leader not in self._readers:
                self._readers[leader] = Fetcher(
                    self._network, self._process, self._load, leader, self._positions, self._metadata.ask,
                    lambda: self._polling, self._on_arrival,
                )  # fmt: skip
        for reader in self._readers.values():
            reader.wake()

    # -- the application --------------------------------------------------------------------------------------------

    @property
    def _polling(self) -> bool:
        return not self._held and (not self._busy or self._polled_us == self._process.world.now)

    # -- time passes in which data is not simulated -------------------------------------------------------------------

    @property
    def load(self) -> Consumption:
        return self._load

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self._process.alive

    @property
    def rests(self) -> bool:
        """Whether nothing of it is in flight, and nothing waits for its application."""
        return not (self._arrived or any(reader.works for reader in self._readers.values()))

    def reads_on(self, committed: Callable[[TopicPartition], int | None]) -> bool:
        """Whether it reads all of its partitions, and has read what is ``committed`` there."""
        return all(
            position.fetchable and position.offset == committed(position.tp) for position in self._positions.values()
        )

    def hold(self) -> None:
        """Begin no fetch until ``release``."""
        self._held = True

    def release(self) -> None:
        """Go on reading."""
        self._held = False
        for reader in self._readers.values():
            reader.wake()

    def skip(self, tp: TopicPartition, batches: Sequence[Batch], high_watermark: int) -> None:
        """Let the application take all messages up to ``high_watermark`` at once: those of ``batches``. A poll returns
        them, however many they are."""
        position = self._positions.get(tp)
        if position is None or position.offset >= high_watermark:
            return
        before, position.source = position.offset, (position.leader, position.leader_epoch)
        position.high_watermark = high_watermark
        position.offset, position.offset_epoch = high_watermark, batches[-1].leader_epoch
        ids = tuple([batch.id for batch in batches])
        self._record([(tp, before, high_watermark, ids, *position.source, high_watermark)])

    def _on_arrival(self, positions: list[Position]) -> None:
        for position in positions:
            self._arrived[position] = None
        if not self._busy:
            self._poll()

    def _poll(self, _: Any = None) -> None:
        """Return one poll's messages to the application, which polls again when it is done with them."""
        left = most = self._load.max_poll_records
        arrived = self._arrived
        rows = []
        while arrived and left:
            position = next(iter(arrived))
            offset = position.offset
            count, ids = position.take(left)
            if count:
                left -= count
                rows.append((position.tp, offset, position.offset, ids, *position.source, position.high_watermark))
            if not position.fetched:
                del arrived[position]
        if rows:
            self._record(rows)
        self._busy = left < most
        if self._busy:
            self._polled_us = self._process.world.now
            self._process.call_later(self._load.poll_us, self._poll)
        for reader in self._readers.values():
            reader.wake()

    def _record(self, rows: list[tuple[Any, ...]]) -> None:
        process = self._process
        for topic, some in groupby(rows, key=lambda row: row[0].topic):
            tps, *columns = zip(*some, strict=True)
            partitions = tuple([tp.partition for tp in tps])
            process.emit_columns(PollReturned, len(tps), process.node.id, topic, partitions, *columns)

    def _stop(self, _: Any) -> None:
        """Close the consumer: it reads nothing more."""
        for position in self._positions.values():
            position.failed = True
            position.fetched.clear()
        self._arrived.clear()
