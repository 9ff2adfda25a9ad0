"""A move on a real cluster, from its empty brokers to the recording."""

import datetime
import json
import os
import platform
import time
from pathlib import Path
from typing import Any

from attrs import define, field

from benchmarks.calibration.errors import CannotRecord
from benchmarks.calibration.real.cluster import RealCluster, running
from benchmarks.calibration.real.java import Jvm
from benchmarks.calibration.real.tools import MB, WRITER, Tools
from benchmarks.calibration.releases import find_release
from benchmarks.reality.folder import CONFIGS, LOG_DIRS, PLAN, RATES, TOPICS, Reality, next_folder, write
from benchmarks.reality.moves import Death, Move
from benchmarks.reality.sizes import rates_csv
from benchmarks.reality.written import Written, written

SETTINGS = {"auto.leader.rebalance.enable": "false"}
THREADS = {"num.network.threads": "3", "num.io.threads": "8", "queued.max.requests": "500"}
"""Kafka's defaults, which calibration's small brokers do without."""
SESSION_TIMEOUT_MS = 6000
HEAP_MB = 384
LOOK_S = 0.5
SETTLE_S = 20
"""Between filling and moving: the disk is quiet again, and quotas have forgotten."""
BETWEEN_LOOKS_S = 20
WITHIN_S = 900
NEEDED_BYTES = 25_000 * MB


def measure(move: Move, folder: Path) -> Reality:
    """Carry ``move`` out on real Kafka, and write its recording below ``folder``. Raises: CannotRecord."""
    disk = os.statvfs("/tmp")
    if disk.f_bavail * disk.f_frsize < NEEDED_BYTES:
        raise CannotRecord(f"a recording needs {NEEDED_BYTES / MB / 1000:.0f} GB of free disk below /tmp")
    with running(
        find_release(move.release),
        move.brokers,
        THREADS | SETTINGS,
        first=0,
        session_timeout_ms=SESSION_TIMEOUT_MS,
        heap_mb=HEAP_MB,
        request_logs=False,
        more=("kafka-tools",),
    ) as cluster:
        measuring = Measuring(move, cluster)
        try:
            reality = measuring.play()
        finally:
            for writer in measuring.writers:
                writer.kill()
    write(reality, measuring.texts, next_folder(folder, move.name))
    return reality


