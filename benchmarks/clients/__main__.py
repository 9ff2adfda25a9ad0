"""``python -m benchmarks.clients [--client NAME] [--fault NAME] [--out FILE] [--write]``: what do applications see?

A producer and a consumer of a group, with the client's own default settings but acks=all, attach to three brokers; a
fault is performed while the producer sends 200 records a second to one partition. Virtual time passes as real time.
What both have seen is compared with the log at the end. ``--out`` keeps a line for each pair of client and fault that
is done, so that a broken-off run goes on; ``--write`` writes docs/clients.md.
"""

import json
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
LIMIT_S = 120.0
END_S = 40.0
"""What an application has for its end, which with most clients commits offsets."""
AFTER_S = 8.0
"""How long the consumer goes on after the producer."""
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


def measured(client: Client, fault: Fault) -> Findings:
    """One pair."""
    with TemporaryDirectory(prefix="understudy-clients-") as temporary:
        folder = Path(temporary)
        (folder / "applications.toml").write_text(SCENARIO)
        with kafka(scenario=folder / "applications.toml", record=folder / "run") as server:
            histories = [folder / "produced", folder / "consumed"]
            applications = [
                subprocess.Popen(
                    client.command(role, server.bootstrap_servers, seconds, RECORDS_PER_S),
                    stdout=history.open("w"),
                    stderr=subprocess.DEVNULL,
                )
                for role, seconds, history in zip(
                    ("produce", "consume"), (fault.seconds, fault.seconds + AFTER_S), histories, strict=True
                )
            ]
            time.sleep(BEFORE_S)
            fault.perform(server)
            hanging = [application.args for application in applications if not ended(application, fault.seconds)]
            log = records(server)
        produced, consumed = (read(history.open()) for history in histories)
    if hanging:
        consumed.append(Seen(0, "error", error="does not end"))
    return findings(produced, consumed, log)


def ended(application: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Whether it ends by itself. One that does not is killed."""
    try:
        application.wait(seconds + END_S)
    except subprocess.TimeoutExpired:
        application.kill()
        application.wait()
        return False
    return True


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


def rows(clients: Sequence[Client], faults: Sequence[Fault], out: Path | None) -> Iterator[tuple[str, str, Findings]]:
    """Each pair, with what is in ``out`` already."""
    done = {}
    if out is not None and out.exists():
        for line in out.read_text().splitlines():
            one = json.loads(line)
            done[one["client"], one["fault"]] = Findings(**one["findings"])
    for fault in faults:
        for client in clients:
            pair = client.name, fault.name
            found = done.get(pair)
            if found is None:
                found = measured(client, fault)
                if out is not None:
                    with out.open("a") as lines:
                        one = {"client": client.name, "fault": fault.name, "findings": asdict(found)}
                        lines.write(json.dumps(one) + "\n")
            print(f"{fault.name}, {client.name}: {found}", flush=True)
            yield *pair, found


def main() -> int:
    parser = parser_of("clients", __doc__)
    parser.add_argument("--client", action="append", choices=[client.name for client in CLIENTS])
    parser.add_argument("--fault", action="append", choices=[fault.name for fault in FAULTS])
    parser.add_argument("--out", type=Path, help="keep a line for each pair that is done")
    arguments = parser.parse_args()
    wanted = [client for client in CLIENTS if arguments.client is None or client.name in arguments.client]
    missing = [client for client in wanted if client.version() is None]
    for client in missing:
        print(f"left out: {client.name}, {client.install}", file=sys.stderr)
    clients = [client for client in wanted if client not in missing]
    faults = [fault for fault in FAULTS if arguments.fault is None or fault.name in arguments.fault]
    found = list(rows(clients, faults, arguments.out))
    if arguments.write:
        write_page(clients, faults, found)
    lost = [
        f"{client}, {fault}: {one.lost} acknowledged records"
        for client, fault, one in found
        if one.lost and fault != "unclean-election"
    ]
    for one in lost:
        print(f"missed: {one} are lost", file=sys.stderr)
    return 1 if lost else 0


if __name__ == "__main__":
    raise SystemExit(main())
