"""An emulated cluster for real clients in a test, on sockets of this machine."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from attrs import define, field

from scenarios.errors import BadInput, did_you_mean
from scenarios.language import Scenario
from scenarios.runs.known_findings import fails
from scenarios.runs.run import Run
from scenarios.testing.cluster_from_keywords import Topics, scenario_of
from scenarios.testing.request_fault_handle import RequestFaultHandle
from scenarios.testing.verdict import KnownFinding, warn_of
from scenarios.testing.virtual_time import NotInTime
from scenarios.wire.apis.base import Address
from scenarios.wire.asking import ask
from scenarios.wire.inputs import PLAINTEXT
from scenarios.wire.listener_addresses import advertised_of
from scenarios.wire.released_versions import is_release
from scenarios.wire.served import PROFILE
from scenarios.wire.serving import LiveRun, ServeOptions
from scenarios.wire.versions import known_releases

if TYPE_CHECKING:
    from scenarios.wire.security.listener_options import SecurityOptions

READY_S = 60.0
"""The longest wait for a cluster, which is ready in much less, even on a busy machine."""
LOOK_S = 0.02


@define(eq=False)
class KafkaServer:
    """A served cluster, for ``with`` and for asyncio's ``async with``. Inside the context it runs in a thread of its
    own; its time follows the clock.

    Attributes:
        recording: the folder that the run is recorded in (``understudy replay``).
        keep: whether that folder stays where nothing has failed.
        run: the judged run; set once the context has ended.
    """

    scenario: Scenario
    rate: float = 1.0
    port: int | tuple[int, ...] | None = None
    recording: Path | None = None
    zookeeper_port: int | None = None
    api_versions: str | None = None
    keep: bool = False
    advertised: tuple[Address, ...] = ()
    security: SecurityOptions | None = None
    run: Run | None = None
    _live: LiveRun | None = None
    _thread: threading.Thread | None = None
    _failure: list[BaseException] = field(factory=list)
    _faults: int = 0

    @property
    def bootstrap_servers(self) -> str:
        """The addresses of the brokers, for a client's ``bootstrap.servers``."""
        return self._serving.bootstrap_servers

    @property
    def zookeeper_connect(self) -> str:
        """The address of ZooKeeper, for ``--zookeeper`` of the tools of its era."""
        return self._serving.zookeeper_connect

    def servers(self, protocol: str) -> str:
        """The addresses of the brokers at a listener: ``servers("SASL_SSL")``, for a client's ``bootstrap.servers``."""
        found = {PLAINTEXT: self.bootstrap_servers, **self._serving.secured_servers}
        if protocol not in found:
            raise BadInput(f"no listener has {protocol!r}; {did_you_mean(protocol, found)}")
        return found[protocol]

    @property
    def certificates(self) -> Path:
        """The folder of the certificates: ``ca.pem`` for a client's ``ssl.ca.location``, and where they were made
        ``client.pem`` and ``client.key``."""
        found = self._serving.certificates
        if found is None:
            raise BadInput('no listener has TLS; add listeners=["SSL"]')
        return found

    # -- faults and questions -----------------------------------------------------------------------------------------

    def act(self, action: str, target: int | str | Sequence[int] | None = None, **keys: object) -> dict[str, Any]:
        """Perform an action of the scenario files (``understudy list actions``): ``act("broker.pause", 1,
        duration="30s")``. With ``at``, ``after`` or ``when`` it waits for its trigger. Returns what was done.

        Raises: BadInput with what is wrong with it.
        """
        asked = {"action": action, **({} if target is None else {"target": target}), **keys}
        answer = ask(self._serving.control, asked)
        if "error" in answer:
            raise BadInput(str(answer["error"]))
        return answer

    def crash(self, target: int | str) -> None:
        """Kill a broker's process: ``crash(2)``, ``crash("leader(orders-0)")``, ``crash("controller")``."""
        self.act("broker.crash", target)

    def start(self, target: int | str) -> None:
        """Start a broker that has crashed."""
        self.act("broker.start", target)

    def fault(self, action: str, api: str, **keys: object) -> RequestFaultHandle:
        """Let requests of real clients go wrong: ``fault("request.fail", "Produce", error="NOT_ENOUGH_REPLICAS",
        client="billing", occurrence=3)``; also ``request.drop``, ``request.delay`` and ``request.silence``.

        Raises: BadInput with what is wrong with it.
        """
        self._faults += 1
        name = str(keys.pop("fault", f"fault {self._faults}"))
        self.act(action, None, api=api, fault=name, **keys)
        return RequestFaultHandle(name, self.act)

    def reassign(self, partition: str, replicas: Sequence[int]) -> None:
        """Begin to move a partition to these brokers."""
        topic, _, number = partition.rpartition("-")
        move = {"topic": topic, "partition": int(number), "replicas": list(replicas)}
        self.act("reassign.execute", plan={"partitions": [move]})

    def state(self, partition: str) -> dict[str, Any]:
        """The state of a partition such as ``"orders-0"``: ``leader``, ``leader_epoch``, ``isr``, ``replicas``,
        ``logs``; during a move also ``adding`` and ``removing``."""
        [found] = self.act("state", partition=partition)["partitions"]
        return dict(found)

    def until(self, holds: Callable[[], bool], within_s: float = 30.0) -> None:
        """Wait until ``holds()``, in real time. Raises: NotInTime."""
        late_s = time.monotonic() + within_s
        while not holds():
            if time.monotonic() > late_s:
                raise NotInTime(f"not in {within_s:g} s")
            time.sleep(LOOK_S)

    # -- the context --------------------------------------------------------------------------------------------------

    def begin(self) -> KafkaServer:
        """Start to serve. Raises: BadInput where a port is taken."""
        if self.recording is None:
            self.recording = Path(tempfile.mkdtemp(prefix="understudy-live-"))
        ready = threading.Event()
        options = ServeOptions(
            rate=self.rate, port=self.port, zookeeper_port=self.zookeeper_port, record=self.recording,
            api_versions=self.api_versions, advertised=self.advertised, security=self.security,
        )  # fmt: skip
        self._live = live = LiveRun(self.scenario, options, on_ready=lambda _: ready.set())

        def play() -> None:
            try:
                self.run = live.play()
            except BaseException as error:
                self._failure.append(error)
            finally:
                ready.set()

        self._thread = threading.Thread(target=play, name="understudy", daemon=True)
        self._thread.start()
        if not ready.wait(READY_S):
            raise NotInTime(f"the cluster is not ready in {READY_S:g} s")
        self._raise_failure()
        return self

    def end(self) -> Run:
        """Stop, judge the run, and leave nothing behind unless it is to be kept. Warns (``KnownFinding``) of findings
        that the release's known behaviour explains.

        Raises: AssertionError where it broke an invariant for any other reason, or an expectation.
        """
        assert self._thread is not None
        if self._thread.is_alive():
            ask(self._serving.control, {"action": "stop"})
        self._thread.join()
        self._raise_failure()
        run = self.run
        assert run is not None
        assert not fails(run), "\n".join(filter(None, (run.explanation, run.replay)))
        if not self.keep and self.recording is not None:
            shutil.rmtree(self.recording, ignore_errors=True)
        warn_of(KnownFinding.of(run.profile, run.known), stacklevel=2)
        return run

    def __enter__(self) -> KafkaServer:
        return self.begin()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.keep = self.keep or error is not None
        try:
            self.end()
        except AssertionError as broken:
            if error is None:
                raise
            error.add_note(str(broken))
        if error is not None and self.run is not None and self.run.replay:
            error.add_note(f"what the cluster did: {self.run.replay}")

    async def __aenter__(self) -> KafkaServer:
        return await asyncio.to_thread(self.begin)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.__exit__, kind, error, traceback)

    @property
    def _serving(self) -> LiveRun:
        if self._live is None:
            raise RuntimeError("the cluster is not served yet: use it in a with statement")
        return self._live

    def _raise_failure(self) -> None:
        for failure in self._failure:
            raise failure


