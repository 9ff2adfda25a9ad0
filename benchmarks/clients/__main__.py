"""``python -m benchmarks.clients [--client NAME] [--fault NAME] [--repeats 1] [--out FILE] [--write]``: what do
applications see?

A producer and a consumer of a group, with the client's own default settings but acks=all, attach to three brokers; a
fault is performed while the producer sends 200 records a second to one partition. Virtual time passes as real time.
What both have seen is compared with the log at the end. ``--out`` keeps a line for each run of a pair of client and
fault, so that a broken-off measurement goes on; ``--repeats`` are the runs of each pair; ``--write`` writes
docs/understand/clients.md. ``--keep`` is a folder for the histories of both, their errors, and a recording of each run
(``understudy replay``). ``--fetch`` brings the clients that Maven and Go bring, and measures nothing.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import asdict
from confluent_kafka import Consumer, TopicPartition

from benchmarks.clients.faults import BEFORE_S, FAULTS, PARTITION, Fault
from benchmarks.clients.history import Findings, Seen, findings, read
from benchmarks.clients.known import CLIENTS, Client
from benchmarks.clients.page import write_page
from benchmarks.program import parser_of
from scenarios.testing.kafka import KafkaServer, kafka

RECORDS_PER_S = 200
API_VERSIONS = "3.0"
"""Announced under the profile of the scenario, which is older: what the clients do with what they know best."""
LIMIT_S = 120.0
END_S = 40.0
"""The time that an application has to end; with most clients it commits offsets then."""
AFTER_S = 8.0
"""The time that the consumer goes on after the producer."""
SCENARIO = """
title = "applications"
attached = ["producer", "consumer"]
[cluster]
brokers = 3
[cluster.config]
"min.insync.replicas" = 2
"offsets.topic.num.partitions" = 1
"group.initial.rebalance.delay.ms" = 0
[[topics]]
name = "orders"
assignment = [[0, 1, 2]]
"""


def measured(client: Client, fault: Fault, keep: Path | None = None) -> Findings:
    """One pair. ``keep``: the folder for what both have seen and for the recording; otherwise they go."""
    with TemporaryDirectory(prefix="understudy-clients-") as temporary:
        folder = keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "applications.toml").write_text(SCENARIO)
        with kafka(scenario=folder / "applications.toml", record=folder / "run", api_versions=API_VERSIONS) as server:
            histories = [folder / "produced", folder / "consumed"]

            def start(role: str, seconds: float, history: Path) -> "subprocess.Popen[bytes]":
                command = client.command(role, server.bootstrap_servers, seconds, RECORDS_PER_S)
                environment = {**os.environ, **client.environment()}
                with history.open("w") as output, complaints_of(history).open("w") as complaints:
                    return subprocess.Popen(command, stdout=output, stderr=complaints, env=environment)

            reader = start("consume", fault.seconds + AFTER_S, histories[1])
            if client.is_slow_to_start:
                begun(server, histories[1:])
            applications = [start("produce", fault.seconds, histories[0]), reader]
            begun(server, histories)
            time.sleep(BEFORE_S)
            fault.perform(server)
            ends = [
                end(application, complaints_of(history), fault.seconds)
                for application, history in zip(applications, histories, strict=True)
            ]
            log = records(server)
        produced, consumed = (read(history.open()) for history in histories)
    consumed += [Seen(0, "error", error=how) for how in ends if how]
    return findings(produced, consumed, log)


def complaints_of(history: Path) -> Path:
    """The file of an application's standard error."""
    return history.with_suffix(".errors")


def begun(server: KafkaServer, histories: Sequence[Path]) -> None:
    """Wait until each application has seen something: a JVM takes a second to start, Spark ten."""
    server.until(lambda: all(history.stat().st_size for history in histories), LIMIT_S)


def end(application: "subprocess.Popen[bytes]", complaints: Path, seconds: float) -> str:
    """The bad end of an application, in words: it was killed because it did not end, or it stopped with an error. Else
    ""."""
    try:
        code = application.wait(seconds + END_S)
    except subprocess.TimeoutExpired:
        application.kill()
        application.wait()
        return "does not end"
    named = re.findall(r"^(?:.* )?(\w+(?:Error|Exception))\b", complaints.read_text(errors="replace"), re.MULTILINE)
    return f"breaks off by {named[-1] if named else f'exit code {code}'}" if code else ""


