"""Content of Kafka's znodes, beside the bytes that Kafka's own classes write."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from emulator.protocol import znodes
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import ZkCode
from scenarios.wire.zookeeper.payloads import Payloads
from scenarios.wire.zookeeper.zookeeper_codes import Code, RefusedOperation

ADDRESSES = {broker: ("127.0.0.1", 9092 + broker) for broker in range(3)}
WRITTEN = [line.split("\t") for line in (Path(__file__).parent / "znodes.txt").read_text().splitlines()]
"""Release, path and bytes: the output of KafkasZnodes.java, with the class path of each release."""
REGISTRATIONS = {"1.1.1": 4, "2.3.1": 4, "2.4.1": 4, "2.7.2": 5}


@pytest.mark.parametrize(("release", "path", "data"), WRITTEN)
def test_clients_read_the_bytes_that_the_release_writes(release: str, path: str, data: str) -> None:
    payloads = Payloads(ADDRESSES, REGISTRATIONS[release])
    if path in ("/cluster/id", "/feature"):
        held = data
    elif path == "/controller":
        held = znodes.encode_controller(1, 1234567890123)
    elif path.startswith("/brokers/ids/"):
        written = json.loads(data)
        held = znodes.encode_broker(1, int(written["timestamp"]), written.get("rack"))
    elif path.startswith("/config/changes/"):
        held = znodes.encode_config_change("topics/orders")
    else:
        held = znodes.encode_config({"retention.ms": "7000"})
    assert payloads.to_client(path, held) == data.encode()


def test_a_registration_of_0_8_names_one_address() -> None:
    """As ZkUtils.registerBrokerInZk wrote it: version 1, before listeners had names."""
    held = znodes.encode_broker(2, 5)
    found = Payloads(ADDRESSES, 1).to_client("/brokers/ids/2", held)
    assert found == b'{"jmx_port":-1,"timestamp":"5","host":"127.0.0.1","version":1,"port":9094}'


STATE = znodes.LeaderAndIsr(1, 3, (1, 2), 4).encode()
MOVE = '{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[2,1],"log_dirs":["any","any"]}]}'
TAKEN = [
    ("/brokers/topics/orders", '{"version":1,"partitions":{"1":[1,0],"0":[0,1]}}'),
    (
        "/brokers/topics/orders",
        '{ "version": 2, "partitions": {"0": [0]}, "adding_replicas": {}, "removing_replicas": {} }',
    ),
    ("/brokers/topics/orders/partitions/0/state", STATE),
    ("/admin/reassign_partitions", MOVE),
    ("/admin/preferred_replica_election", '{"version":1,"partitions":[{"topic":"orders","partition":0}]}'),
    ("/admin/delete_topics/orders", ""),
    ("/config/topics/orders", '{"version":1,"config":{"retention.ms":"7000"}}'),
    ("/config/brokers/<default>", '{"version":1,"config":{"something.of.mine":"x"}}'),
    ("/config/users/alice", ""),
    ("/config/ips/1.2.3.4", '{"version":1,"config":{"connection_creation_rate":"7"}}'),
    ("/config/changes/config_change_0000000007", '{"version":2,"entity_path":"topics/orders"}'),
    ("/isr_change_notification/isr_change_0000000007", znodes.encode_isr_change([TopicPartition("orders", 0)])),
    ("/log_dir_event_notification/log_dir_event_0000000001", znodes.encode_log_dir_event(1)),
    ("/mine/anything", "no JSON"),
    ("/consumers/group/owners", "{"),
]


@pytest.mark.parametrize(("path", "text"), TAKEN)
def test_what_kafka_and_its_tools_write_passes_as_it_is(path: str, text: str) -> None:
    assert Payloads(ADDRESSES).to_tree(path, text.encode() or None) == text


def test_an_announcement_of_0_9_is_that_of_0_10() -> None:
    data = b'{"version":1,"entity_type":"topics","entity_name":"orders"}'
    text = Payloads(ADDRESSES).to_tree("/config/changes/config_change_", data, sequential=True)
    assert znodes.decode_config_change(text) == "topics/orders"


RECORDINGS = sorted((Path(__file__).parents[3] / "calibration" / "recordings").glob("*.jsonl"))


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_what_real_clusters_have_written_passes_both_ways(recording: Path) -> None:
    """The writes of real clusters, from 1.0.2 to 2.7.2, which the calibration has recorded without times and hosts."""
    payloads, seen = Payloads({broker: ("127.0.0.1", 9092 + broker) for broker in range(10)}), 0
    for line in recording.read_text().splitlines()[1:]:
        kind, *fact = json.loads(line)
        if kind != "zk" or fact[1] == "delete" or not fact[4] or fact[2].startswith("/controller"):
            continue
        path, data = fact[2], fact[4]
        assert payloads.to_client(path, payloads.to_tree(path, data.encode())) == data.encode()
        seen += 1
    assert seen > 5


RATE = '{"version":1,"config":{"leader.replication.throttled.rate":"x"}}'
REFUSED = [
    ("/controller", '{"version":1,"brokerid":9,"timestamp":"1"}', Code.NO_AUTH, "only brokers write"),
    ("/controller_epoch", "77", Code.NO_AUTH, "only brokers write"),
    ("/brokers/ids/7", "{}", Code.NO_AUTH, "only brokers write"),
    ("/brokers/topics/orders", "{", ZkCode.BAD_ARGUMENTS, "would hold what no broker reads"),
    ("/brokers/topics/orders", '{"version":1,"partitions":{"0":[7]}}', ZkCode.BAD_ARGUMENTS, "there is no broker 7"),
    ("/brokers/topics/orders", '{"version":1,"partitions":{"0":[1,1]}}', ZkCode.BAD_ARGUMENTS, "names a broker twice"),
    ("/brokers/topics/orders", '{"version":1,"partitions":{"3":[1]}}', ZkCode.BAD_ARGUMENTS, "numbered from 0"),
    ("/brokers/topics/orders", '{"version":1,"partitions":{"0":[true]}}', ZkCode.BAD_ARGUMENTS, "no number"),
    ("/brokers/topics/or ders", '{"version":1,"partitions":{"0":[1]}}', ZkCode.BAD_ARGUMENTS, "is illegal"),
    ("/brokers/topics/orders/partitions/x", "", ZkCode.BAD_ARGUMENTS, "Kafka has no such znode"),
    ("/brokers/topics/orders/partitions/0/state", "[]", ZkCode.BAD_ARGUMENTS, "would hold what no broker reads"),
    ("/admin/reassign_partitions", "[" * 9999, ZkCode.BAD_ARGUMENTS, "would hold what no broker reads"),
    ("/admin/reassign_partitions", MOVE.replace("[2,1]", "[]"), ZkCode.BAD_ARGUMENTS, "no replicas"),
    ("/config/topics/orders", '{"version":1,"config":{"retention.ms":"x"}}', ZkCode.BAD_ARGUMENTS, "Not a number"),
    ("/config/topics/orders", '{"version":1,"config":{"retention.ms":7}}', ZkCode.BAD_ARGUMENTS, "is no text"),
    ("/config/brokers/1", RATE, ZkCode.BAD_ARGUMENTS, "Not a number of type LONG"),
    ("/config/ips/1.2.3.4", '{"version":1,"config":{"connection_creation_rate":"soon"}}', ZkCode.BAD_ARGUMENTS, "soon"),
    ("/config/changes/mine", "{}", ZkCode.BAD_ARGUMENTS, "Kafka has no such znode"),
    ("/log_dir_event_notification/log_dir_event_0000000001", '{"broker":7}', ZkCode.BAD_ARGUMENTS, "no broker 7"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "text", "code", "said"), REFUSED)
def test_what_no_broker_could_read_is_refused(path: str, text: str, code: Code, said: str) -> None:
    with pytest.raises(RefusedOperation, match=re.escape(said)) as refused:
        Payloads(ADDRESSES).to_tree(path, text.encode())
    assert refused.value.code is code
