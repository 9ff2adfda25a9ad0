"""The part of a consumer that reads from one broker (Fetcher, 2.3.1): it looks offsets up, validates positions, and
fetches, one request at a time."""

from collections.abc import Callable, Iterable, Mapping

from attrs import define, field

from emulator.kernel import Mailbox
from emulator.network import Client, Disconnected, Network
from emulator.nodes import Process
from emulator.protocol.address import LISTENER
from emulator.protocol.errors import Errors
from emulator.protocol.events import ConsumerFailed, PositionReset
from emulator.protocol.fetch import CONSUMER, NO_EPOCH, FetchedFields, FetchPartition
from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH, EpochEndOffset, EpochQuery
from emulator.protocol.shown import PositionRefused
from emulator.protocol.types import TopicPartition
from fetchers.endpoints import RemoteLeaderEndPoint
from fetchers.policies import FetcherPolicies
from scenarios.cluster.clients.consuming import EARLIEST, NONE, Consumption, Position

KEEPS_METADATA = (Errors.UNKNOWN_LEADER_EPOCH,)
"""The broker does not know the epoch yet: wait for it, the metadata is newer than the broker."""


@define(eq=False)
class Fetcher:
    """Reads from ``broker`` those of ``positions`` that it leads according to the metadata.

    Attributes:
        stale: called when the metadata has to be requested again.
        polled: whether the application is in a poll: a consumer works only during polls.
        arrived: called with the partitions of which messages have arrived.
        works: whether it is in a round: something of it may be in flight.
    """

    network: Network
    process: Process
    load: Consumption
    broker: int
    positions: Mapping[TopicPartition, Position]
    stale: Callable[[], object]
    polled: Callable[[], bool]
    arrived: Callable[[list[Position]], object]
    works: bool = field(init=False, default=False)
    _leader: RemoteLeaderEndPoint = field(init=False)
    _bell: Mailbox = field(init=False)
    _wanted: dict[TopicPartition, tuple[int, int]] = field(factory=dict)
    """The session's position in each partition: offset and leader epoch."""

    def __attrs_post_init__(self) -> None:
        load, process = self.load, self.process
        self._bell = Mailbox(process.world, f"news for the reader of broker {self.broker}")
        self._leader = RemoteLeaderEndPoint(
            CONSUMER,
            Client(self.network, process, self.broker, LISTENER, load.request_timeout_us),
            FetcherPolicies(
                replica_fetch_wait_max_us=load.max_wait_us,
                replica_fetch_min_bytes=load.min_bytes,
                replica_fetch_max_bytes=load.max_partition_bytes,
                replica_fetch_response_max_bytes=load.max_bytes,
            ),
        )
        process.spawn(self._run, name=f"reader of broker {self.broker}")

    def wake(self) -> None:
        """Wake the reader: there may be something to do."""
        if not len(self._bell):
            self._bell.put(None)

    # -- the loop ---------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            self._bell.clear()
            try:
                self.works = True
                if not await self._round():
                    self.works = False
                    await self._bell.get()
            except Disconnected:
                self._leader.reset()
                self._rest(self._own())
                self.stale()

    async def _round(self) -> bool:
        """Do what can be done now. Returns whether there was anything."""
        if not self.polled():
            return False
        now = self.process.world.now
        due = [position for position in self._own() if position.rests_until_us <= now]
        unprepared = [position for position in due if position.reason or not position.valid]
        prepared = bool(unprepared) and await self._prepare(due)
        self._want([position for position in due if position.fetchable and position.leader == self.broker])
        if self._wanted:
            self._take(await self._leader.fetch())
        return prepared or bool(self._wanted)

    async def _prepare(self, due: list[Position]) -> bool:
        """Look up and validate the positions that need it. Returns whether there were any."""
        to_look_up = [position for position in due if position.looked_up]
        for position in to_look_up:
            await self._look_up(position)
        to_validate = [position for position in due if not (position.valid or position.looked_up or position.failed)]
        if to_validate:
            await self._validate(to_validate)
        return bool(to_look_up or to_validate)

    def _own(self) -> list[Position]:
        return [position for position in self.positions.values() if position.leader == self.broker]

    def _rest(self, positions: Iterable[Position]) -> None:
        backoff_us = self.load.retry_backoff_us
        for position in positions:
            position.rests_until_us = self.process.world.now + backoff_us
        self.process.call_later(backoff_us, lambda _: self.wake())

    def _epoch(self, position: Position) -> int:
        return position.leader_epoch if self.load.knows_epochs else NO_EPOCH

    # -- where to start ---------------------------------------------------------------------------------------------

    async def _look_up(self, position: Position) -> None:
        if self.load.offset_reset == NONE:
            self.fail(position, position.reason)
            return
        answer = await self._leader.offsets(position.tp, self._epoch(position))
        if position.leader != self.broker or not position.looked_up:
            return
        offset = answer.start if self.load.offset_reset == EARLIEST else answer.end
        if answer.error is not Errors.NONE or offset < 0:
            self._rest([position])
            self._refused(answer.error)
        else:
            self._reset(position, offset, position.reason)
            position.offset_epoch = NO_EPOCH

    def _reset(self, position: Position, offset: int, reason: str) -> None:
        tp, before = position.tp, position.offset
        position.move(offset)
        self.process.emit(PositionReset, self.process.node.id, tp.topic, tp.partition, before, offset, reason)

    def fail(self, position: Position, reason: str) -> None:
        """Report an error to the application, which would have to handle it, and does not here."""
        position.failed = True
        tp = position.tp
        self.process.emit(ConsumerFailed, self.process.node.id, tp.topic, tp.partition, position.offset, reason)

    def _refused(self, error: Errors) -> None:
        if error not in KEEPS_METADATA:
            self.stale()

    # -- validation (KIP-320) --------------------------------------------------------------------------------

    async def _validate(self, positions: list[Position]) -> None:
        """Ask where the epoch of the last message ends in the leader's log: before the position after a truncation."""
        asked = {position.tp: (position, position.offset, position.leader_epoch) for position in positions}
        queries = tuple(EpochQuery(p.tp, p.leader_epoch, p.offset_epoch) for p in positions)
        for answer in await self._leader.epoch_ends(queries):
            position, offset, epoch = asked[answer.tp]
            if (position.offset, position.leader, position.leader_epoch) == (offset, self.broker, epoch):
                self._validated(position, answer)

    def _validated(self, position: Position, answer: EpochEndOffset) -> None:
        if answer.error is not Errors.NONE:
            self._rest([position])
            self._refused(answer.error)
        elif answer.leader_epoch != UNDEFINED_EPOCH and answer.end_offset >= position.offset:
            position.valid = True
        elif self.load.offset_reset == NONE:
            self.fail(position, "truncated")
        elif answer.leader_epoch == UNDEFINED_EPOCH:
            position.reason = "truncated"  # it is not known up to where the logs agree
        else:
            self._reset(position, answer.end_offset, "truncated")
            position.offset_epoch = answer.leader_epoch

    # -- fetches ----------------------------------------------------------------------------------------------------

    def _want(self, positions: list[Position]) -> None:
        if self.load.knows_epochs:
            wanted = {position.tp: (position.offset, position.leader_epoch) for position in positions}
        else:
            wanted = {position.tp: (position.offset, NO_EPOCH) for position in positions}
        before, self._wanted = self._wanted, wanted
        for tp in before:
            if tp not in wanted:
                self._leader.forget(tp)
        for tp, place in wanted.items():
            if before.get(tp) != place:
                offset, epoch = place
                self._leader.want(FetchPartition(tp, epoch, offset, -1))

    def _take(self, answers: Iterable[FetchedFields]) -> None:
        """Take the partitions of a fetch response, without those whose position has changed since the request."""
        arrived = []
        for tp, error, high_watermark, _log_start, batches, _diverging in answers:
            asked, position = self._wanted.get(tp), self.positions[tp]
            here = position.leader == self.broker and asked == (position.offset, self._epoch(position))
            if not (here and position.fetchable):
                continue
            if error is not Errors.NONE:
                self._failed(position, error)
                continue
            position.high_watermark = high_watermark
            if batches:
                position.fetched.extend(batches)
                position.source = position.leader, position.leader_epoch
                arrived.append(position)
        self.arrived(arrived)

    def _failed(self, position: Position, error: Errors) -> None:
        self._leader.forget(position.tp)
        del self._wanted[position.tp]
        if error is Errors.OFFSET_OUT_OF_RANGE:
            position.reason = "out of range"
            node = self.process.node
            node.trace.show(PositionRefused, node.id, *position.tp, self.broker, position.leader_epoch, position.offset)
        else:
            self._rest([position])
            self._refused(error)
