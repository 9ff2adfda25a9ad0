"""A live run from its scenario to its verdict: the cluster in its world, the gateway, and the sockets beside it."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import trio
from attrs import define, field, frozen

from emulator.kernel import WorldClock
from emulator.kernel.live import LiveWorld
from emulator.zookeeper import ZOOKEEPER
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.runs.run import Run
from scenarios.runs.runner import conclude, prepare
from scenarios.wire.apis.base import Address
from scenarios.wire.gateway.control_server import ControlServer
from scenarios.wire.gateway.gateway import Gateway
from scenarios.wire.gateway.outlet import Outlets
from scenarios.wire.gateway.pending_operations import PendingOperations
from scenarios.wire.gateway.readiness import Readiness
from scenarios.wire.gateway.sockets import Sockets, check_can_serve
from scenarios.wire.inputs import Operation
from scenarios.wire.listener_addresses import check_advertised, ports_of
from scenarios.wire.live_inputs import LiveInputs
from scenarios.wire.live_stage import LiveStage
from scenarios.wire.operations.performing import ACTION, Operations
from scenarios.wire.operations.run_operations import STOP
from scenarios.wire.released_versions import is_release
from scenarios.wire.served import served_cluster
from scenarios.wire.versions import release_of

if TYPE_CHECKING:
    from scenarios.wire.gateway.http_control import HttpControl
    from scenarios.wire.gateway.security_setup import SecuritySetup
    from scenarios.wire.recording.folder import LiveRecording
    from scenarios.wire.security.listener_options import SecurityOptions
    from scenarios.wire.security.secured_as import SecuredAs

LOOPBACK = "127.0.0.1"


@frozen(kw_only=True)
class ServeOptions:
    """The way a cluster is served.

    Attributes:
        host: the address of the listeners.
        advertised_host: the host that brokers give to clients (advertised.listeners); None: ``host``.
        advertised: the address that each broker gives to clients, where it is not its port at ``advertised_host``, as
            behind a proxy or a mapping of ports; empty: it is.
        port: the port of the first broker, after which the others have theirs in the order of their ids, or a port for
            each; None: any free ports.
        zookeeper_port: the port of ZooKeeper; None: any free port.
        rate: virtual seconds for each second.
        api_versions: the release whose versions of APIs brokers announce; None: that of the profile.
        control_port: the port of this machine at which operations are taken over HTTP; 0: any free one; None: none.
        ready_file: written once clients can connect: JSON with the bootstrap servers, ZooKeeper and the control socket.
        record: the new folder that the run is written to, for ``replay``.
        security: the listeners beside PLAINTEXT; None: there are none.
    """

    host: str = LOOPBACK
    advertised_host: str | None = None
    advertised: tuple[Address, ...] = ()
    port: int | tuple[int, ...] | None = None
    zookeeper_port: int | None = None
    rate: float = 1.0
    api_versions: str | None = None
    control_port: int | None = None
    ready_file: Path | None = None
    record: Path | None = None
    security: SecurityOptions | None = None


@define(eq=False)
class LiveRun:
    """One live run.

    Attributes:
        scenario: the scenario as it was read.
        log: called with a line for each thing that a person may want to know.
        on_ready: called when clients can connect.
        changes: the changes of ``scenario`` from its file.
        control: the path of the socket for operations (``scenarios.wire.gateway.control_server``).
        http: takes operations over HTTP; None: nothing does.
    """

    scenario: Scenario
    options: ServeOptions = field(factory=ServeOptions)
    log: Callable[[str], object] = lambda _: None
    on_ready: Callable[[LiveRun], object] = lambda _: None
    changes: Sequence[tuple[str, str]] = ()
    inputs: LiveInputs = field(init=False)
    stage: LiveStage = field(init=False)
    sockets: Sockets = field(init=False)
    gateway: Gateway = field(init=False)
    control: str = field(init=False)
    http: HttpControl | None = None
    _ports: dict[int, int] = field(init=False)
    """The port of each broker, 0 for any free one."""
    _recording: LiveRecording | None = field(init=False)
    _security: SecuritySetup | None = field(init=False, default=None)
    _operations: int = 0

    def __attrs_post_init__(self) -> None:
        brokers = self.scenario.cluster.brokers
        security = self.options.security
        check_can_serve(brokers, 1 if security is None else 1 + len(security.listeners))
        if security is not None:
            security.ports(brokers)
        self._ports = dict(zip(self.scenario.cluster.ids, ports_of(self.options.port, brokers), strict=True))
        check_advertised(self.options.advertised, brokers)
        folder = self.options.record
        self._recording = None
        if folder is not None:
            from scenarios.wire.recording.folder import LiveRecording

            self._recording = LiveRecording(folder)
        self.inputs = LiveInputs(self.options.rate, self._recording)
        self.stage = LiveStage(prepare(self.scenario), inputs=self.inputs, ready=self._ready, log=self.log)

    @property
    def bootstrap_servers(self) -> str:
        """The addresses of the brokers, written as the setting bootstrap.servers of a client."""
        return ",".join(f"{host}:{port}" for host, port in self.broker_addresses.values())

    @property
    def zookeeper_connect(self) -> str:
        """The address of ZooKeeper, written as the setting zookeeper.connect of a tool."""
        host, port = self.sockets.addresses[ZOOKEEPER]
        return f"{host}:{port}"

    @property
    def broker_addresses(self) -> dict[int, Address]:
        """The address at which clients reach each broker."""
        return {broker: address for broker, address in self.sockets.addresses.items() if broker != ZOOKEEPER}

    @property
    def secured_servers(self) -> dict[str, str]:
        """The value of bootstrap.servers for each listener beside PLAINTEXT, by its security protocol."""
        listeners = () if self._security is None else self._security.listeners
        return {
            each.protocol: ",".join(f"{host}:{port}" for host, port in each.addresses.values()) for each in listeners
        }

    @property
    def certificates(self) -> Path | None:
        """The folder with the authority that clients trust, ``ca.pem``; None: no listener has TLS."""
        return None if self._security is None else self._security.certificates

    @property
    def _listens(self) -> dict[int, Address]:
        """The address at which each broker, and ZooKeeper, listens."""
        return {each: (self.options.host, port) for each, port in self.sockets.ports.items()}

    def play(self) -> Run:
        """Serve until the run is stopped, and judge it. Raises: BadInput where a port is not available."""
        began = time.perf_counter()
        recording, options = self._recording, self.options
        try:
            if options.security is not None:
                from scenarios.wire.gateway.security_setup import SecuritySetup

                hosts = (options.host, options.advertised_host or "")
                self._security = SecuritySetup(options.security, tuple(self._ports), hosts)
            with self.stage.judged():
                clock = WorldClock(self.stage.world)
                trio.run(self._main, clock=clock, restrict_keyboard_interrupt_to_checkpoints=True)
            replay = "" if recording is None else recording.replay
            run, _ = conclude(self.stage, self.scenario, time.perf_counter() - began, self.changes, replay)
            if recording is not None:
                recording.end(self.stage.world.now, run.digest)
        finally:
            if recording is not None:
                recording.close()
            if self._security is not None:
                self._security.close()
        return run

    def operate(self, text: str) -> int:
        """Let an operation enter the world: a JSON object in one line. Returns its number. Trio's thread only."""
        self._operations += 1
        self.inputs.put(Operation(text, self._operations))
        return self._operations

    async def _main(self) -> None:
        world, cluster = self.stage.world, self.stage.cluster
        assert isinstance(world, LiveWorld)
        failures: list[BaseException] = []
        control: ControlServer | None = None
        readiness = Readiness()
        world.pause = readiness.pause
        async with trio.open_nursery() as outside:
            options = self.options
            advertised = options.advertised_host or options.host
            outside.start_soon(readiness.serve)
            self.sockets = Sockets(
                self.inputs, readiness, options.host, advertised, self.log, len(self._ports),
                dict(zip(self._ports, options.advertised, strict=False)),
                secured=() if self._security is None else self._security.listeners,
            )  # fmt: skip
            try:
                self.sockets.reserve({**self._ports, ZOOKEEPER: options.zookeeper_port or 0})
                pending = PendingOperations(world, self.operate)
                control = ControlServer(pending, self.log)
                outside.start_soon(control.serve)
                self.control = control.path
                if options.control_port is not None:
                    from scenarios.wire.gateway.http_control import HttpControl  # not every cluster needs HTTP

                    self.http = HttpControl(options.control_port, pending, self.log)
                    outside.start_soon(self.http.serve)
                operations = Operations(self.stage, pending.answered)
                addresses, versions = self.broker_addresses, self._api_versions()
                secured = self._served_as
                served = served_cluster(self.stage, addresses, versions, self._listens, secured)
                cluster.epoch_us = time.time_ns() // 1000
                outlets: Outlets = self.sockets
                if self._recording is not None:
                    from scenarios.wire.recording.folder import ServedAs

                    as_served = ServedAs(
                        addresses=addresses, api_versions=versions, listens=self._listens, clock_us=cluster.epoch_us,
                        secured=secured,
                    )  # fmt: skip
                    outlets = self._recording.begin(self.stage.scenario, as_served, outlets)
                self.gateway = Gateway(cluster, served, outlets, operations.perform, self.log, self.stage.defect)
                self.inputs.perform = self.gateway.perform
                if threading.current_thread() is threading.main_thread():
                    await outside.start(self._watch_signals)
                await world.main(cluster.run, self.stage.drive)
                if self.http is not None:
                    await self.http.finish()
            except Exception as error:
                failures.append(error)  # outside the nursery, which would put it into a group
            finally:
                self.sockets.close()
                for door in (control, self.http):
                    if door is not None:
                        door.close()
                outside.cancel_scope.cancel()
        readiness.close()
        for failure in failures:
            raise failure

    @property
    def _served_as(self) -> SecuredAs | None:
        return None if self._security is None else self._security.served_as

    def _api_versions(self) -> str:
        """The release whose versions of APIs brokers announce."""
        own = self.stage.cluster.setup.broker.policies.api_versions
        found = self.options.api_versions or release_of(own)
        if not is_release(own) and self.options.api_versions is None:
            self.log(f"Kafka {own} announces no API versions: brokers announce those of {found} (--api-versions)")
        return found

    def _ready(self) -> None:
        """Let time follow the clock, and clients connect: the cluster is up."""
        world = self.stage.world
        assert isinstance(world, LiveWorld)
        self.inputs.begin(world.now)
        world.horizon_moved()
        self.gateway.open()
        if self.options.ready_file is not None:
            self._write_ready_file(self.options.ready_file)
        self.on_ready(self)

    def _write_ready_file(self, path: Path) -> None:
        """Write the ready file whole: a program that waits for it can read it as soon as it exists."""
        found = {"bootstrap_servers": self.bootstrap_servers, "zookeeper_connect": self.zookeeper_connect}
        found |= {"control": self.control}
        if self.http is not None:
            found |= {"control_url": self.http.url, "control_token": self.http.token}
        more: dict[str, object] = {"listeners": self.secured_servers} if self._security is not None else {}
        if self.certificates is not None:
            more["certificates"] = str(self.certificates.absolute())
        text = json.dumps({**found, "pid": os.getpid(), **more})
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            unfinished.write_text(text + "\n", encoding="utf-8")
            unfinished.replace(path)
        except OSError as error:
            raise BadInput(
                f"{path} cannot be written ({error.strerror}); name another file", where="--ready-file"
            ) from error

    async def _watch_signals(self, task_status: trio.TaskStatus[None]) -> None:
        """End the run in the world on Ctrl-C or SIGTERM; the second Ctrl-C ends the process."""
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            task_status.started()
            async for _ in signals:
                self.operate(json.dumps({ACTION: STOP}))
                return
