"""ZooKeeper and the brokers of one recording, under a folder that is removed with them."""

import contextlib
import json
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from attrs import define, field

from benchmarks.calibration.errors import CannotRecord
from benchmarks.calibration.real.java import Jvm, class_path
from benchmarks.calibration.real.zookeeper import Session
from benchmarks.calibration.releases import Release

START_WITHIN_S = 90
LOG4J = """\
log4j.rootLogger={root}, server
log4j.appender.server=org.apache.log4j.FileAppender
log4j.appender.server.File={folder}/{name}.log
log4j.appender.server.layout=org.apache.log4j.PatternLayout
log4j.appender.server.layout.ConversionPattern=%d{{HH:mm:ss,SSS}} %p %c{{1}} %m%n
log4j.appender.requests=org.apache.log4j.FileAppender
log4j.appender.requests.File={folder}/{name}.requests
log4j.appender.requests.layout=org.apache.log4j.PatternLayout
log4j.appender.requests.layout.ConversionPattern=%m%n
log4j.logger.kafka.request.logger={requests}, requests
log4j.additivity.kafka.request.logger=false
"""
FIXED = {
    "num.network.threads": "1",
    "num.io.threads": "2",
    "log.cleaner.enable": "false",
    "offsets.topic.replication.factor": "1",
    "log.retention.check.interval.ms": "86400000",
    "queued.max.requests": "50",
}
"""Settings of every broker that spare the machine and change nothing that is compared."""