@define(eq=False)
class Measuring:
    """One move that is carried out.

    Attributes:
        texts: what the tools said before the move, by the name of the file.
        writers: the producers that run.
    """

    move: Move
    cluster: RealCluster
    texts: dict[str, str] = field(factory=dict)
    writers: list[Jvm] = field(factory=list)
    _copied: list[tuple[float, int]] = field(factory=list)
    _loads: list[float] = field(factory=list)
    _killed_s: float | None = None
    _restarted_s: float | None = None

    def play(self) -> Reality:
        tools = Tools(self.cluster)
        self._prepare(tools)
        self._look_at_sizes(tools)
        self.texts |= {TOPICS: tools.topics("--describe"), CONFIGS: tools.configs(), PLAN: self._plan()}
        file = self.cluster.folder / PLAN
        file.write_text(self.texts[PLAN])
        tools.reassign(file, "--execute", "--throttle", str(self.move.throttle_mb * MB))
        began_s = time.time()
        self._watch()
        tools.reassign(file, "--verify")
        found = written(self.cluster.transactions, [topic.name for topic in self.move.topics])
        assert abs(found.began_s - began_s) < 30
        return self._reality(found)

    def _prepare(self, tools: Tools) -> None:
        """Topics, their contents, and the load."""
        for topic in self.move.topics:
            lists = ",".join(":".join(map(str, replicas)) for replicas in topic.before)
            tools.topics("--create", "--topic", topic.name, "--replica-assignment", lists)
        for topic in self.move.topics:
            tools.fill(topic.name, topic.size_mb)
        self.cluster.until(self._in_sync, "all replicas are in sync", 60)
        if self.move.writes_mb:
            self.writers += [tools.write(topic.name, self.move.writes_mb) for topic in self.move.topics]
        self.cluster.sleep(SETTLE_S)

    def _in_sync(self) -> bool:
        return all(
            len(self.cluster.state(topic.name, number)["isr"]) == len(replicas)
            for topic in self.move.topics
            for number, replicas in enumerate(topic.before)
        )

    def _look_at_sizes(self, tools: Tools) -> None:
        """Where something is written twice, for its rate."""
        if not self.move.writes_mb:
            self.texts[LOG_DIRS] = tools.log_dirs()
            return
        earlier, first_s = tools.log_dirs(), time.monotonic()
        self.cluster.sleep(BETWEEN_LOOKS_S)
        self.texts[LOG_DIRS] = tools.log_dirs()
        self.texts[RATES] = rates_csv(earlier, self.texts[LOG_DIRS], time.monotonic() - first_s)

    def _plan(self) -> str:
        entries = [
            {"topic": topic.name, "partition": number, "replicas": list(replicas)}
            for topic in self.move.topics
            for number, replicas in enumerate(topic.after)
        ]
        lines = ",\n".join(f"  {json.dumps(entry)}" for entry in entries)
        return f'{{"version": 1, "partitions": [\n{lines}\n]}}\n'

    def _watch(self) -> None:
        """Look at the new replicas until no partition moves; kill and start the broker that dies meanwhile."""
        begun, death = time.monotonic(), self.move.death
        while self._moving():
            now_s = time.monotonic() - begun
            if now_s > WITHIN_S:
                raise CannotRecord(f"the move has not ended within {WITHIN_S} s")
            self._copied.append((time.time(), self._size()))
            self._loads.append(os.getloadavg()[0])
            if death is not None:
                self._die(death, now_s)
            time.sleep(LOOK_S)
        self._copied.append((time.time(), self._size()))

    def _die(self, death: Death, now_s: float) -> None:
        if self._killed_s is None and now_s >= death.after_s:
            self._killed_s = time.time()
            self.cluster.kill(death.broker)
        elif self._restarted_s is None and now_s >= death.after_s + death.down_s:
            if self.cluster.zookeeper.exists(f"/brokers/ids/{death.broker}"):
                return
            self._restarted_s = time.time()
            self.cluster.start_broker(death.broker)

    def _moving(self) -> bool:
        zookeeper = self.cluster.zookeeper
        if zookeeper.exists("/admin/reassign_partitions"):
            return True
        znodes = [json.loads(zookeeper.get(f"/brokers/topics/{topic.name}") or "{}") for topic in self.move.topics]
        return any(znode.get(key) for znode in znodes for key in ("adding_replicas", "removing_replicas"))

    def _size(self) -> int:
        """The bytes of all new replicas."""
        return sum(
            path.stat().st_size
            for topic in self.move.topics
            for number, (before, after) in enumerate(zip(topic.before, topic.after, strict=True))
            for broker in after
            if broker not in before
            for path in (self.cluster.log_dir(broker, 0) / f"{topic.name}-{number}").glob("*.log")
        )

    def _reality(self, found: Written) -> Reality:
        move, loads = self.move, self._loads

        def since(at_s: float) -> float:
            return round(at_s - found.began_s, 2)

        def at(at_s: float | None) -> Any:
            return None if at_s is None or move.death is None else (move.death.broker, since(at_s))

        return Reality(
            name=move.name,
            release=move.release,
            title=move.title,
            date=datetime.datetime.now(datetime.UTC).date().isoformat(),
            machine=f"{os.cpu_count()} cores ({platform.machine()}), shared",
            load=(min(loads), round(sum(loads) / len(loads), 2), max(loads)),
            brokers=move.brokers,
            settings=SETTINGS,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            throttle=move.throttle_mb * MB,
            writes={topic.name: round(move.writes_mb * MB) for topic in move.topics if move.writes_mb},
            writer=WRITER if move.writes_mb else {},
            duration_s=since(found.ended_s),
            partitions={name: since(at_s) for name, at_s in found.ends.items()},
            copied=tuple((since(at_s), size) for at_s, size in self._copied),
            states=tuple((since(at_s), tp, leader, isr) for at_s, tp, leader, isr in found.states),
            killed=at(self._killed_s),
            restarted=at(self._restarted_s),
        )
