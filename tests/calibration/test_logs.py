"""ZooKeeper's transaction log and the brokers' request logs are read as every release writes them."""

import struct
from pathlib import Path

import pytest

from benchmarks.calibration.facts import PartitionState, Request, Write
from benchmarks.calibration.real.recorded import writes
from benchmarks.calibration.real.requests import Text, requests
from benchmarks.calibration.real.transactions import Transaction, transactions

STRUCT = (
    "Completed request:RequestHeader(apiKey=LEADER_AND_ISR, apiVersion=2, clientId=2, correlationId=2) -- "
    "{controller_id=2,controller_epoch=1,broker_epoch=215,topic_states=[{topic=t,partition_states=[{partition=0,"
    "controller_epoch=1,leader=0,leader_epoch=0,isr=[1,0],zk_version=0,replicas=[1,0],is_new=true}]}],"
    "live_leaders=[{id=0,host=127.0.0.1,port=49823}]},response:{error_code=0,partitions=[{topic=t,partition=0,"
    "error_code=77}]} from connection 127.0.0.1:49397-127.0.0.1:38544-0;totalTime:310.593"
)


def test_a_struct_is_read(tmp_path: Path) -> None:
    log = tmp_path / "requests"
    log.write_text(STRUCT + "\nCompleted request:RequestHeader(apiKey=FETCH, apiVersion=11) -- {a=1},response:{b=2}\n")
    state = PartitionState("t", 0, 1, 0, 0, (0, 1), 0, (1, 0), "isNew", "STALE_BROKER_EPOCH")
    assert list(requests(7, log)) == [Request(7, "LeaderAndIsr", 2, 1, 1, "NONE", (state,), (0,))]


IDENTIFIED = (
    'Completed request:{"isForwarded":false,"requestHeader":{"requestApiKey":4,"requestApiVersion":5,"correlationId":2,'
    '"clientId":"2","requestApiKeyName":"LEADER_AND_ISR"},"request":{"controllerId":2,"controllerEpoch":1,'
    '"brokerEpoch":215,"type":0,"topicStates":[{"topicName":"t","topicId":"Z1bA","partitionStates":[{"partitionIndex":0,'
    '"controllerEpoch":1,"leader":0,"leaderEpoch":0,"isr":[1,0],"partitionEpoch":3,"replicas":[1,0],'
    '"addingReplicas":[],"removingReplicas":[],"isNew":true,"leaderRecoveryState":1}]}],"liveLeaders":[{"brokerId":0,"hostName":"127.0.0.1","port":49823}]},'
    '"response":{"errorCode":0,"topics":[{"topicId":"Z1bA","partitionErrors":[{"partitionIndex":0,"errorCode":77}]}]},'
    '"connection":"127.0.0.1:49397-127.0.0.1:38544-0","totalTimeMs":310.593}'
)


def test_errors_of_topics_that_are_named_by_their_ids_are_read(tmp_path: Path) -> None:
    """LeaderAndIsr 5 (KIP-516, 2.8), and its leader's state since version 6 (KIP-704, 3.2)."""
    log = tmp_path / "requests"
    log.write_text(IDENTIFIED)
    state = PartitionState("t", 0, 1, 0, 0, (0, 1), 3, (1, 0), "isNew recovering", "STALE_BROKER_EPOCH")
    assert list(requests(7, log)) == [Request(7, "LeaderAndIsr", 2, 1, 1, "NONE", (state,), (0,))]


@pytest.mark.parametrize(
    "text",
    [
        "{leader_epoch=3,isr=[1,2],is_new=true,topic=t}",
        "Data(leaderEpoch=3, isr=[1, 2], isNew=true, topic='t')",
        '{"leaderEpoch":3,"isr":[1,2],"isNew":true,"topic":"t"}',
    ],
)
def test_the_three_spellings_are_the_same(text: str) -> None:
    assert Text(text).value() == {"leader_epoch": 3, "isr": [1, 2], "is_new": True, "topic": "t"}


def _text(text: str) -> bytes:
    return struct.pack(">i", len(text)) + text.encode()


def _record(session: int, kind: int, body: bytes) -> bytes:
    record = struct.pack(">qiqqi", session, 1, 2, 1_000, kind) + body
    return struct.pack(">qi", 0, len(record)) + record + b"B"


def test_a_transaction_log_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "version-2"
    folder.mkdir()
    rules = struct.pack(">ii", 1, 31) + _text("world") + _text("anyone")
    create = _text("/brokers/ids/4") + _text("x") + rules + b"\1" + struct.pack(">i", 3)
    change = _text("/a") + _text("y") + struct.pack(">i", 6)
    multi = struct.pack(">i", 1) + struct.pack(">ii", 5, len(change)) + change
    log = bytes(16) + _record(9, 1, create) + _record(9, 14, multi) + _record(9, -11, b"") + bytes(64)
    (folder / "log.1").write_bytes(log)
    found = list(transactions(tmp_path))
    assert found == [
        Transaction(9, 1_000, "create", "/brokers/ids/4", "x", 0, True),
        Transaction(9, 1_000, "setData", "/a", "y", 6, False),
        Transaction(9, 1_000, "close", "", "", 0, True),
    ]
    assert list(writes(found)) == [
        Write(4, "create", "/brokers/ids/4", 0, ""),
        Write(4, "setData", "/a", 6, "y"),
        Write("zookeeper", "delete", "/brokers/ids/4", 0, ""),
    ]