def free_ports(count: int) -> list[int]:
    """Ports of this machine that nothing listens at."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@define(eq=False)
class RealCluster:
    """One cluster of a release.

    Attributes:
        log_dirs: the number of log directories of each broker.
        heap_mb: the heap of each broker; None: that of ``SMALL``.
        request_logs: whether brokers write their request logs.
        more: artifacts of the release on the class path beside the broker's.
        path: the class path.
    """

    release: Release
    folder: Path
    brokers: int
    config: Mapping[str, str]
    log_dirs: int = 1
    racks: int = 1
    session_timeout_ms: int | None = None
    heap_mb: int | None = None
    request_logs: bool = True
    more: tuple[str, ...] = ()
    jvms: dict[int, Jvm] = field(factory=dict)
    _zookeeper: Jvm | None = None
    zookeeper: Session = field(init=False)
    _ports: list[int] = field(init=False)
    path: str = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.path = class_path(self.release, self.folder, self.more)
        self._ports = free_ports(self.brokers + 1)

    # -- processes ----------------------------------------------------------------------------------------------------

    def start_zookeeper(self) -> None:
        properties = {
            "tickTime": "2000",
            "dataDir": str(self.transactions),
            "clientPort": str(self._ports[-1]),
            "clientPortAddress": "127.0.0.1",
            "maxClientCnxns": "0",
            "admin.enableServer": "false",
        }
        main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        options = ("-Dzookeeper.preAllocSize=64", "-Dzookeeper.forceSync=no")
        self._zookeeper = self._start("zookeeper", main, properties, options)
        self.until(self._connect, "ZooKeeper answers", START_WITHIN_S)

    def start_broker(self, broker: int) -> None:
        """Begin its process; ``is_up`` says when it is registered."""
        dirs = [self.log_dir(broker, number) for number in range(self.log_dirs)]
        for each in dirs:
            if not each.exists():  # else it may be a file: a directory that went offline
                each.mkdir(parents=True)
        properties = FIXED | {
            "broker.id": str(broker),
            "zookeeper.connect": f"127.0.0.1:{self._ports[-1]}",
            "log.dirs": ",".join(map(str, dirs)),
        }
        if self.release.number < (0, 9):
            properties |= {"host.name": "127.0.0.1", "port": str(self.port(broker))}
        else:
            properties["listeners"] = f"PLAINTEXT://127.0.0.1:{self.port(broker)}"
        if self.racks > 1:
            properties["broker.rack"] = f"rack-{broker % self.racks}"
        if self.session_timeout_ms is not None:
            properties["zookeeper.session.timeout.ms"] = str(self.session_timeout_ms)
        heap = () if self.heap_mb is None else (f"-Xmx{self.heap_mb}m",)
        self.jvms[broker] = self._start(f"broker-{broker}", "kafka.Kafka", properties | dict(self.config), heap)

    def _start(self, name: str, main: str, properties: Mapping[str, str], options: tuple[str, ...] = ()) -> Jvm:
        file, logging = self.folder / f"{name}.properties", self.folder / f"{name}.log4j"
        file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        requests = "TRACE" if self.request_logs else "OFF"
        logging.write_text(LOG4J.format(folder=self.folder, name=name, root="INFO", requests=requests))
        options = (f"-Dlog4j.configuration=file:{logging}", *options)
        return Jvm.start(name, self.path, options, (main, str(file)), self.folder)

    def stop(self) -> None:
        """Kill every process."""
        for jvm in (*self.jvms.values(), *([self._zookeeper] if self._zookeeper else [])):
            jvm.kill()

    # -- where things are ---------------------------------------------------------------------------------------------

    @property
    def transactions(self) -> Path:
        """The folder of ZooKeeper's transaction log."""
        return self.folder / "zookeeper"

    def requests(self, broker: int) -> Path:
        """The request log of a broker, of all its incarnations."""
        return self.folder / f"broker-{broker}.requests"

    def log_dir(self, broker: int, number: int) -> Path:
        return self.folder / f"data-{broker}" / str(number)

    def port(self, broker: int) -> int:
        return self._ports[broker]

    # -- what ZooKeeper says ------------------------------------------------------------------------------------------

    def _connect(self) -> bool:
        self.zookeeper = Session(self._ports[-1])
        try:
            self.zookeeper.open()
        except OSError:
            return False
        return True

    def is_up(self, broker: int) -> bool:
        """Whether its process runs, it is registered, and it listens: since 3.6 it does that later."""
        registered = self.jvms[broker].running and self.zookeeper.exists(f"/brokers/ids/{broker}")
        return registered and self._listens(broker)

    def _listens(self, broker: int) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port(broker)), timeout=START_WITHIN_S).close()
        except ConnectionRefusedError:
            return False
        return True

    def controller(self) -> int | None:
        """The id of the controller; None while there is none."""
        data = self.zookeeper.get("/controller")
        return None if data is None else int(json.loads(data)["brokerid"])

    def assignment(self, topic: str) -> dict[int, list[int]] | None:
        """The replicas of each partition; None where there is no such topic."""
        data = self.zookeeper.get(f"/brokers/topics/{topic}")
        return None if data is None else {int(key): value for key, value in json.loads(data)["partitions"].items()}

    def state(self, topic: str, partition: int) -> dict[str, Any]:
        """Leader and ISR of a partition; empty where there is none."""
        data = self.zookeeper.get(f"/brokers/topics/{topic}/partitions/{partition}/state")
        return dict(json.loads(data)) if data else {}

    def sleep(self, for_s: float) -> None:
        """Wait, and keep the operator's session alive."""
        deadline = time.monotonic() + for_s
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, 10))
            self.zookeeper.exists("/")

    def until(self, condition: Callable[[], bool], what: str, within_s: float) -> None:
        """Raises: CannotRecord, with the end of the brokers' output, where it does not come true in time."""
        deadline = time.monotonic() + within_s
        while not condition():
            if time.monotonic() > deadline:
                raise CannotRecord(f"not within {within_s:.0f} s: {what}{self._last_words()}")
            time.sleep(0.1)

    def _last_words(self) -> str:
        ends = [path.read_text()[-1500:] for path in sorted(self.folder.glob("*.out")) if path.stat().st_size]
        return "".join(f"\n{end}" for end in ends[:2])

    # -- signals ------------------------------------------------------------------------------------------------------

    def kill(self, broker: int) -> None:
        self.jvms[broker].kill()

    def terminate(self, broker: int) -> None:
        """SIGTERM: a controlled shutdown."""
        self.jvms[broker].signal(signal.SIGTERM)

    def pause(self, broker: int) -> None:
        self.jvms[broker].signal(signal.SIGSTOP)

    def resume(self, broker: int) -> None:
        self.jvms[broker].signal(signal.SIGCONT)


@contextmanager
def running(
    release: Release, brokers: int, config: Mapping[str, str], *, first: int | None, **parts: Any
) -> Iterator[RealCluster]:
    """A cluster whose brokers are all registered; ``first`` is its controller. It ends with the context, whatever
    happens in it."""
    with TemporaryDirectory(prefix="calibration-") as folder:
        cluster = RealCluster(release, Path(folder), brokers, config, **parts)
        try:
            cluster.start_zookeeper()
            early = [] if first is None else [first]
            for group in (early, [broker for broker in range(brokers) if broker not in early]):
                for broker in group:
                    cluster.start_broker(broker)
                for broker in group:
                    cluster.until(lambda broker=broker: cluster.is_up(broker), f"broker {broker} is up", START_WITHIN_S)  # type: ignore[misc]
            yield cluster
        finally:
            cluster.stop()
