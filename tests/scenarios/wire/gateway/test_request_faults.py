"""Requests that go wrong on purpose: real clients see it, the cluster knows whether it carried them out, a replay has
the same."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from emulator.protocol.errors import Errors
from scenarios.errors import BadInput
from scenarios.faults.request_faults import WITHOUT_ONE_ERROR, api_names
from scenarios.language import Scenario
from scenarios.testing.kafka import KafkaServer, kafka
from scenarios.testing.virtual_time import NotInTime
from scenarios.wire.apis.base import TRANSLATED
from scenarios.wire.codec import APIS
from scenarios.wire.gateway.error_answers import READS, with_error
from scenarios.wire.recording.folder import read_live_run
from scenarios.wire.recording.replay import ReplayedRun
from scenarios.wire.refusals import REFUSALS
from tests.scenarios.wire.gateway.served import served

TOPICS = ("failed", "carried", "dropped", "undone", "late", "silent", "grouped")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("requests") / "run"
    return folder


@pytest.fixture(scope="module")
def cluster(recording: Path) -> Iterator[KafkaServer]:
    with kafka(topics={name: [[0, 1, 2]] for name in TOPICS}, record=recording) as server:
        yield server
    assert server.run is not None
    assert server.run.verdict == "passed", server.run.explanation
    assert ReplayedRun(read_live_run(recording)).play().same


def producer(cluster: KafkaServer, name: str, **config: Any) -> Producer:
    servers = {"bootstrap.servers": cluster.bootstrap_servers, "client.id": name, "log_level": 0, "retries": 0}
    return Producer({**servers, **config})


def sent(client: Producer, topic: str, count: int = 1) -> list[tuple[int, int]]:
    """The error and the offset of each record, sent one after the other."""
    found: list[tuple[int, int]] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        found.append((0 if error is None else error.code(), message.offset() or 0))

    for _ in range(count):
        client.produce(topic, b"a", on_delivery=delivered)
        assert client.flush(30) == 0
    return found


def ends(cluster: KafkaServer, topic: str) -> int:
    return int(max(log["log_end_offset"] for log in cluster.state(f"{topic}-0")["logs"]))


def test_the_second_request_of_one_client_fails_and_is_not_carried_out(cluster: KafkaServer) -> None:
    fault = cluster.fault("request.fail", "Produce", error="NOT_ENOUGH_REPLICAS", client="billing", occurrence=2)
    assert sent(producer(cluster, "other"), "failed", 2) == [(0, 0), (0, 1)]
    codes = [code for code, _ in sent(producer(cluster, "billing"), "failed", 3)]
    assert codes == [0, KafkaError.NOT_ENOUGH_REPLICAS, 0]
    assert (fault.seen, fault.fired, ends(cluster, "failed")) == (2, 1, 4)
    fault.remove()
    with pytest.raises(KeyError):
        assert fault.fired


def test_a_failed_request_can_have_been_carried_out(cluster: KafkaServer) -> None:
    fault = cluster.fault("request.fail", "Produce", error="REQUEST_TIMED_OUT", performed=True, partition="carried-0")
    ((code, _),) = sent(producer(cluster, "billing"), "carried")
    assert (code, ends(cluster, "carried"), fault.fired) == (KafkaError.REQUEST_TIMED_OUT, 1, 1)


@pytest.mark.parametrize(("topic", "performed", "count"), [("dropped", True, 1), ("undone", False, 0)])
def test_a_connection_is_lost_after_the_effect_or_before(
    cluster: KafkaServer, topic: str, performed: bool, count: int
) -> None:
    fault = cluster.fault("request.drop", "Produce", partition=f"{topic}-0", performed=performed)
    ((code, _),) = sent(producer(cluster, "billing"), topic)
    assert (code != 0, ends(cluster, topic), fault.fired) == (True, count, 1)


def test_an_idempotent_producer_repeats_what_was_carried_out(cluster: KafkaServer) -> None:
    before = ends(cluster, "dropped")
    fault = cluster.fault("request.drop", "Produce", partition="dropped-0", client="careful")
    again = producer(cluster, "careful", **{"enable.idempotence": True, "retries": 5})
    assert sent(again, "dropped") == [(0, before)]
    assert (fault.fired, ends(cluster, "dropped")) == (1, before + 1)


def test_answers_come_late_until_it_is_removed(cluster: KafkaServer) -> None:
    fault = cluster.fault("request.delay", "Produce", latency="1500ms", count=0, client="slow")
    client, began_s = producer(cluster, "slow"), time.monotonic()
    assert sent(client, "late") == [(0, 0)]
    assert time.monotonic() - began_s > 1.4
    fault.remove()
    assert [code for code, _ in sent(client, "late", 2)] == [0, 0]


def test_a_client_is_never_answered(cluster: KafkaServer) -> None:
    fault = cluster.fault("request.silence", "Produce", client="mute", count=0)
    client = producer(cluster, "mute", **{"delivery.timeout.ms": 1500})
    ((code, _),) = sent(client, "silent")
    assert (code != 0, ends(cluster, "silent")) == (True, 0)
    fault.until_fired()
    fault.remove()
    assert sent(producer(cluster, "loud"), "silent") == [(0, 0)]


def test_the_requests_of_one_group_fail_and_those_of_another_do_not(cluster: KafkaServer) -> None:
    fault = cluster.fault("request.fail", "OffsetCommit", error="REBALANCE_IN_PROGRESS", group="shop", count=0)
    committed: dict[str, int] = {}
    for group in ("other", "shop"):
        settings = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": group, "log_level": 0}
        consumer = Consumer(settings)
        try:
            consumer.commit(offsets=[TopicPartition("grouped", 0, 1)], asynchronous=False)
            committed[group] = 0
        except Exception as error:
            committed[group] = error.args[0].code()
        consumer.close()
    assert committed == {"other": 0, "shop": KafkaError.REBALANCE_IN_PROGRESS}
    assert fault.fired >= 1
    fault.remove()


def test_what_never_comes_is_said(cluster: KafkaServer) -> None:
    fault = cluster.fault("request.fail", "Produce", error="NOT_ENOUGH_REPLICAS", client="nobody")
    with pytest.raises(NotInTime, match="hit 0 requests"):
        fault.until_fired(within_s=0.1)
    fault.remove()


@pytest.mark.parametrize(
    ("keys", "error"),
    [
        (
            {"api": "Prodce", "error": "NOT_ENOUGH_REPLICAS"},
            "no API of clients is called 'Prodce'; did you",
        ),
        ({"api": "Produce", "error": "NOT_ENOUGH_REPLICA"}, "no error is called 'NOT_ENOUGH_REPLICA'; did you mean"),
        ({"api": "Produce", "error": "NONE"}, "no error is called 'NONE'"),
        ({"api": "any", "error": "NOT_ENOUGH_REPLICAS"}, "an error is the answer of one API; write which"),
        ({"api": "AlterConfigs", "error": "INVALID_CONFIG"}, "AlterConfigs has an error for each thing"),
        (
            {"api": "Produce", "error": "NOT_ENOUGH_REPLICAS", "broker": 7},
            "broker 7 does not exist; write an id from 0 to 2",
        ),
        ({"api": "Produce", "error": "NOT_ENOUGH_REPLICAS", "count": -1}, "an integer from 0"),
        ({"api": "Produce", "error": "NOT_ENOUGH_REPLICAS", "probability": 2}, "a number from 0 to 1"),
    ],
)
def test_what_cannot_be_is_refused(cluster: KafkaServer, keys: dict[str, Any], error: str) -> None:
    with pytest.raises(BadInput, match=error):
        cluster.act("request.fail", **keys)


def test_two_of_one_name_are_refused(cluster: KafkaServer) -> None:
    fault = cluster.fault("request.drop", "Produce", client="nobody", fault="mine")
    with pytest.raises(BadInput, match="there is a fault called 'mine' already"):
        cluster.fault("request.drop", "Produce", client="nobody", fault="mine")
    fault.remove()
    with pytest.raises(BadInput, match="there is none called 'mine'"):
        fault.remove()


def test_one_in_a_file_that_nothing_meets_is_not_exercised() -> None:
    """And one that is: the method of a scenario has it as ``ctl`` has."""
    entry = {"at": "1ms", "action": "request.fail", "api": "Metadata", "error": "UNKNOWN_SERVER_ERROR"}
    topic = {"name": "orders", "partitions": 1, "replication_factor": 3}
    for client in ("raw", "nobody"):
        with served({"topics": [topic], "method": [{**entry, "client": client}]}) as cluster:
            time.sleep(0.3)
            codes = [each["error_code"] for each in cluster.connect().metadata()["topics"]]
            assert codes == ([int(Errors.UNKNOWN_SERVER_ERROR)] if client == "raw" else [0])
        (run,) = cluster.finished
        said = "no request that it was for came (Metadata)" in str(run.explanation)
        assert (run.verdict == "passed", said) == ((True, False) if client == "raw" else (False, True))
        assert "replay it" not in str(run.explanation)  # a live run that is not recorded cannot be repeated
        assert run.replay == ""


def test_probability_is_drawn_from_the_seed() -> None:
    table: dict[str, Any] = {"title": "t", "cluster": {"brokers": 1}}
    entry = {"at": "1s", "action": "request.drop", "api": "any", "probability": 0.5, "count": 0, "duration": "5s"}
    assert Scenario.from_table({**table, "method": [entry]}).method[0].action.name == "request.drop"


def test_an_answers_errors_are_exchanged_where_they_are() -> None:
    parts = [{"partition_index": number, "error_code": 0, "records": b"x"} for number in (0, 1)]
    answer = {"error_code": 0, "throttle_time_ms": 0, "responses": [{"topic": "a", "partitions": parts}]}
    one = with_error(answer, Errors.NOT_LEADER_FOR_PARTITION, "a-1")
    assert [each["error_code"] for each in one["responses"][0]["partitions"]] == [0, 6]
    assert [each["records"] for each in one["responses"][0]["partitions"]] == [b"x", b""]
    every = with_error(answer, Errors.NOT_LEADER_FOR_PARTITION, None)
    assert ([each["error_code"] for each in every["responses"][0]["partitions"]], every["error_code"]) == ([6, 6], 0)
    assert with_error({"error_code": 0, "responses": []}, Errors.NOT_LEADER_FOR_PARTITION, None)["error_code"] == 6
    both = with_error({"error_code": 0, "coordinators": [{"error_code": 0}]}, Errors.NOT_COORDINATOR, None)
    assert (both["error_code"], both["coordinators"][0]["error_code"]) == (16, 16)


def test_the_apis_without_one_error_are_those_whose_schema_has_none() -> None:
    """Every other API that changes something has an error for the whole, or a way to say it of each part."""
    found = [
        api_names()[key]
        for key in TRANSLATED
        if key not in READS and key not in REFUSALS and not any(one.name == "error_code" for one in APIS[key].response)
    ]
    assert {*found, "AddPartitionsToTxn"} == set(WITHOUT_ONE_ERROR)
    by_the_gateway = {"DescribeUserScramCredentials", "AlterUserScramCredentials", "UpdateFeatures"}
    assert {APIS[key].name for key in set(TRANSLATED) - set(api_names())} == by_the_gateway, "no fault hits these"


def test_an_api_that_is_only_refused_is_none_that_a_fault_hits() -> None:
    filters = {"resource_type_filter": 1, "pattern_type_filter": 1, "operation": 1, "permission_type": 1}
    with served() as found:
        found.operate("request.drop", api="any", occurrence=9)
        assert found.connect().ask(29, 1, filters)["error_code"] == int(Errors.SECURITY_DISABLED)
        assert not found.run.stage.defects
