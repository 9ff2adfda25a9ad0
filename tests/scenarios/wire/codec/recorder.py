"""Records the first frames that real clients send: ``python -m tests.scenarios.wire.codec.recorder`` writes frames.txt.

Needs Java and kafka-clients (``kafka_jar``). What the Java client says about answers that lack something is no fault.

One broker that answers everything with success, without a log: enough for a client to send one request of each kind.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from pathlib import Path
from typing import Any

from scenarios.wire.codec import APIS, WireRequest, decode_request, encode_response
from tests.scenarios.wire.codec.kafka_jar import CLIENTS, LOGGING

FRAMES = Path(__file__).with_name("frames.txt")
VALUE = b"value" * 40
HIGHEST = {api.key: api.versions.high for api in APIS.values()}
ORDERS = {"name": "orders", "topic": "orders", "partition_index": 0, "partition": 0}


def answer(request: WireRequest, port: int) -> dict[str, Any]:
    """Success, with the fields without which a client does not go on."""
    host = {"node_id": 0, "host": "127.0.0.1", "port": port}
    partition = {**ORDERS, "leader_id": 0, "replica_nodes": [0], "isr_nodes": [0], "leader_epoch": 0}
    offsets = {
        **ORDERS,
        "offset": 5,
        "committed_offset": -1,
        "high_watermark": 5,
        "last_stable_offset": 5,
        "records": b"",
    }
    rows: list[dict[str, Any]] = [{**ORDERS, "partitions": [offsets], "partition_responses": [{**ORDERS, "index": 0}]}]
    body = request.body
    by_api: Any = {
        "ApiVersions": lambda: {
            "api_keys": [
                {"api_key": api.key, "min_version": api.versions.low, "max_version": api.versions.high}
                for api in APIS.values()
            ]
        },
        "Metadata": lambda: {
            "brokers": [host],
            "controller_id": 0,
            "cluster_id": "recorder",
            "topics": [{"name": "orders", "partitions": [partition]}],
        },
        "FindCoordinator": lambda: {**host, "coordinators": [{"key": key, **host} for key in body["coordinator_keys"]]},
        "InitProducerId": lambda: {"producer_id": 1000, "producer_epoch": 0},
        "JoinGroup": lambda: {
            "generation_id": 1,
            "protocol_type": "consumer",
            "protocol_name": body["protocols"][0]["name"],
            "leader": "member",
            "member_id": "member",
            "members": [{"member_id": "member", "metadata": body["protocols"][0]["metadata"]}],
        },
        "SyncGroup": lambda: {
            "protocol_type": "consumer",
            "protocol_name": body["protocol_name"],
            "assignment": body["assignments"][0]["assignment"],
        },
        "OffsetFetch": lambda: {"topics": rows, "groups": [{"group_id": each["group_id"]} for each in body["groups"]]},
        "CreateTopics": lambda: {"topics": [{"name": each["name"]} for each in body["topics"]]},
        "DeleteTopics": lambda: {"responses": [{"name": name} for name in body["topic_names"]]},
        "CreatePartitions": lambda: {"results": [{"name": each["name"]} for each in body["topics"]]},
        "DescribeConfigs": lambda: {"results": body["resources"]},
        "DescribeGroups": lambda: {"groups": [{"group_id": group} for group in body["groups"]]},
        "AddPartitionsToTxn": lambda: {"results": [{"name": "orders", "results": [{"partition_index": 0}]}]},
        "DescribeLogDirs": lambda: {"results": [{"log_dir": "/data"}]},
    }
    with_rows = {"topics": rows, "responses": rows, "results": []}
    made: dict[str, Any] = by_api.get(APIS[request.api_key].name, lambda: with_rows)()
    return made


class Recorder:
    """Listens on a port of its own, and keeps the first frame of each API and version."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, int, int], bytes] = {}
        self.client = ""
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while True:
                frame = await reader.readexactly(int.from_bytes(await reader.readexactly(4)))
                key, version = (int.from_bytes(frame[at : at + 2]) for at in (0, 2))
                if version > HIGHEST[key]:  # of ApiVersions alone: which versions there are is not known yet
                    parts = encode_response(key, 0, int.from_bytes(frame[4:8]), self.refusal())
                else:
                    request = decode_request(frame)
                    self.found.setdefault((self.client, key, version), frame)
                    if APIS[key].name == "Produce" and not request.body["acks"]:
                        continue
                    if APIS[key].name == "Fetch":
                        await asyncio.sleep(0.05)
                    parts = encode_response(key, version, request.correlation_id, answer(request, self.port))
                writer.write(len(parts).to_bytes(4) + parts)

    def refusal(self) -> dict[str, Any]:
        return answer(WireRequest(18, 0, 0, None, {}), 0) | {"error_code": 35}


