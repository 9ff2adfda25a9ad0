"""The lab: a small cluster for the controller's tests.

World, network, ZooKeeper and controllers are real, one controller in each broker process. The brokers are scripted:
they record the requests that they get and answer NONE. As a leader, a broker lets every live assigned replica join the
ISR, one write for each; a replica that is sent LeaderAndIsr without being assigned (KAFKA-42) joins alone.

A test is an async function of a ``Lab``, run by ``run``::

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        await lab.reassign({TopicPartition("orders", 0): (3, 4, 5)})
        assert lab.assignment(TopicPartition("orders", 0)) == (3, 4, 5)

    run(test, brokers=6, policies=ControllerPolicies(reassignment=Wiki()))

Methods that act wait until the cluster is settled. ``Notes`` (``tests/controller/notes.py``) shows the gates, writes
and requests of a part of a test as text. To stop or crash something at a step, use ``lab.at_gate``.
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import trio
from attrs import define, field

from controller.controller import Controller
from controller.policies import ControllerPolicies
from emulator.gates import Edge, Gates, Visit
from emulator.kernel import Backend, Mailbox, World
from emulator.network import Channel, Client, Network, serve
from emulator.nodes import Node, Process
from emulator.protocol import znodes
from emulator.protocol.alter_reassignments import AlterPartitionReassignmentsRequest
from emulator.protocol.assignments import NOT_REASSIGNED, ReplicaAssignment
from emulator.protocol.errors import Errors
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition, LeaderAndIsrRequest, LeaderAndIsrResponse
from emulator.protocol.list_reassignments import ListPartitionReassignmentsRequest
from emulator.protocol.scala_order import set_order
from emulator.protocol.stop_replica import StopReplicaRequest, StopReplicaResponse
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from emulator.protocol.znodes import LeaderAndIsr
from emulator.trace import Trace
from emulator.zookeeper import BadVersion, NodeExists, NoNode, ZkClient, ZkSpec
from emulator.zookeeper.server import ZooKeeper

T = TypeVar("T")
Request = LeaderAndIsrRequest | UpdateMetadataRequest | StopReplicaRequest
OPERATOR = -10
SESSION_US = 6_000_000
EXPIRY_US = 2 * SESSION_US
"""By then the session of a crashed broker is gone."""


@define(eq=False, repr=False)
class Lab:
    """One small cluster in one world.

    Attributes:
        policies: of every controller.
        broken_disks: brokers that answer LeaderAndIsr with KAFKA_STORAGE_ERROR.
        undeletable: brokers that answer StopReplica with deletion with KAFKA_STORAGE_ERROR.
        joins: whether leaders let replicas join the ISR; a test that writes ISRs itself switches this off.
        takes_in: whether they let a replica join that is sent LeaderAndIsr without being assigned.
        received: broker and request, in the order of arrival.
        events: the trace so far, after ``flush``.
    """

    world: World
    policies: ControllerPolicies = field(factory=ControllerPolicies)
    joins: bool = True
    takes_in: bool = True
    broken_disks: dict[int, None] = field(factory=dict)
    undeletable: dict[int, None] = field(factory=dict)
    trace: Trace = field(init=False)
    network: Network = field(init=False)
    gates: Gates = field(factory=Gates)
    zookeeper: ZooKeeper = field(init=False)
    operator: ZkClient = field(init=False)
    process: Process = field(init=False)
    nodes: dict[int, Node] = field(factory=dict)
    controllers: dict[int, Controller] = field(factory=dict)
    received: list[tuple[int, Request]] = field(factory=list)
    events: list[Any] = field(factory=list)
    inboxes: dict[int, Mailbox] = field(factory=dict)
    spec: ZkSpec = field(factory=lambda: ZkSpec(session_timeout_us=SESSION_US))

    async def begin(self, nursery: trio.Nursery, brokers: int) -> None:
        self.trace = Trace(self.world)
        self.trace.sink(self.events.extend)
        self.network = Network(self.world)
        self.zookeeper = ZooKeeper.start(self.world, self.trace, self.network, nursery, self.spec)
        for path in znodes.PERSISTENT_PATHS:
            self.zookeeper.seed(path, "")
        for broker in range(brokers):
            self.nodes[broker] = self._node(broker, f"broker-{broker}", nursery)
            self.nodes[broker].start(self._broker)
        operator = self._node(OPERATOR, "operator", nursery)
        connected = Mailbox(self.world)
        operator.start(lambda process: self._operate(process, connected))
        await connected.get()
        await self.settle()

    def _node(self, number: int, name: str, nursery: trio.Nursery) -> Node:
        node = Node(self.world, self.trace, number, name, nursery)
        self.network.attach(node)
        return node

    async def _operate(self, process: Process, connected: Mailbox) -> None:
        self.process = process
        self.operator = ZkClient(self.network, process, self.spec)
        await self.operator.connect()
        connected.put(None)

    # -- scripted brokers ---------------------------------------------------------------------------------------------

    async def _broker(self, process: Process) -> None:
        zk = ZkClient(self.network, process, self.spec)
        inbox = self.inboxes[process.node.id] = Mailbox(self.world, f"leader duties of {process.name}")
        apis: dict[type, Callable[[Any, Channel], object]] = {}
        serve(
            self.network,
            process,
            "kafka",
            lambda request, channel: (
                apis[type(request)](request, channel)
                if type(request) in apis
                else self._answer(process, request, channel)
            ),
        )
        await zk.connect()

        async def register() -> int:
            path = znodes.broker_path(process.node.id)
            while True:
                try:
                    await zk.create(path, znodes.encode_broker(process.node.id, 0), ephemeral=True)
                    break
                except NodeExists:
                    # The previous incarnation's session has not expired yet: wait for it, as Kafka's broker does.
                    await self.world.sleep(500_000, True)
            stat = await zk.exists(path)
            assert stat is not None
            return stat.czxid

        await register()
        controller = Controller(process, self.network, zk, self.gates, self.policies, register, apis.__setitem__)
        self.controllers[process.node.id] = controller
        controller.start()
        while True:
            await self._let_join(zk, *await inbox.get())

    def _answer(self, process: Process, request: Request, channel: Channel) -> None:
        broker = process.node.id
        self.received.append((broker, request))
        response: LeaderAndIsrResponse | UpdateMetadataResponse | StopReplicaResponse
        if isinstance(request, LeaderAndIsrRequest):
            error = Errors.KAFKA_STORAGE_ERROR if broker in self.broken_disks else Errors.NONE
            response = LeaderAndIsrResponse(
                Errors.NONE, tuple(s.tp for s in request.partitions), (error,) * len(request.partitions)
            )
            for state in request.partitions:
                if state.leader == broker and self.joins:
                    self.inboxes[broker].put((state, state.replicas))
                elif broker not in state.replicas and self.takes_in and state.leader in self.inboxes:
                    self.inboxes[state.leader].put((state, (broker,)))
        elif isinstance(request, StopReplicaRequest):
            fails = request.delete_partitions and broker in self.undeletable
            error = Errors.KAFKA_STORAGE_ERROR if fails else Errors.NONE
            response = StopReplicaResponse(Errors.NONE, tuple((tp, error) for tp in request.partitions))
        else:
            response = UpdateMetadataResponse(Errors.NONE)
        channel.reply(response, response.size)

    async def _let_join(self, zk: ZkClient, led: LeaderAndIsrPartition, replicas: tuple[int, ...]) -> None:
        """As the leader: let every live one of ``replicas`` join, until there is a newer leader epoch."""
        path = znodes.state_path(led.tp)
        while True:
            try:
                data, stat = await zk.get(path)
            except NoNode:
                return
            state = LeaderAndIsr.decode(data, stat.version)
            missing = [r for r in replicas if r not in state.isr and self.nodes[r].running]
            if not missing or state.leader_epoch != led.leader_epoch:
                return
            isr = set_order((*state.isr, missing[0]))
            joined = LeaderAndIsr(led.leader, led.leader_epoch, isr, led.controller_epoch)
            try:
                await zk.set(path, joined.encode(), stat.version)
            except (BadVersion, NoNode):
                return

    # -- looking ------------------------------------------------------------------------------------------------------

    def state(self, tp: TopicPartition) -> LeaderAndIsr:
        tree, path = self.zookeeper.tree, znodes.state_path(tp)
        data, stat = tree.get(path), tree.stat(path)
        assert data is not None, f"{tp} has no state znode"
        assert stat is not None
        return LeaderAndIsr.decode(data, stat.version)

    def assignment(self, tp: TopicPartition) -> tuple[int, ...]:
        data = self.zookeeper.tree.get(znodes.topic_path(tp.topic))
        return () if data is None else znodes.decode_topic(data)[tp.partition]

    def full_assignment(self, tp: TopicPartition) -> ReplicaAssignment:
        """RS, AR and RR in the topic's znode."""
        data = self.zookeeper.tree.get(znodes.topic_path(tp.topic))
        assert data is not None
        reassigning = znodes.decode_reassigning(data)
        return ReplicaAssignment(self.assignment(tp), *reassigning.get(tp.partition, NOT_REASSIGNED))

    def data(self, path: str) -> str | None:
        return self.zookeeper.tree.get(path)

    @property
    def active(self) -> Controller:
        """The controller, according to ZooKeeper."""
        data = self.data(znodes.CONTROLLER)
        assert data is not None, "there is no controller"
        return self.controllers[znodes.decode_controller(data)]

    def of(self, kind: type[T]) -> list[T]:
        """The events of one kind so far."""
        self.trace.flush()
        return [event for event in self.events if isinstance(event, kind)]

    # -- acting -------------------------------------------------------------------------------------------------------

    async def settle(self) -> None:
        await self.world.settled()

    async def pass_time(self, us: int) -> None:
        await self.world.sleep(us)
        await self.settle()

    async def create_topic(self, topic: str, assignment: dict[int, tuple[int, ...]]) -> None:
        await self.operator.create(f"{znodes.CONFIG_TOPICS}/{topic}", znodes.encode_config({}))
        reassigning: znodes.Reassigning | None = {} if self.policies.topic_version > 1 else None
        await self.operator.create(znodes.topic_path(topic), znodes.encode_topic(assignment, reassigning))
        await self.settle()

    async def delete_topic(self, topic: str) -> None:
        await self.operator.create(znodes.delete_topic_path(topic))
        await self.settle()

    def is_gone(self, topic: str) -> bool:
        """Whether no znode of a topic is left, nor its entry in /admin/delete_topics."""
        paths = (znodes.topic_path(topic), f"{znodes.CONFIG_TOPICS}/{topic}", znodes.delete_topic_path(topic))
        return all(self.data(path) is None for path in paths)

    async def reassign(self, moves: dict[TopicPartition, tuple[int, ...]]) -> None:
        await self.operator.create(znodes.REASSIGN_PARTITIONS, znodes.encode_reassignment(moves))
        await self.settle()

    async def ask(self, request: Any, broker: int | None = None) -> Any:
        """The response of ``broker``, by default of the controller, to the operator. Does not wait until the cluster is
        settled."""
        host = self.active.id if broker is None else broker
        client = Client(self.network, self.process, host, "kafka", timeout_us=60_000_000)
        response = await client.call(request, request.size)
        client.close()
        return response

    async def alter(self, targets: dict[TopicPartition, tuple[int, ...] | None]) -> dict[TopicPartition, Errors]:
        """Ask by the API (KIP-455); None cancels. Returns each partition's error."""
        response = await self.ask(AlterPartitionReassignmentsRequest(targets))
        assert response.error is Errors.NONE
        await self.settle()
        return dict(response.partitions)

    async def listed(self, *partitions: TopicPartition) -> dict[TopicPartition, ReplicaAssignment]:
        """The reassignments in progress, of ``partitions`` if any are named."""
        response = await self.ask(ListPartitionReassignmentsRequest(partitions or None))
        assert response.error is Errors.NONE
        return dict(response.partitions)

    async def write_isr(self, tp: TopicPartition, isr: tuple[int, ...]) -> None:
        """Write an ISR as the leader would."""
        state = self.state(tp)
        changed = LeaderAndIsr(state.leader, state.leader_epoch, isr, state.controller_epoch)
        await self.operator.set(znodes.state_path(tp), changed.encode(), state.zk_version)
        await self.settle()

    def restart(self, broker: int) -> None:
        self.nodes[broker].start(self._broker)

    def at_gate(self, step: str, edge: Edge, do: Callable[[Visit], None], *, hop: int | None = None) -> list[Visit]:
        """Call ``do`` at the first visit of a gate (of one hop); the list holds that visit once it was made."""
        made: list[Visit] = []

        def visit(at: Visit) -> None:
            if not made and hop in (None, at.hop):
                made.append(at)
                do(at)

        self.gates.arm(step, edge, visit)
        return made


def run(
    test: Callable[[Lab], Awaitable[T]],
    *,
    brokers: int = 3,
    policies: ControllerPolicies | None = None,
    joins: bool = True,
    seed: int = 0,
    backend: Backend = "detached",
) -> T:
    """Run ``test`` in a world of its own, with ``brokers`` brokers up and a controller elected."""
    world = World(seed, max_events=2_000_000, backend=backend)
    lab = Lab(world, policies or ControllerPolicies(), joins)
    results: list[T] = []

    async def main() -> None:
        async with world.open_nursery() as nursery:
            await lab.begin(nursery, brokers)
            results.append(await test(lab))
            nursery.cancel_scope.cancel()

    world.run(main)
    return results[0]
