"""The two ways in which changes of ISRs get into ZooKeeper (kafka.server.AlterIsrManager, 3.0).

Up to 2.6 the leader writes the state znode and announces the change to the controller: ``ZkIsrManager``. Since KIP-497
(2.7) it asks the controller, which writes: ``DefaultAlterIsrManager``.
"""

from collections.abc import Awaitable, Callable

from attrs import define, evolve, field

from brokers.broker_config import BrokerConfig
from brokers.partition.isr import AlterIsrItem, IsrLocks
from emulator.nodes import Agenda, Process
from emulator.protocol.alter_isr import AlterIsrPartition, AlterIsrRequest, AlterIsrResponse
from emulator.protocol.errors import Errors
from emulator.protocol.shown import Deviated
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import ISR_CHANGE_NOTIFICATION, LeaderAndIsr, encode_isr_change, state_path
from emulator.zookeeper import Create, GetData, SetData, ZkClient, ZkCode, ZkResponse

INTERVAL_US = 50_000
NOT_DONE = (Errors.OPERATION_NOT_ATTEMPTED, Errors.INELIGIBLE_REPLICA)
"""The controller answers so where it knows the state and has not written: the leader has the ISR from before
(Partition.handleAlterPartitionError, 3.3.2)."""
FINAL = (
    *NOT_DONE, Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.UNKNOWN_TOPIC_ID, Errors.FENCED_LEADER_EPOCH,
    Errors.INVALID_UPDATE_VERSION, Errors.INVALID_REQUEST, Errors.NEW_LEADER_ELECTED,
)  # fmt: skip
"""The refusals after which a leader does not ask again by itself."""


@define(eq=False)
class ZkIsrManager:
    """Writes each state znode on condition of the version that the leader knows (kafka-behaviour §7.6).

    A write that fails is tried again whenever there is reason to, and fails each time until a LeaderAndIsr brings a new
    version.

    Attributes:
        compares, conditional: see ``brokers.partition.isr.ByZooKeeper``.
        propagation: announces the changes that took effect.
        locks: the locks of the partitions whose state znode is being written.
    """

    zk: ZkClient
    compares: bool
    propagation: "IsrChangePropagation"
    conditional: bool = True
    locks: IsrLocks = field(factory=IsrLocks)

    def start(self) -> None:
        self.propagation.start()

    def accepts(self, tp: TopicPartition, again: Callable[[], object]) -> bool:
        return True

    def submit(self, item: AlterIsrItem) -> None:
        wanted = item.leader_and_isr
        path, data = state_path(item.tp), wanted.encode()
        if not self.conditional:
            self._put(item, path)
            return

        def compared(response: ZkResponse) -> None:
            self.locks.release(item.tp, lambda: learn(response, applied=response.data == data))

        def written(response: ZkResponse) -> None:
            if response.error is ZkCode.BAD_VERSION and self.compares and not item.abandoned():
                self.zk.submit(GetData(path), compared)
            else:
                self.locks.release(item.tp, lambda: learn(response, applied=response.error is ZkCode.OK))

        def learn(response: ZkResponse, *, applied: bool) -> None:
            if item.abandoned():
                return
            if applied:
                assert response.stat is not None
                self.propagation.record(item.tp)
                item.taken(wanted.isr, response.stat.version)
            else:
                item.refused("cached zkVersion not equal", False)

        self.locks.take(item.tp)
        self.zk.submit(SetData(path, data, wanted.zk_version), written)

    def _put(self, item: AlterIsrItem, path: str) -> None:
        """Write the ISR as before KAFKA-428: leader, epoch and version of the znode stay as they are, whichever broker
        wrote them."""
        isr = item.leader_and_isr.isr

        def found(response: ZkResponse) -> None:
            if response.error is ZkCode.OK:
                there = evolve(LeaderAndIsr.decode(response.data, 0), isr=isr)
                self.zk.submit(SetData(path, there.encode()), lambda _: self.propagation.record(item.tp))

        item.taken(isr, item.leader_and_isr.zk_version)
        self.zk.submit(GetData(path), found)

    def clear(self, tp: TopicPartition) -> None:
        """Do nothing: every item is sent at once."""