def kafka(
    brokers: int | Sequence[int] = 3,
    topics: Topics | None = None,
    *,
    scenario: str | Path | None = None,
    seed: int | None = None,
    rate: float = 1.0,
    port: int | Sequence[int] | None = None,
    advertised: Sequence[str] | None = None,
    record: str | Path | None = None,
    zookeeper_port: int | None = None,
    api_versions: str | None = None,
    listeners: Sequence[str] = (),
    users: Mapping[str, str] | str | Path | None = None,
    tls: str | Path | None = None,
    tls_client_auth: str | None = None,
    **more: Any,
) -> KafkaServer:
    """A cluster that real clients attach to: ``with kafka(topics={"orders": [[0, 1, 2]]}) as server:``.

    Args:
        brokers, topics, more: as for ``understudy.testing.cluster``, with ``kafka-2.7`` where no profile is named.
        scenario: a scenario file instead; its method runs against the live cluster.
        rate: virtual seconds for each second.
        port: the port of the first broker, the others have those after it; or one for each; None: any free ports.
        advertised: the address of each broker that clients are given, such as ``"localhost:19092"``, where they reach
            it through a proxy; None: its own.
        record: the new folder to record the run in; None: one in the folder for temporary files, which stays only
            where the test, or the run, has failed.
        zookeeper_port: the port of ZooKeeper; None: any free port.
        api_versions: the release whose versions of APIs brokers announce, such as ``"3.0"``; None: the profile's.
        listeners: those of each broker beside PLAINTEXT: ``"SSL"``, ``"SASL_PLAINTEXT"``, ``"SASL_SSL"``, each with a
            port as in ``"SASL_SSL:9192"`` or at any free one.
        users: who may log in with SASL: passwords by name, a TOML file of them, or ``"any"``.
        tls: the folder of the certificates, made where it is new or empty; None: they are made, and removed at the end.
        tls_client_auth: whether clients show one: ``"none"``, ``"requested"``, ``"required"``; None: none.

    Raises: BadInput.
    """
    if scenario is not None:
        given: Mapping[str, object] = {**more, **({"topics": topics} if topics else {})}
        if given:
            raise BadInput(f"a scenario file has its own {', '.join(given)}; give one or the other")
        found = Scenario.load(scenario, profile=PROFILE)
    else:
        found = scenario_of(brokers, topics, **{"profile": PROFILE, **more})
    if api_versions is not None and not is_release(api_versions):
        raise BadInput(f"{api_versions!r} is no release with versions of APIs; known: {known_releases()}")
    recording = None if record is None else Path(record)
    return KafkaServer(
        found.for_run(seed=seed), rate, port if port is None or isinstance(port, int) else tuple(port), recording,
        zookeeper_port, api_versions, keep=recording is not None, advertised=advertised_of(advertised or ()),
        security=_security(listeners, users, tls, tls_client_auth),
    )  # fmt: skip


def _security(
    listeners: Sequence[str], users: Mapping[str, str] | str | Path | None, tls: str | Path | None, auth: str | None
) -> SecurityOptions | None:
    if not any((listeners, users is not None, tls, auth)):
        return None
    from scenarios.wire.security.listener_options import options_of

    return options_of(listeners, users, tls, auth)
