"""Kafka's own command line tools, of the release that runs."""

import re
import subprocess
from pathlib import Path

from attrs import frozen

from benchmarks.calibration.errors import CannotRecord
from benchmarks.calibration.real.cluster import RealCluster
from benchmarks.calibration.real.java import SMALL, Jvm

TOOL_WITHIN_S = 600
MB = 1_000_000
RECORD_BYTES = 1000
REASSIGN = "kafka.admin.ReassignPartitionsCommand"
PERFORMANCE = "org.apache.kafka.tools.ProducerPerformance"
WRITER = {"acks": "all", "linger.ms": "100"}
"""The producer that writes during a move."""
FILLER = {"acks": "all", "batch.size": "131072", "linger.ms": "20", "buffer.memory": "16000000"}


class ToolFailed(CannotRecord):
    """A tool has ended with an error."""


@frozen
class Tools:
    """The tools, asked against one cluster. What they print names neither folders nor ports."""

    cluster: RealCluster

    def topics(self, *words: str) -> str:
        moved = self.cluster.release.number >= (3, 5)
        main = "org.apache.kafka.tools.TopicCommand" if moved else "kafka.admin.TopicCommand"
        return self._run(main, "--bootstrap-server", self.servers, *words)

    def log_dirs(self) -> str:
        moved = self.cluster.release.number >= (3, 6)
        main = "org.apache.kafka.tools.LogDirsCommand" if moved else "kafka.admin.LogDirsCommand"
        return self._run(main, "--bootstrap-server", self.servers, "--describe")

    def configs(self) -> str:
        """The settings of the brokers, then of all topics. From 2.5 on with the static ones and the defaults, which are
        the same for all brokers, so of one of them."""
        every = self.cluster.release.number >= (2, 5)
        found = ""
        for broker in (0,) if every else range(self.cluster.brokers):
            words = ["--bootstrap-server", self.servers, "--entity-type", "brokers", "--entity-name", str(broker)]
            found += self._run("kafka.admin.ConfigCommand", *words, "--describe", *["--all"] * every)
        where = ["--bootstrap-server", self.servers] if every else ["--zookeeper", self.zookeeper]
        return found + self._run("kafka.admin.ConfigCommand", *where, "--entity-type", "topics", "--describe")

    def reassign(self, file: Path, *words: str) -> str:
        """kafka-reassign-partitions, which can do without ZooKeeper since 2.6 (KAFKA-8820)."""
        moved = self.cluster.release.number >= (3, 5)
        main = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand" if moved else REASSIGN
        where = ["--bootstrap-server", self.servers]
        if self.cluster.release.number < (2, 6):
            where = ["--zookeeper", self.zookeeper]
        return self._run(main, *where, "--reassignment-json-file", str(file), *words)

    def fill(self, topic: str, size_mb: int) -> None:
        self._run(PERFORMANCE, *self._load(topic, size_mb * MB // RECORD_BYTES, -1, FILLER))

    def write(self, topic: str, rate_mb: float) -> Jvm:
        """A producer that writes until it is killed."""
        rate = round(rate_mb * MB / RECORD_BYTES)
        words = self._load(topic, 2_000_000_000, rate, WRITER)
        return Jvm.start(f"writer-{topic}", self.cluster.path, (), (PERFORMANCE, *words), self.cluster.folder)

    def _load(self, topic: str, records: int, rate: int, settings: dict[str, str]) -> list[str]:
        size = ["--num-records", str(records), "--record-size", str(RECORD_BYTES), "--throughput", str(rate)]
        given = [f"{key}={value}" for key, value in ({"bootstrap.servers": self.servers} | settings).items()]
        return ["--topic", topic, *size, "--producer-props", *given]

    @property
    def servers(self) -> str:
        return ",".join(f"127.0.0.1:{self.cluster.port(broker)}" for broker in range(self.cluster.brokers))

    @property
    def zookeeper(self) -> str:
        return f"127.0.0.1:{self.cluster.zookeeper.port}"

    def _run(self, main: str, *words: str) -> str:
        logging = f"-Dlog4j.configuration=file:{self._quiet()}"
        command = ["java", *SMALL, logging, "-cp", self.cluster.path, main, *words]
        out, errors = self.cluster.folder / "tool.out", self.cluster.folder / "tool.errors"
        with out.open("wb") as to, errors.open("wb") as also:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=to, stderr=also)
        try:
            self.cluster.until(lambda: self._ended(process), f"{main} ends", TOOL_WITHIN_S)
        finally:
            process.kill()
        if process.returncode:
            raise ToolFailed(f"{main} {' '.join(words)}\n{out.read_text()[-2000:]}{errors.read_text()[-2000:]}")
        return self._neutral(out.read_text())

    def _ended(self, process: "subprocess.Popen[bytes]") -> bool:
        """Whether it has ended; meanwhile the operator's session is kept alive."""
        self.cluster.zookeeper.exists("/")
        return process.poll() is not None

    def _quiet(self) -> Path:
        file = self.cluster.folder / "tools.log4j"
        file.write_text("log4j.rootLogger=OFF\n")
        return file

    def _neutral(self, text: str) -> str:
        text = re.sub(rf"{re.escape(str(self.cluster.folder))}/data-\d+/", "/data/", text)
        for broker in range(self.cluster.brokers):
            text = text.replace(f"127.0.0.1:{self.cluster.port(broker)}", f"broker-{broker}:9092")
            text = re.sub(rf"\b{self.cluster.port(broker)}\b", "9092", text)
        text = text.replace(self.zookeeper, "zookeeper:2181")
        return text.replace("127.0.0.1", "zookeeper").replace(str(self.cluster.folder), "/kafka")