def librdkafka(servers: str) -> None:
    from confluent_kafka import Consumer, Producer
    from confluent_kafka import admin as admins

    common: dict[str, Any] = {"bootstrap.servers": servers, "client.id": "app"}
    producer = Producer({**common, "enable.idempotence": True, "compression.type": "lz4"})
    producer.produce("orders", VALUE, b"key", headers=[("h", b"1")])
    producer.flush(5)
    consumer = Consumer({**common, "group.id": "readers", "group.instance.id": "one"})
    consumer.subscribe(["orders"])
    consumer.poll(3)
    with contextlib.suppress(Exception):
        consumer.commit(asynchronous=False)
    consumer.close()
    of: Any = admins
    admin = admins.AdminClient(common)
    for call in (
        lambda: admin.create_topics([of.NewTopic("new", 2, 1, config={"retention.ms": "1"})]),
        lambda: admin.delete_topics(["new"]),
        lambda: admin.create_partitions([of.NewPartitions("orders", 3)]),
        lambda: admin.describe_configs([of.ConfigResource(of.ConfigResource.Type.TOPIC, "orders")]),
        lambda: {"groups": admin.list_consumer_groups()},
        lambda: admin.describe_consumer_groups(["readers"]),
    ):
        for future in call().values():
            with contextlib.suppress(Exception):
                future.result(2)


def kafka_python(servers: str) -> None:
    from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition

    producer = KafkaProducer(bootstrap_servers=servers, client_id="app", compression_type="zstd")
    producer.send("orders", VALUE, b"key")
    producer.flush(5)
    producer.close(1)
    consumer = KafkaConsumer("orders", bootstrap_servers=servers, client_id="app", group_id="readers")
    consumer.poll(2000)
    consumer.close()
    admin = KafkaAdminClient(bootstrap_servers=servers, client_id="app")
    for call in (
        lambda: admin.alter_partition_reassignments({TopicPartition("orders", 0): [1, 2]}),
        admin.list_partition_reassignments,
        admin.describe_log_dirs,
    ):
        with contextlib.suppress(Exception):
            call()
    admin.close()


def aiokafka(servers: str) -> None:
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

    async def both() -> None:
        async with AIOKafkaProducer(bootstrap_servers=servers, client_id="app", compression_type="gzip") as producer:
            await producer.send_and_wait("orders", VALUE, b"key")
        async with AIOKafkaConsumer("orders", bootstrap_servers=servers, client_id="app", group_id="readers") as reader:
            await reader.getmany(timeout_ms=1000)

    asyncio.run(both())


def java(servers: str) -> None:
    command = ["java", "-cp", f"{CLIENTS}:{LOGGING[-1]}", str(Path(__file__).with_name("SendEverything.java")), servers]
    subprocess.run(command, check=True, timeout=300)


async def main() -> None:
    recorder = Recorder()
    server = await asyncio.start_server(recorder.serve, "127.0.0.1", 0)
    recorder.port = server.sockets[0].getsockname()[1]
    for client in (librdkafka, kafka_python, aiokafka, java):
        recorder.client = client.__name__
        await asyncio.to_thread(client, f"127.0.0.1:{recorder.port}")
    server.close()
    lines = [
        f"{client} {APIS[key].name} {version} {frame.hex()}\n"
        for (client, key, version), frame in sorted(recorder.found.items())
    ]
    FRAMES.write_text("".join(lines))


if __name__ == "__main__":
    asyncio.run(main())
