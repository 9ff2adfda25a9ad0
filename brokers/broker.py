"""The broker process: one ZooKeeper session, one listener, one registration (KafkaServer.startup, 2.3).

It also hosts a controller, and only knows how to start it: the two communicate by messages and through ZooKeeper.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from attrs import define, field, frozen

from brokers.broker_policies import BrokerPolicies
from brokers.controlled_shutdown import ControlledShutdown
from brokers.dynamic_config import OF_CLIENTS, DynamicConfigManager
from brokers.groups.config import GROUP_METADATA_TOPIC
from brokers.groups.part import GroupsPart
from brokers.metadata_cache import MetadataCache
from brokers.partition.isr import AlterIsrManager, ByController
from brokers.replica_manager import ReplicaManager
from brokers.replica_manager.alter_isr import DefaultAlterIsrManager
from brokers.requests.client_metadata import MetadataHandler
from brokers.requests.control import ControlHandler
from brokers.requests.fetch import FetchHandler
from brokers.requests.handler_pool import RequestHandlerPool
from brokers.requests.lock_waits import LockWaits
from brokers.requests.log_dirs import LogDirsHandler
from brokers.requests.offsets import OffsetsHandler
from brokers.requests.produce import ProduceHandler
from brokers.requests.producer_ids import ControllersProducerIds, ProducerIds
from brokers.requests.router import Handle, Router, handles
from brokers.to_controller import BrokerToControllerChannel
from brokers.topic_creation import AdminZkClient
from brokers.transactions.config import TRANSACTION_STATE_TOPIC
from brokers.transactions.part import TransactionsPart
from emulator.logger import get_logger
from emulator.network import Channel, Client, Network, Server, serve
from emulator.nodes import Process
from emulator.protocol.address import LISTENER
from emulator.protocol.api import AbstractControlRequest, Request
from emulator.protocol.api_versions import ApiVersionsRequest, ApiVersionsResponse
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.events import BrokerRegistered
from emulator.protocol.shown import SettingsTaken
from emulator.protocol.znodes import (
    ALL_BROKERS,
    PERSISTENT_PATHS,
    broker_entity,
    broker_path,
    decode_topic,
    encode_broker,
    topic_path,
)
from emulator.zookeeper import NodeExists, NoNode, SessionExpired, Stat, ZkClient, ZkSpec
from fetchers.endpoints import ReplicaFetcherBlockingSend
from fetchers.manager import ReplicaFetcherManager
from fetchers.policies import FetcherPolicies
from fetchers.quota import QuotaManagers

if TYPE_CHECKING:
    from brokers.client_quotas import ClientQuotas
    from brokers.config_def import ServerProperties
    from brokers.controller_mutations import ControllerMutationQuota
    from brokers.coordinators.find import CoordinatorStore
    from emulator.protocol.mutating_client import MutatingClient

REGISTRATION_RETRY_US = 1_000_000


class ControllerPart(Protocol):
    """The controller of a broker process, as the process sees it."""

    @property
    def is_active(self) -> bool: ...

    @property
    def deletes_topics(self) -> bool: ...

    def is_deleting(self, topic: str) -> bool: ...

    def topic_of(self, topic_id: str) -> str: ...

    def start(self) -> None: ...

    def configured(self, entity: str, config: Mapping[str, str]) -> None: ...


Serve = Callable[[type[Request], Handle], None]
MakeController = Callable[[Process, ZkClient, Callable[[], Awaitable[int]], Serve], ControllerPart]
"""Creates the controller. Arguments: the process, its ZooKeeper session, a function that registers the broker again,
and one that subscribes to the requests of a class."""


@frozen
class BrokerSpec:
    """The configuration of a broker.

    Attributes:
        topic_version: the version of the topics' znodes that it writes: that of its release's controllers.
        server: returns the settings with which it is started, as clients see them.
        any_move_forbids_expansion: whether no topic gets more partitions while a partition of any topic is moved.
    """

    policies: BrokerPolicies = field(factory=BrokerPolicies)
    fetchers: FetcherPolicies = field(factory=FetcherPolicies)
    zk: ZkSpec = field(factory=ZkSpec)
    rack: str | None = None
    topic_version: int = 1
    server: "Callable[[], ServerProperties]" = field(default=dict)
    any_move_forbids_expansion: bool = True


@define(eq=False)
class Broker:
    """One incarnation of a broker. ``main`` is what its process runs.

    Attributes:
        admin_zk: the broker's way to create topics in ZooKeeper.
        server: its listener, with the open connections.
    """

    network: Network
    spec: BrokerSpec
    make_controller: MakeController
    process: Process = field(init=False)
    zk: ZkClient = field(init=False)
    admin_zk: AdminZkClient = field(init=False)
    replicas: ReplicaManager = field(init=False)
    quotas: QuotaManagers = field(init=False)
    client_quotas: "ClientQuotas | None" = None
    control: ControlHandler = field(init=False)
    controller: ControllerPart = field(init=False)
    groups: GroupsPart = field(init=False)
    transactions: TransactionsPart = field(init=False)
    settings: DynamicConfigManager = field(init=False)
    started: bool = False
    server: Server = field(init=False)
    _requests: Router = field(init=False)
    _layers: dict[str, Mapping[str, str]] = field(factory=dict)
    """The dynamic settings of all brokers, and this broker's own."""

    @property
    def begun_replicas(self) -> ReplicaManager | None:
        """The broker's replicas; None before its process has begun to run."""
        return getattr(self, "replicas", None)

    async def main(self, process: Process) -> None:
        """Connect, listen, register, start the controller, read the settings. After that all work is done by events.

        Requests wait until the settings are read, so that no follower begins to fetch before its broker knows the
        throttles (KafkaServer.startup, 1.1 to 2.7; 0.9 to 1.0 registered last).
        """
        self.process = process
        process.metrics.lacks = self.spec.policies.lacks_metrics
        self.zk = zk = ZkClient(self.network, process, self.spec.zk)
        self.admin_zk = AdminZkClient(process, zk, self.spec.topic_version, self.spec.policies.admin.refuses_marked)
        config = self.spec.policies.config
        self.quotas = quotas = QuotaManagers.windowed(
            process.node.id, config.replication_quota_window_num, config.replication_quota_window_size_us
        )
        quotas.show(process)
        fetchers = ReplicaFetcherManager(process, self.spec.fetchers, self._connect, quotas.follower)
        metadata = MetadataCache()
        alter_isr: AlterIsrManager | None = None
        isr_writes = self.spec.policies.isr_writes
        if isinstance(isr_writes, ByController):
            channel = BrokerToControllerChannel(process, metadata, self._to_controller)
            alter_isr = DefaultAlterIsrManager(
                process,
                channel.send_request,
                lambda: self.control.broker_epoch,
                isr_writes.at_once,
                isr_writes.awaits_answers,
                isr_writes.asks_again,
            )
        self.replicas = ReplicaManager(
            process, zk, fetchers, self.spec.policies, quotas.leader, quotas.alter_log_dirs, metadata, alter_isr
        )
        self.control = ControlHandler(self.replicas)
        await zk.connect()
        await self._despite_expiries(self._make_paths)
        self._requests = router = self._router()
        self.controller = self.make_controller(process, zk, self.register, router.on)
        router.on_others(lambda: self._add_admin_handlers(router))
        router.hold()
        answered = self.replicas.metrics.rates.answered
        self.server = serve(self.network, process, LISTENER, self._handler(router), answered)
        self.replicas.start()
        self.settings = DynamicConfigManager(process, zk, self._configured)
        await self._despite_expiries(self.register)
        self.controller.start()
        self.settings.start()
        await self._despite_expiries(self._read_settings, zk.wait_until_connected)
        router.open()
        self.started = True

    async def _read_settings(self) -> None:
        """Read the settings, and how many partitions the coordinators' topics have that are there
        (KafkaZkClient.getTopicPartitionCount)."""
        topics = await self.settings.read_all()
        for topic in self.replicas.coordinators:
            if topic in topics:
                with suppress(NoNode):  # it has been deleted since
                    data, _ = await self.zk.get(topic_path(topic))
                    self.replicas.coordinated_partitions[topic] = len(decode_topic(data))

    async def _despite_expiries(
        self, act: Callable[[], Awaitable[object]], again: Callable[[], Awaitable[object]] | None = None
    ) -> None:
        """Perform ``act``, and repeat it in a new session, which ``again`` begins, if the session expires during
        startup. Kafka then exits and its supervisor starts it again. After the controller has started, the controller
        handles expiry itself: it resigns, then registers the broker again."""
        while True:
            try:
                await act()
                return
            except SessionExpired:
                await (again or self.zk.reopen)()

    async def _make_paths(self) -> None:
        for path in PERSISTENT_PATHS:
            if await self.zk.exists(path) is None:
                try:
                    await self.zk.create(path)
                except NodeExists:
                    continue  # another broker was faster

    async def register(self) -> int:
        """Create /brokers/ids/N and return its czxid, the broker epoch (KIP-380).

        If the znode of an earlier incarnation is still there, since its session has not expired, Kafka exits and its
        supervisor starts it again; here the broker retries. An expired session leaves no znodes: this ZooKeeper does
        not have ZOOKEEPER-2985, because of which brokers replace their own znode since 2.2 (KAFKA-7165).
        """
        path = broker_path(self.process.node.id)
        data = encode_broker(self.process.node.id, self.process.clock_us // 1000, self.spec.rack)
        while True:
            with suppress(NodeExists):
                await self.zk.create(path, data, ephemeral=True)
            stat = await self.zk.exists(path)
            if stat is not None and await self._registered(stat, path, data):
                break
            if stat is not None:
                get_logger("brokers").info("an earlier incarnation is still registered", path=path)
                await self.process.world.sleep(REGISTRATION_RETRY_US)
        self.settings.look()
        self.control.broker_epoch = stat.czxid
        self.process.anchor(BrokerRegistered, self.process.node.id, stat.czxid)
        return stat.czxid

    async def _registered(self, found: Stat, path: str, data: str) -> bool:
        """Whether the znode that was found is this incarnation's, of this session.

        Before KAFKA-1387 it was that if it held the same data (ZkUtils.createEphemeralPathExpectConflict, 0.8.2).
        """
        own = found.ephemeral_owner == self.zk.session_id
        return own and (not self.spec.policies.waits_for_own_registration or (await self.zk.get(path))[0] == data)

    def _connect(self, leader: int) -> Client:
        timeout_us = self.spec.fetchers.replica_socket_timeout_us
        wait = self.replicas.logs.work.take_signal
        return ReplicaFetcherBlockingSend(self.network, self.process, leader, LISTENER, timeout_us, take_disk_wait=wait)

    def _to_broker(self, broker: int) -> Client:
        timeout_us = self.spec.policies.config.request_timeout_us
        return Client(self.network, self.process, broker, LISTENER, timeout_us)

    def _to_controller(self, controller: int) -> Client:
        timeout_us = self.spec.policies.config.controller_socket_timeout_us
        return Client(self.network, self.process, controller, LISTENER, timeout_us)

    def _handler(self, router: Router) -> Handle:
        """The first to handle a request: the router, or the threads that wait before it where requests take time."""
        times = self.spec.policies.service
        if times is None:
            return router.handle
        pool = RequestHandlerPool.configured(self.process, router, times, self.spec.policies.config)
        self.replicas.isr_locks.released.append(pool.lock_released)
        return pool.receive

    def _router(self) -> Router:
        manager, produce = self.replicas, ProduceHandler(self.replicas)
        self.groups = groups = GroupsPart(manager, produce)
        manager.coordinators[GROUP_METADATA_TOPIC] = groups
        router = Router(manager.purgatory.complete)
        producer_ids = self._producer_ids()
        self.transactions = transactions = TransactionsPart(manager, produce, groups, producer_ids, self._to_broker)
        manager.coordinators[TRANSACTION_STATE_TOPIC] = transactions
        produce.verify = transactions.verify
        fetch = FetchHandler(manager)
        self._wait_for_locks(router, fetch)
        for handler in (
            produce, transactions, fetch,
            MetadataHandler(manager, self.admin_zk, self._internal_topic), OffsetsHandler(manager), self.control,
            LogDirsHandler(manager), self,
        ):  # fmt: skip
            router.add(handler)
        return router

    def _wait_for_locks(self, router: Router, fetch: FetchHandler) -> None:
        """Let requests wait while leaders here write ISRs to ZooKeeper."""
        policies, locks = self.replicas.policies, self.replicas.isr_locks
        locks.taken.append(fetch.rouse)
        threads, readers_wait = policies.config.num_io_threads, policies.isr_write_holds_readers
        LockWaits(self.process, router, locks, threads, fetch.fetches_any, readers_wait).watch()

    def _producer_ids(self) -> ProducerIds:
        """The source of producer ids: ZooKeeper, or, since KIP-730 (3.0), the controller."""
        if not self.spec.policies.asks_for_producer_ids:
            return ProducerIds(self.process, self.zk, complete=self.replicas.purgatory.complete)
        channel = BrokerToControllerChannel(self.process, self.replicas.metadata, self._to_controller)
        return ControllersProducerIds(
            self.process,
            self.zk,
            complete=self.replicas.purgatory.complete,
            ask=channel.send_request,
            broker_epoch=lambda: self.control.broker_epoch,
            waits=self.spec.policies.producers_wait_for_ids,
        )

    def _add_admin_handlers(self, router: Router) -> None:
        """Add the handlers of requests that only real clients send."""
        from brokers.coordinators.find import CoordinatorFinder
        from brokers.groups.handler import GroupsHandler
        from brokers.requests.admin_configs import ConfigsHandler
        from brokers.requests.admin_topics import TopicsHandler
        from brokers.requests.broker_loggers import BrokerLoggers
        from brokers.requests.client_quotas_handler import ClientQuotasHandler
        from brokers.requests.delete_records import DeleteRecordsHandler
        from brokers.requests.describe_producers import DescribeProducersHandler

        manager, admin_zk = self.replicas, self.admin_zk
        configs = ConfigsHandler(
            self.process, admin_zk, manager.metadata, self.spec.server(), lambda: self._layers,
            self.spec.policies.admin,
            loggers=BrokerLoggers(dict(self.spec.policies.loggers)) if self.spec.policies.loggers else None,
        )  # fmt: skip
        router.add(configs)
        router.add(ClientQuotasHandler(self.process, admin_zk, self.spec.policies.admin))
        router.add(DeleteRecordsHandler(manager))
        router.add(DescribeProducersHandler(manager))
        finder = CoordinatorFinder(self.process, manager.metadata, self._coordinators, admin_zk.create_topic)
        router.add(GroupsHandler(self.groups.coordinator, finder))
        for handler in self.transactions.handlers():
            router.add(handler)
        router.add(
            TopicsHandler(
                self.process, admin_zk, manager.metadata, configs, self.controller, lambda: manager.policies,
                self.spec.any_move_forbids_expansion, self._mutation_quota,
            )
        )  # fmt: skip

    def _mutation_quota(self, client: "MutatingClient | None") -> "ControllerMutationQuota":
        """The quota of a request that changes topics."""
        from brokers.controller_mutations import ControllerMutationQuota

        if client is None or self.client_quotas is None or not self.spec.policies.admin.limits_mutations:
            return ControllerMutationQuota()
        return self.client_quotas.mutations.new_quota_for(client, lambda: self.process.clock_us // 1000)

    def _coordinators(self, type: int) -> "CoordinatorStore | None":
        """The store of the coordinators of this type (``CoordinatorFinder.store_of``)."""
        from emulator.protocol.groups.find_coordinator import CoordinatorType

        if type == CoordinatorType.TRANSACTION:
            return self._internal_topic(TRANSACTION_STATE_TOPIC)
        return self._internal_topic(GROUP_METADATA_TOPIC) if type == CoordinatorType.GROUP else None

    def _internal_topic(self, topic: str) -> "CoordinatorStore | None":
        """The store of the coordinators of ``topic``; None: it is no internal topic."""
        if topic == TRANSACTION_STATE_TOPIC:
            return self.transactions.coordinator.store
        return self.groups.coordinator.store if topic == GROUP_METADATA_TOPIC else None

    @handles(ApiVersionsRequest)
    def _api_versions(self, request: ApiVersionsRequest, channel: Channel) -> None:
        response = ApiVersionsResponse(NO_ERROR if request.known else Errors.UNSUPPORTED_VERSION)
        channel.reply(response, response.size)

    def _configured(self, entity: str, config: Mapping[str, str]) -> None:
        """Take over changed dynamic settings of ``entity``. A broker's own settings override those of all brokers."""
        node = self.process.node
        self.process.parked.rouse()
        if entity.startswith(OF_CLIENTS):
            from brokers.client_quotas import ClientQuotas  # only clusters with real clients have quotas of clients

            self.client_quotas = self.client_quotas or ClientQuotas()
            self.client_quotas.configured(entity, config)
            self.process.show(SettingsTaken, node.id, entity, tuple(config.items()))
            return
        self.quotas.configured(entity, config)
        self.process.show(SettingsTaken, node.id, entity, tuple(config.items()))
        if entity.startswith("brokers/"):
            self._layers[entity] = config
            own = self._layers.get(broker_entity(node.id), {})
            entity, config = ALL_BROKERS, {**self._layers.get(ALL_BROKERS, {}), **own}
            if self.spec.policies.rates_of_all:
                self.quotas.configured(broker_entity(node.id), config)
            self.replicas.fetchers.configured(config)
        self.replicas.configured(entity, config)
        self.controller.configured(entity, config)

    async def shut_down(self) -> None:
        """Do all that comes before ``stop`` when the process is asked to end (KafkaServer.shutdown, 1.1.1 to 3.9): note
        that it is shutting down, ask for a controlled shutdown if that is enabled, and stop handling requests; the
        fetchers go on for a while after that, and so does the controller, if it is this one."""
        self.replicas.shutting_down = True
        policies = self.spec.policies
        config, handle = policies.config, self.server.handle
        after_us = self._draw_last_request_us()
        self.server.handle_by(lambda request, channel: self._handle_late(request, channel, handle, after_us))
        if config.controlled_shutdown_enable:
            await ControlledShutdown(
                self.process,
                self.zk,
                config,
                self._to_broker,
                lambda: self.control.broker_epoch,
                self.replicas.metadata if policies.shuts_down_by_metadata else None,
            ).ask()
        await self.process.world.sleep(policies.last_requests_us)
        self._stop_handling_requests()
        await self.process.world.sleep(policies.last_fetches_us)

    def _draw_last_request_us(self) -> int:
        """The time that each control request takes in this shutdown: such that ``last_requests_us`` are enough for 0.3
        to 9 of them, each number as likely as any other."""
        hundredths = 30 + self.process.world.stream("last requests", self.process.node.id).below(870)
        return self.spec.policies.last_requests_us * 100 // hundredths

    def _handle_late(self, request: Request, channel: Channel, handle: Handle, after_us: int) -> None:
        """Handle a request; one of a controller takes ``after_us``."""
        if not isinstance(request, AbstractControlRequest):
            handle(request, channel)
            return

        trace = self.process.node.trace
        cause = trace.cause

        def late(_: None) -> None:
            if not channel.endpoint.done:
                trace.cause = cause
                handle(request, channel)

        self.process.call_later(after_us, late, background=False)

    def _stop_handling_requests(self) -> None:
        """Stop the socket server, the request handlers and the scheduler."""
        self.server.close()
        self._requests.close()
        self.transactions.stop()
        self.replicas.stop()

    def stop(self) -> None:
        """Stop cleanly, without controlled shutdown: flush the logs, write the high watermarks, close the session."""
        self.replicas.close()
        self.zk.close()

    def forget(self) -> None:
        """Free the state of partitions, because the process has ended. It must not run any more."""
        replicas = self.begun_replicas
        if replicas is not None:
            replicas.forget()
