"""A cluster in a world: ZooKeeper, brokers that each host a controller, an operator, producers.

It knows nothing of scenario files; ``scenarios.runs`` reads one and drives this.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import trio
from attrs import define, evolve, field, frozen

from brokers import memories as broker_memories
from brokers.broker import Broker, BrokerSpec, Serve
from controller import memories as controller_memories
from controller.controller import Controller
from controller.policies import ControllerPolicies
from emulator.disks import Disk, DiskSpeed, Pace
from emulator.gates import Gates
from emulator.kernel import Signal, World
from emulator.network import NO_DELAY, Network, NetworkSpec
from emulator.nodes import CrashKind, Node, Process
from emulator.protocol.address import host
from emulator.protocol.events import NodeCrashed, NodeStarted
from emulator.protocol.shown import Remembered, RememberedMeanwhile
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import broker_entity, topic_entity
from emulator.trace import Trace
from emulator.zookeeper import ZOOKEEPER, ZkClient, ZkSpec
from emulator.zookeeper.server import ZooKeeper
from scenarios.cluster.clients.operator import Operator
from scenarios.cluster.clients.tools import config_command, throttle, topic_command
from scenarios.cluster.clients.tools.command_outcome import CommandOutcome
from scenarios.cluster.clients.tools.topic_command import Moving, any_move
from scenarios.cluster.clients.workload import IDS_PER_PRODUCER, Workload
from scenarios.cluster.preload import Preload
from scenarios.language.clients import Behaviour

if TYPE_CHECKING:
    from scenarios.cluster.clients.consumer import Consumer
    from scenarios.cluster.clients.consuming import Consumption
    from scenarios.cluster.clients.producer import Producer

UP_BEFORE_US = 600_000_000
"""The longest time for which a broker has been up when the run begins: a multiple of the period of all work that a
broker does periodically by default, so that every phase is as likely as every other."""

STARTING_US = 5_000_000
"""The longest time that a broker needs to start during the run. Its periodic work is earlier or later by a part of it;
it serves requests at once."""

OPERATOR = -2
FIRST_PRODUCER = -10
FIRST_CONSUMER = -1_000_000
FIRST_CLIENT = -2_000_000


@frozen
class TopicSetup:
    """A topic at the start: the replicas of each partition in order of preference; ``size`` bytes in each partition,
    or those of ``sizes``. ``log_dirs``: the number of the log directory of each replica; empty: the emptiest."""

    name: str
    assignment: Mapping[int, tuple[int, ...]]
    size: int = 0
    message_size: int = 1024
    config: Mapping[str, str] = field(factory=dict)
    sizes: tuple[int, ...] = ()
    log_dirs: tuple[tuple[int, ...], ...] = ()


def _ids(brokers: int | Iterable[int]) -> tuple[int, ...]:
    return tuple(range(brokers)) if isinstance(brokers, int) else tuple(brokers)


@frozen
class ClusterSetup:
    """The parts of a cluster.

    Attributes:
        brokers: their ids; a number n stands for 0 to n-1.
        rack_of: the rack of each broker that has one.
        log_dirs: the log directories of each broker, each on a disk of its own.
        paranoid: whether to hash every message at both ends (``emulator.network.sealed``).
        broker_settings: the dynamic settings that each broker has as its own at the start (KIP-226).
        has_tool_2_6, tool_heeds_moves, tool_keeps_widenings: see ``Operator``.
        moves_forbid_expansion: the moves during which the operator's tools refuse to add partitions to a topic.
        drawn_phases: whether the periodic work and the pings of each broker, and the ticks of ZooKeeper, have phases
            that are drawn from the seed, as machines have that were started at different instants; otherwise all of
            them count from the start of the run.
    """

    brokers: tuple[int, ...] = field(converter=_ids)
    broker: BrokerSpec = field(factory=BrokerSpec)
    controller: ControllerPolicies = field(factory=ControllerPolicies)
    network: NetworkSpec = field(factory=NetworkSpec)
    zk: ZkSpec = field(factory=ZkSpec)
    rack_of: Mapping[int, str] = field(factory=dict)
    log_dirs: tuple[str, ...] = ("/data/0",)
    disk_speed: DiskSpeed | None = None
    topics: tuple[TopicSetup, ...] = ()
    workloads: tuple[Workload, ...] = ()
    consumers: tuple[Consumption, ...] = ()
    own_clients: tuple[Behaviour, ...] = ()
    paranoid: bool = False
    broker_settings: Mapping[str, str] = field(factory=dict)
    has_tool_2_6: bool = False
    tool_heeds_moves: bool = False
    tool_keeps_widenings: bool = False
    moves_forbid_expansion: Moving = any_move
    drawn_phases: bool = True


@define(eq=False, repr=False)
class Cluster:
    """One cluster, in a world of its own.

    Attributes:
        brokers: the newest incarnation of each broker that was ever started, by id.
        controllers: the controller that each of them hosts.
        clients: the machines of producers and consumers, each with its name where it was given one.
        refused: the topics and settings of the start that Kafka has refused, in words.
        epoch_us: the time of day at virtual time 0, in microseconds since 1970. It is set before the cluster starts.
    """

    world: World
    setup: ClusterSetup
    trace: Trace = field(init=False)
    network: Network = field(init=False)
    gates: Gates = field(factory=Gates)
    zookeeper: ZooKeeper = field(init=False)
    nodes: dict[int, Node] = field(factory=dict)
    brokers: dict[int, Broker] = field(factory=dict)
    controllers: dict[int, Controller] = field(factory=dict)
    clients: dict[int, str] = field(factory=dict)
    refused: list[str] = field(factory=list)
    epoch_us: int = 0
    operator: Operator = field(init=False)
    _nursery: trio.Nursery = field(init=False)
    _stopping: dict[int, bool] = field(factory=dict)
    """The brokers in a controlled shutdown, and whether to start each again afterwards."""
    _producers: list[Producer] = field(factory=list)
    _producer_machines: int = 0
    _consumers: int = 0
    _readers: list[Consumer] = field(factory=list)
    _outside_clients: int = 0
    _programs: dict[int, tuple[Callable[[], object], Callable[[], object]]] = field(factory=dict)
    """The functions that start and kill the program of each client's machine."""

    def __attrs_post_init__(self) -> None:
        self.trace = Trace(self.world)
        self.network = Network(self.world, self.setup.network, self.setup.paranoid)
        setup = self.setup
        brokers = setup.brokers
        self.operator = Operator(
            self.network, setup.zk, brokers, setup.controller.topic_version, setup.broker.server,
            has_tool_2_6=setup.has_tool_2_6, tool_heeds_moves=setup.tool_heeds_moves,
            tool_keeps_widenings=setup.tool_keeps_widenings,
            refuses_marked=setup.broker.policies.admin.refuses_marked,
        )  # fmt: skip

    async def run(self, drive: Callable[[Cluster], Awaitable[object]]) -> None:
        """Start everything, create the topics, await ``drive(cluster)``, and end when that returns."""
        async with self.running():
            await drive(self)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Start everything and create the topics; end everything on the way out."""
        async with self.world.open_nursery() as nursery:
            self._nursery = nursery
            zk = self.setup.zk
            zk = evolve(zk, tick_phase_us=self._drawn_phase("zookeeper", zk.tick_us))
            self.zookeeper = ZooKeeper.start(self.world, self.trace, self.network, nursery, zk)
            self.world.unsettled_while(lambda: self.zookeeper.expiring)
            for broker in self.setup.brokers:
                self.nodes[broker] = self._node(broker, host(broker))
            self._preload()
            for broker in self.nodes:
                self.start_broker(broker)
            self._node(OPERATOR, "operator").start(self.operator.main)
            await self.world.settled()
            for topic in self.setup.topics:
                what = f"topic {topic.name!r} was not created"
                await self._prepare(what, topic_command.create, topic.name, topic.assignment, topic.config)
            await self._configure()
            await self.world.settled()
            for workload in self.setup.workloads:
                self.start_producer(workload)
            for consumption in self.setup.consumers:
                self.start_consumer(consumption)
            for behaviour in self.setup.own_clients:
                self.start_own_client(behaviour)
            yield
            for producer in self._producers:
                producer.record_unfinished()
            nursery.cancel_scope.cancel()

    async def _configure(self) -> None:
        """Announce the dynamic settings that are in force from the start: brokers read these only when announced."""
        if self.setup.broker_settings:
            brokers = list(map(broker_entity, self.nodes))
            await self._prepare("no throttle was set", config_command.alter, brokers, self.setup.broker_settings)
        for topic in self.setup.topics:
            if any(name in throttle.LISTS for name in topic.config):
                await self.operate(config_command.announce, topic_entity(topic.name))

    async def _prepare(self, failing: str, command: Callable[..., Awaitable[CommandOutcome]], *args: object) -> None:
        """Run a command of the operator at the start. ``failing``: the consequence where Kafka refuses it, in words."""
        outcome: CommandOutcome = await self.operate(command, *args)
        self.refused += [f"{failing}: {line}" for line in outcome.lines]

    def _node(self, id: int, name: str) -> Node:
        speed, is_broker = self.setup.disk_speed, id >= 0
        names = self.setup.log_dirs if is_broker else self.setup.log_dirs[:1]
        disks = tuple(Disk(name, pace=None if speed is None else Pace(speed)) for name in names)
        node = Node(self.world, self.trace, id, name, self._nursery, disks, self.epoch_us)
        self.network.attach(node, limited=is_broker)
        return node

    def _drawn_phase(self, entity: str, most_us: int) -> int:
        """A phase below ``most_us``, drawn for ``entity``. Streams are addressed by purpose and entity: a draw changes
        no other draw."""
        return self.world.stream("phases", entity).below(most_us) if self.setup.drawn_phases else 0

    def _preload(self) -> None:
        preload = Preload(
            {broker: node.disks for broker, node in self.nodes.items()},
            self.setup.broker.policies.log_config,
            self.epoch_us,
        )
        for topic in self.setup.topics:
            for partition, replicas in topic.assignment.items():
                size = topic.sizes[partition] if topic.sizes else topic.size
                places = topic.log_dirs[partition] if topic.log_dirs else ()
                if size or places:
                    tp = TopicPartition(topic.name, partition)
                    preload.write(tp, replicas, size, topic.message_size, places)
        preload.end()

    @property
    def sessions_stand(self) -> bool:
        """Whether no ZooKeeper session is about to expire, and no broker is about to open one."""
        return not self.zookeeper.expiring and not any(map(self._will_open_session, self.nodes))

    def _will_open_session(self, id: int) -> bool:
        """Whether the broker will open a session: it can reach ZooKeeper and has none."""
        process, network = self.nodes[id].process, self.network
        cut = network.route(id, ZOOKEEPER).cut or network.route(ZOOKEEPER, id).cut
        able = process is not None and process.alive and not process.suspended and not cut
        return able and not self.zookeeper.stopped and self.zookeeper.server.sessions.newest(id) is None

    def show_memories(self, occasion: str) -> None:
        """Let every broker that runs, and the controller that it hosts, show what it remembers (``Remembered``)."""
        for broker, controller in self._running() if self.trace.shows(Remembered) else ():
            broker_memories.show(broker, occasion)
            controller_memories.show(controller, broker.process, occasion)

    def show_memories_meanwhile(self) -> None:
        """Let them show it at a moment at which they may have work to do (``RememberedMeanwhile``)."""
        for broker, controller in self._running() if self.trace.shows(RememberedMeanwhile) else ():
            broker_memories.show_meanwhile(broker)
            controller_memories.show_meanwhile(controller, broker.process)

    def _running(self) -> Iterator[tuple[Broker, Controller]]:
        """The brokers that run, each with the controller that it hosts."""
        for id, broker in self.brokers.items():
            process = self.nodes[id].process
            if process is not None and process.alive and not process.suspended and broker.started:
                yield broker, self.controllers[id]

    # -- brokers ----------------------------------------------------------------------------------------------------

    def start_broker(self, id: int) -> None:
        """Start a new incarnation on a machine where none runs. If a broker is shutting down there, it is started after
        its end."""
        if id in self._stopping:
            self._stopping[id] = True
            return
        node = self.nodes[id]
        spec = evolve(self.setup.broker, zk=self.setup.zk, rack=self.setup.rack_of.get(id))
        broker = self.brokers[id] = Broker(self.network, spec, self._controller)
        node.on_halt = partial(self.crash_broker, id)
        phase_us = self._drawn_phase(
            f"{node.name}.{node.incarnations}", STARTING_US if node.incarnations else UP_BEFORE_US
        )
        node.start(broker.main, phase_us)
        self.trace.emit(NodeStarted, id, node.incarnations)

    def crash_broker(self, id: int, kind: CrashKind = "process") -> None:
        """Kill a broker's process (``host``: with its machine). Does nothing if none runs."""
        node = self.nodes[id]
        if node.running:
            self.trace.emit(NodeCrashed, id, node.incarnations, kind)
            node.crash(kind)
            # In an event of its own: what has crashed the broker may be in the middle of one of its transitions.
            dead = node.process, self.brokers[id], self.controllers.get(id)
            self.world.call_at(self.world.now, _forget, dead, background=True)
            if self._stopping.pop(id, False):
                self.start_broker(id)

    def failed(self, process: Process) -> None:
        """End a process after an exception. A broker, a producer or a consumer can be started again as after a crash;
        everything else is started at once, since no action could."""
        node = process.node
        if node.id in self.nodes:
            self.crash_broker(node.id)
        elif node.id == ZOOKEEPER:
            self.zookeeper.stop()
            self.zookeeper.start_again()
        elif node.id in self._programs:
            self.crash_client(node.id)
            if node.id <= FIRST_CLIENT:
                self.start_client(node.id)
        else:
            node.crash()
            node.start(self.operator.main)

    def stop_broker(self, id: int) -> None:
        """Stop a broker cleanly: its logs are flushed, its session is closed."""
        node = self.nodes[id]
        if node.running:
            self.brokers[id].stop()
            self.crash_broker(id, "stop")

    def shut_down_broker(self, id: int) -> None:
        """Shut a broker down as SIGTERM does: the controller moves its leaderships, then it stops. One that is still
        starting ends at once, as Kafka's does."""
        node, broker = self.nodes[id], self.brokers[id]
        if not broker.started:
            self.crash_broker(id)
        elif node.running and id not in self._stopping:
            self._stopping[id] = False
            broker.process.spawn(self._shut_down, id, name="controlled shutdown")

    async def _shut_down(self, id: int) -> None:
        broker = self.brokers[id]
        await broker.shut_down()
        if broker.process.alive:  # else it was killed in this instant, and another incarnation may have been started
            self.stop_broker(id)

    def forget_start(self, id: int) -> None:
        """Do not start a broker after its shutdown, if it was to be started."""
        if id in self._stopping:
            self._stopping[id] = False

    def is_stopping(self, id: int) -> bool:
        """Whether the broker is in its controlled shutdown."""
        return id in self._stopping

    def _controller(
        self, process: Process, zk: ZkClient, register: Callable[[], Awaitable[int]], serve: Serve
    ) -> Controller:
        controller = Controller(process, self.network, zk, self.gates, self.setup.controller, register, serve)
        self.controllers[controller.id] = controller
        return controller

    # -- clients ----------------------------------------------------------------------------------------------------

    def start_producer(self, workload: Workload) -> Node:
        """Start one more producer, on a machine of its own, which is returned."""
        from scenarios.cluster.clients.producer import Producer

        node, first_id = self.producer_machine(workload.name)
        brokers, own = self.setup.brokers, list[Producer]()

        def started(producer: Producer) -> None:
            own.append(producer)
            self._producers.append(producer)

        def start() -> None:
            next_id = own[-1].next_id if own else first_id
            node.start(partial(Producer.main, self.network, workload, brokers, next_id, started))

        def crash() -> None:
            if own:
                own[-1].record_unfinished()
            node.crash()

        self._programs[node.id] = start, crash
        start()
        return node

    @property
    def producers(self) -> list[Producer]:
        return [producer for producer in self._producers if producer.alive]

    @property
    def consumers(self) -> list[Consumer]:
        return [consumer for consumer in self._readers if consumer.alive]

    def awaits_answer(self, before_us: int) -> bool:
        """Whether a producer waits for the response to a request that it sent before that time."""
        return any(producer.awaits_answer(before_us) for producer in self._producers)

    def unfinished_batches(self, before_us: int) -> int:
        """The number of batches that producers closed before that time and that are neither acknowledged nor failed."""
        return sum(producer.unfinished(before_us) for producer in self._producers)

    def producer_machine(self, name: str = "") -> tuple[Node, int]:
        """The machine of one more producer, on which nothing runs yet, and the id of the producer's first batch."""
        number = self._producer_machines
        self._producer_machines += 1
        return self._client(FIRST_PRODUCER - number, f"producer-{number}", name), number * IDS_PER_PRODUCER + 1

    def start_consumer(self, consumption: Consumption) -> Node:
        """Start one more consumer, on a machine of its own, which is returned."""
        from scenarios.cluster.clients.consumer import Consumer

        number = self._consumers
        self._consumers += 1
        node = self._client(FIRST_CONSUMER - number, f"consumer-{number}", consumption.name)
        brokers, own = self.setup.brokers, list[Consumer]()

        def started(consumer: Consumer) -> None:
            own.append(consumer)
            self._readers.append(consumer)

        def start() -> None:
            positions = own[-1].positions() if own else {}
            node.start(partial(Consumer.main, self.network, consumption, brokers, positions, started))

        self._programs[node.id] = start, node.crash
        start()
        return node

    def start_own_client(self, behaviour: Behaviour) -> Node:
        """Start one more client of a plug-in, on a machine of its own, which is returned."""
        from scenarios.cluster.clients.own_client import OwnClient

        node, first_id = self.producer_machine(behaviour.name)
        brokers, own = self.setup.brokers, list[OwnClient]()

        def start() -> None:
            next_id = own[-1].next_id if own else first_id
            node.start(partial(OwnClient.main, self.network, behaviour, brokers, next_id, own.append))

        self._programs[node.id] = start, node.crash
        start()
        return node

    def start_outside_client(self, name: str) -> Node:
        """Start the machine of one more client whose program runs outside the world, and return the machine. Its
        messages take no time unless a fault delays them."""
        number = self._outside_clients
        self._outside_clients += 1
        node = self._client(FIRST_CLIENT - number, f"client-{number}", name)
        for broker in self.nodes:
            for ends in ((node.id, broker), (broker, node.id)):
                self.network.route(*ends).set_delay(NO_DELAY)

        def start() -> None:
            node.start(_outside)

        self._programs[node.id] = start, node.crash
        start()
        return node

    def crash_client(self, id: int) -> None:
        """Kill a producer's or a consumer's process; batches that wait in it are lost. Does nothing if none runs."""
        if self.network.nodes[id].running:
            self._programs[id][1]()

    def start_client(self, id: int) -> None:
        """Start a client again: a producer with an empty buffer, a consumer where its application was."""
        self._programs[id][0]()

    def _client(self, id: int, machine: str, name: str) -> Node:
        self.clients[id] = name
        return self._node(id, machine)

    async def operate(self, command: Callable[..., Awaitable[object]], *args: object) -> Any:
        """Let the operator run ``command``, wait until it ends, and return what it returns."""
        done = Signal(self.world, f"operator's {command.__name__}")
        self.operator.begin(command, *args, done=done.set)
        return await done.wait()


async def _outside(_process: Process) -> None:
    """Do nothing: the process of a client that runs outside acts when a message comes from there."""


def _forget(dead: tuple[Process, Broker, Controller | None]) -> None:
    """Free the memory of a broker's process that has ended. In a large cluster that is a tenth of all memory, and more
    where it was the controller's."""
    process, broker, controller = dead
    broker.forget()
    if controller is not None and controller.process is process:
        controller.context.reset()
