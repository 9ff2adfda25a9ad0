"""The replica state machine (kafka-behaviour §5.2). An illegal transition is logged; the others of the same call are
made."""

from collections.abc import Iterable, Sequence

from attrs import define

from controller.context import ControllerContext, Replica
from controller.request_batch import ControllerBrokerRequestBatch
from controller.state_machines.leader_elections import LeaderElections
from controller.state_machines.rules import ReplicaRules
from controller.states import ReplicaState
from controller.zk_client import KafkaZkClient
from emulator.logger import get_logger
from emulator.protocol.control_requests import ReplicasChanged
from emulator.protocol.scala_order import SCALA_2_12, ScalaCollections
from emulator.protocol.shown import Deviated
from emulator.protocol.types import NO_LEADER, TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from emulator.zookeeper import SessionExpired

log = get_logger("controller.replicas")

ByBroker = dict[int, list[TopicPartition]]
"""Replicas: the partitions of each broker, both in the order of first mention."""

BLOCK = 1000
"""The number of partitions that a new controller handles at a time, for all of their brokers: what the batch has
written for a partition is then still in the CPU's cache for its next broker."""


@define(eq=False, repr=False)
class ReplicaStateMachine:
    """Changes the states of replicas; one call is one batch of requests.

    Every method that writes raises ControllerMoved. Where the session expires, the ISRs at hand are not changed, and
    the event goes on (ZkReplicaStateMachine.doRemoveReplicasFromIsr, 2.4.1).
    """

    context: ControllerContext
    zk_client: KafkaZkClient
    elections: LeaderElections
    batch: ControllerBrokerRequestBatch
    rules: ReplicaRules
    collections: ScalaCollections = SCALA_2_12

    async def startup(self) -> None:
        """Failover F6: set the state of every replica, and send LeaderAndIsr for those that are online."""
        context = self.context
        up: list[ByBroker] = []
        down: ByBroker = {}
        live, any_dir_offline = dict.fromkeys(context.live), context.any_dir_offline
        for number, tp in enumerate(context.partitions()):
            if number % BLOCK == 0:
                up.append({})
            for broker in context.replicas(tp):
                online = broker in live and (not any_dir_offline or context.is_online(broker, tp))
                (up[-1] if online else down).setdefault(broker, []).append(tp)
        for replicas, state in (*((block, ReplicaState.ONLINE) for block in up), (down, self.rules.unreachable)):
            for broker, partitions in replicas.items():
                context.set_replica_states(broker, partitions, state)
        await self._handle(up, ReplicaState.ONLINE)
        if self.rules.shrink_at_failover:
            await self._handle([down], ReplicaState.OFFLINE)
        elif self.elections.process.node.trace.shows(Deviated):
            for broker, partitions in down.items():
                known = ((tp, context.leadership_info.get(tp)) for tp in partitions)
                self._show("KAFKA-3143", [tp for tp, state in known if state and broker in state.isr], broker)

    async def delete(self, replicas: Sequence[Replica]) -> None:
        """Change offline replicas to NonExistent, state by state, without waiting for the brokers' responses."""
        for state in self.rules.deletion:
            await self.handle_state_changes(replicas, state)

    async def handle_state_changes(self, replicas: Sequence[Replica], target: ReplicaState) -> None:
        by_broker: ByBroker = {}
        for tp, broker in replicas:
            by_broker.setdefault(broker, []).append(tp)
        await self._handle([by_broker], target)

    async def _handle(self, blocks: Sequence[ByBroker], target: ReplicaState) -> None:
        if not any(blocks):
            return
        self.batch.new_batch()
        for replicas in blocks:
            for broker in self.rules.broker_order(tuple(replicas), self.collections):
                await self._handle_broker(broker, self._legal(broker, replicas[broker], target), target)
        self.batch.send_to_brokers()

    def _legal(self, broker: int, partitions: list[TopicPartition], target: ReplicaState) -> list[TopicPartition]:
        """The partitions whose replica on ``broker`` may become ``target``."""
        allowed, states = self.rules.predecessors.get(target, ()), self.context.replica_states_on(broker)
        legal = [tp for tp in partitions if states.get(tp, ReplicaState.NON_EXISTENT) in allowed]
        if len(legal) < len(partitions):
            if target is ReplicaState.OFFLINE and self.rules.trusts_memory:
                self._show("ReplicaStateMachine.handleStateChange", sorted({*partitions} - {*legal}), broker)
            elif target is ReplicaState.ONLINE:
                self._show("KafkaController.onPartitionReassignment", sorted({*partitions} - {*legal}), broker)
            for tp in partitions:
                state = states.get(tp, ReplicaState.NON_EXISTENT)
                if state not in allowed:
                    log.error(
                        "illegal transition", partition=str(tp), broker=broker, state=state.name, target=target.name
                    )
        return legal

    async def _handle_broker(self, broker: int, partitions: list[TopicPartition], target: ReplicaState) -> None:
        if target is ReplicaState.OFFLINE:
            partitions = await self._go_offline(broker, partitions)
        elif target is ReplicaState.NEW:
            partitions = [tp for tp in partitions if self._start_new(broker, tp)]
        elif target is ReplicaState.ONLINE:
            partitions = self._go_online(broker, partitions)
        if target is self.rules.deletion[0]:
            for tp in partitions:
                self.batch.add_stop_replica(broker, tp, delete=True)
        process = self.elections.process
        if process.node.trace.shows(ReplicasChanged):
            states = self.context.replica_states_on(broker)
            before = tuple(states.get(tp, ReplicaState.NON_EXISTENT) for tp in partitions)
            process.show(ReplicasChanged, self.batch.controller_id, broker, tuple(partitions), before, target)
        if target is not ReplicaState.NON_EXISTENT:
            self.context.set_replica_states(broker, partitions, target)
            return
        for tp in partitions:
            self.context.assign(tp, (r for r in self.context.replicas(tp) if r != broker))
            self.context.forget_replica(tp, broker)

    def _start_new(self, broker: int, tp: TopicPartition) -> bool:
        """Send a new replica LeaderAndIsr. Returns False where it is the leader, which a new replica cannot be."""
        state = self.context.leadership_info.get(tp)
        if state is None:
            return True
        if state.leader == broker:
            log.error("a new replica cannot lead", partition=str(tp), broker=broker)
            return False
        self.batch.add_leader_and_isr([broker], tp, state, self.context.replicas(tp), is_new=True)
        return True

    def _go_online(self, broker: int, partitions: list[TopicPartition]) -> list[TopicPartition]:
        """Send replicas LeaderAndIsr; those that were new have had theirs. Returns those that were not online yet."""
        context, states, recipients = self.context, self.context.replica_states_on(broker), (broker,)
        leadership, add = context.leadership_info, self.batch.add_leader_and_isr
        coming: list[TopicPartition] = []
        for tp in partitions:
            replicas, before = context.replicas(tp), states[tp]
            if before is not ReplicaState.ONLINE:
                coming.append(tp)
            if before is ReplicaState.NEW:
                if broker not in replicas:
                    context.assign(tp, (*replicas, broker))
                continue
            state = leadership.get(tp)
            if state is not None:
                add(recipients, tp, state, replicas, is_new=False)
        return coming

    # -- out of the ISR -----------------------------------------------------------------------------------------------

    async def _go_offline(self, broker: int, partitions: list[TopicPartition]) -> list[TopicPartition]:
        """Stop the replicas of a broker and remove them from their ISRs; returns those for which that succeeded."""
        if self.rules.stops_offline:
            for tp in partitions:
                self.batch.add_stop_replica(broker, tp, delete=False)
        led = [tp for tp in partitions if tp in self.context.leadership_info]
        leaderless = [tp for tp in partitions if tp not in self.context.leadership_info]
        if self.rules.trusts_memory:
            return await self._leave_remembered_isrs(broker, led, leaderless)
        shrunk = await self._shrink(broker, led)
        if not self.rules.leaderless_go_offline:
            self._show("KAFKA-6650", leaderless, broker)
            return shrunk
        if leaderless:
            self.batch.add_update_metadata(self.context.live_or_shutting_down, leaderless)
        return [*shrunk, *leaderless]

    async def _leave_remembered_isrs(
        self, broker: int, led: list[TopicPartition], leaderless: list[TopicPartition]
    ) -> list[TopicPartition]:
        for tp in leaderless:
            log.error("no leader and ISR", partition=str(tp), broker=broker)
        leadership = self.context.leadership_info
        outside = [tp for tp in led if broker not in leadership[tp].isr]
        inside = [tp for tp in led if broker in leadership[tp].isr]
        self._show("ReplicaStateMachine.handleStateChange", outside, broker)
        self._show("KAFKA-6650", leaderless, broker)
        return [*await self._shrink(broker, inside), *outside]

    async def _shrink(self, broker: int, partitions: list[TopicPartition]) -> list[TopicPartition]:
        """Remove a broker from ISRs and send the new ones; returns the partitions for which that succeeded."""
        shrunk = await self._remove_from_isr(broker, partitions)
        for tp in shrunk:
            if self.context.is_deleting(tp.topic):
                continue  # No broker should act on a partition that is being deleted.
            state, replicas = self.context.leadership_info[tp], self.context.replicas(tp)
            others = tuple(replica for replica in replicas if replica != broker)
            recipients = self.rules.told_of_shrunk_isr(others, state.leader)
            self.batch.add_leader_and_isr(recipients, tp, state, replicas, is_new=False)
        return shrunk

    async def _remove_from_isr(self, broker: int, partitions: list[TopicPartition]) -> list[TopicPartition]:
        done: list[TopicPartition] = []
        remaining = partitions
        while remaining:
            try:
                states = await self._to_shrink(broker, remaining, done)
                written, remaining = await self.zk_client.write_states(states)
            except SessionExpired as error:
                failed = [str(tp) for tp in remaining if tp not in done]
                log.error("cannot shrink ISRs", partitions=failed, broker=broker, reason=str(error))
                break
            self.context.leadership_info.update(written)
            done += written
        return done

    async def _to_shrink(
        self, broker: int, partitions: list[TopicPartition], done: list[TopicPartition]
    ) -> dict[TopicPartition, LeaderAndIsr]:
        """The states to write. Partitions with nothing to write are added to ``done``."""
        known = await self.zk_client.states(partitions)
        states = {}
        for tp in partitions:
            state = known.get(tp)
            if state is None or self.elections.written_by_newer(tp, state):
                log.error("cannot shrink the ISR", partition=str(tp), broker=broker)
            elif broker in state.isr:
                states[tp] = self._without(broker, state)
                if not states[tp].isr:
                    self._show("KAFKA-1028", [tp], broker)
            else:
                # Send the state in ZooKeeper again, with this controller's epoch.
                self.context.leadership_info[tp] = LeaderAndIsr(
                    state.leader, state.leader_epoch, state.isr, self.context.epoch, state.zk_version, state.recovering
                )
                done.append(tp)
        return states

    def _show(self, ticket: str, partitions: Iterable[TopicPartition], broker: int) -> None:
        for tp in partitions:
            self.elections.process.mark(Deviated, self.batch.controller_id, ticket, *tp, broker)

    def _without(self, broker: int, state: LeaderAndIsr) -> LeaderAndIsr:
        """The state without ``broker``. Where it stays in the ISR as the last member, so that a clean leader can be
        elected later, it only stops leading."""
        stays = self.rules.keeps_last_in_isr and len(state.isr) == 1
        isr = state.isr if stays else tuple(replica for replica in state.isr if replica != broker)
        demoted = state.leader == broker and self.rules.offline_lead_no_longer
        return self.elections.successor(state, leader=NO_LEADER if demoted else None, isr=isr)