def records(server: KafkaServer) -> list[int]:
    """The numbers of the records in the partition, once all is well again."""
    server.act("heal")
    server.until(lambda: server.state(PARTITION)["leader"] >= 0, LIMIT_S)
    settings = {"client.id": "truth", "group.id": "truth", "enable.auto.commit": False, "enable.partition.eof": True}
    consumer = Consumer({"bootstrap.servers": server.bootstrap_servers, "log_level": 0, **settings})
    consumer.assign([TopicPartition("orders", 0, 0)])
    found: list[int] = []
    late = time.monotonic() + LIMIT_S
    while time.monotonic() < late:
        message = consumer.poll(1)
        if message is None:
            continue
        if message.error():
            break  # the end of the partition
        found.append(int(message.value() or b"-1"))
    consumer.close()
    return found


def rows(
    clients: Sequence[Client], faults: Sequence[Fault], repeats: int, out: Path | None, keep: Path | None = None
) -> Iterator[tuple[str, str, list[Findings]]]:
    """Each pair with its runs: first what is in ``out`` already, then what is missing of ``repeats``."""
    done: dict[tuple[str, str], list[Findings]] = {}
    if out is not None and out.exists():
        for line in out.read_text().splitlines():
            one = json.loads(line)
            done.setdefault((one["client"], one["fault"]), []).append(Findings(**one["findings"]))
    for fault in faults:
        for client in clients:
            if not client.meets(fault.name):
                continue
            runs = done.get((client.name, fault.name), [])
            while len(runs) < repeats:
                name = f"{client.name.replace('/', '-')}-{fault.name}-{len(runs) + 1}"
                found = measured(client, fault, keep and keep / name)
                runs.append(found)
                if out is not None:
                    with out.open("a") as lines:
                        one = {"client": client.name, "fault": fault.name, "findings": asdict(found)}
                        lines.write(json.dumps(one) + "\n")
                print(f"{fault.name}, {client.name}: {found}", flush=True)
            yield client.name, fault.name, runs


def fetch(clients: Sequence[Client]) -> int:
    """Bring what can be brought by a command."""
    missing = 0
    for client in clients:
        try:
            client.fetch()
        except LookupError as reason:
            missing = 1
            print(f"{client.name}: {reason}", file=sys.stderr)
    return missing


def main() -> int:
    parser = parser_of("clients", __doc__, repeats=1)
    parser.add_argument("--client", action="append", choices=[client.name for client in CLIENTS])
    parser.add_argument("--fault", action="append", choices=[fault.name for fault in FAULTS])
    parser.add_argument("--out", type=Path, help="keep a line for each run that is done")
    parser.add_argument("--keep", type=Path, help="a folder for the histories and the recordings of the runs")
    parser.add_argument("--fetch", action="store_true", help="bring what Maven and Go bring, and measure nothing")
    arguments = parser.parse_args()
    wanted = [client for client in CLIENTS if arguments.client is None or client.name in arguments.client]
    if arguments.fetch:
        return fetch(wanted)
    missing = [client for client in wanted if client.version() is None]
    for client in missing:
        print(f"left out: {client.name}, {client.install}", file=sys.stderr)
    clients = [client for client in wanted if client not in missing]
    faults = [fault for fault in FAULTS if arguments.fault is None or fault.name in arguments.fault]
    found = list(rows(clients, faults, arguments.repeats, arguments.out, arguments.keep))
    if arguments.write:
        write_page(clients, faults, found)
    lost = [
        f"{client}, {fault}: {one.lost} acknowledged records"
        for client, fault, runs in found
        for one in runs
        if one.lost and fault != "unclean-election"
    ]
    for one in lost:
        print(f"missed: {one} are lost", file=sys.stderr)
    return 1 if lost else 0


if __name__ == "__main__":
    raise SystemExit(main())