class IsrChangePropagation:
    """isr-change-propagation: announces to the controller which ISRs were changed (kafka-behaviour §4).

    Every 2.5 s, if something changed: when the last change is 5 s old, or the last notification 60 s. All changes go
    into one sequential znode.
    """

    def __init__(self, process: Process, zk: ZkClient, config: BrokerConfig, *, announces: bool = True) -> None:
        """``announces``: False before KAFKA-1367 (0.9): nothing is announced."""
        self._announces = announces
        self._process = process
        self._zk = zk
        self._config = config
        self._changed: Agenda[TopicPartition, None] = Agenda()
        self._last_change_us = self._last_notification_us = process.clock_us

    def start(self) -> None:
        if not self._announces:
            return
        interval_us = self._config.isr_change_propagation_interval_us
        self._process.every(interval_us, self.maybe_propagate, self._changed)

    def record(self, tp: TopicPartition) -> None:
        if not self._announces:
            return
        self._changed[tp] = None
        self._last_change_us = self._process.clock_us

    def maybe_propagate(self) -> None:
        """Announce the changes, if it is time to (ReplicaManager.maybePropagateIsrChanges, 2.3)."""
        now, config = self._process.clock_us, self._config
        if self._changed and (
            self._last_change_us + config.isr_change_propagation_blackout_us < now
            or self._last_notification_us + config.isr_change_propagation_max_us < now
        ):
            data = encode_isr_change(self._changed)
            self._changed.clear()
            self._last_notification_us = now
            self._zk.submit(Create(f"{ISR_CHANGE_NOTIFICATION}/isr_change_", data, False, True), self._announced)

    def _announced(self, _response: ZkResponse) -> None:
        """Ignore the outcome, as Kafka does: the next change brings the next notification."""


@define(eq=False)
class DefaultAlterIsrManager:
    """Collects the changes that the leaders here want, and asks the controller for them (AlterIsrManagerImpl, 2.7.2;
    DefaultAlterIsrManager, 2.8).

    Every 50 ms, if there are any and no request is in flight. A request that fails as a whole is sent again. Up to
    3.2.0 the refusal of one partition is final, even where Kafka means to try again: its queue still has that partition
    (KAFKA-14010).

    Attributes:
        ask: sends a request to the current controller, until one answers.
        at_once, awaits_answers, asks_again: see ``brokers.partition.isr.ByController``. Where changes are sent at once,
            a request that fails as a whole is sent again after 50 ms.
    """

    process: Process
    ask: Callable[[AlterIsrRequest], Awaitable[AlterIsrResponse]]
    broker_epoch: Callable[[], int]
    at_once: bool = False
    awaits_answers: bool = False
    asks_again: bool = False
    _unsent: dict[TopicPartition, AlterIsrItem] = field(factory=dict)
    _turned_away: dict[TopicPartition, Callable[[], object]] = field(factory=dict)
    _in_flight: bool = False
    _armed: bool = False
    _began_us: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._began_us = self.process.clock_us - self.process.phase_us

    def start(self) -> None:
        """Do nothing: there is no periodic work to begin, see ``_arm``."""

    def accepts(self, tp: TopicPartition, again: Callable[[], object]) -> bool:
        if not (self.awaits_answers and tp in self._unsent):
            return True
        self._turned_away[tp] = again
        return False

    def submit(self, item: AlterIsrItem) -> None:
        self._unsent[item.tp] = item
        self._arm()

    def clear(self, tp: TopicPartition) -> None:
        if not self.awaits_answers:
            self._unsent.pop(tp, None)

    def _arm(self, failed: bool = False) -> None:
        """Send what there is to send: at once, or by a timer for the next 50 ms tick (empty ticks are left out).
        ``failed``: the last request was refused as a whole."""
        if self._unsent and not self._in_flight and not self._armed:
            if self.at_once and not failed:
                self._send(None)
                return
            self._armed = True
            passed = 0 if self.at_once else (self.process.clock_us - self._began_us) % INTERVAL_US
            self.process.call_later(INTERVAL_US - passed, self._send, background=False)

    def _send(self, _: object) -> None:
        self._armed = False
        items = dict(self._unsent)
        if items:
            self._in_flight = True
            self.process.spawn(self._exchange, items, name="alter-isr")

    async def _exchange(self, items: dict[TopicPartition, AlterIsrItem]) -> None:
        wanted = {tp: item.leader_and_isr for tp, item in items.items()}
        partitions = tuple(
            AlterIsrPartition(tp, state.leader_epoch, state.isr, state.zk_version) for tp, state in wanted.items()
        )
        trace = self.process.node.trace
        trace.cause = next(iter(items.values())).cause
        response = await self.ask(AlterIsrRequest(self.process.node.id, self.broker_epoch(), partitions))
        self._in_flight = self.at_once  # what the answers bring about is sent together, once all are taken in
        for tp, error, state in response.partitions:
            item = items[tp]
            # An item that waits by now goes, too, though it was never sent (KAFKA-12686, 3.0).
            if self._unsent.pop(tp, item) is not item:
                self.process.mark(Deviated, self.process.node.id, "KAFKA-12686", *tp, self.process.node.id)
            if item.abandoned():
                continue
            trace.cause = item.cause
            if state is None and self.asks_again and error not in FINAL:
                self._unsent[tp] = item
            elif state is None:
                item.refused(error.name, error not in NOT_DONE)
            elif state.leader_epoch != wanted[tp].leader_epoch or state.zk_version < wanted[tp].zk_version:
                item.refused("the answer is stale", True)
            else:
                item.taken(state.isr, state.zk_version)
        for tp in [tp for tp in self._turned_away if tp not in self._unsent]:
            self._turned_away.pop(tp)()
        self._in_flight = False
        self._arm(failed=response.error is not Errors.NONE)
