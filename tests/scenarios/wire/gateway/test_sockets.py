"""Faults as clients see them, and what clients cannot do to the gateway."""

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emulator.protocol.errors import Errors
from scenarios.errors import BadInput
from scenarios.wire.codec import decode_response, encode_request
from scenarios.wire.gateway.sockets import MOST_UNANSWERED
from tests.scenarios.wire.apis.test_produce import sent
from tests.scenarios.wire.damage import damaged
from tests.scenarios.wire.gateway.served import API_VERSIONS, CREATE_TOPICS, METADATA, Raw, Served, served

PRODUCE = 0
TOPICS = {"topics": [{"name": "orders", "partitions": 3, "replication_factor": 3}]}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Served]:
    with served(TOPICS) as found:
        yield found


def ends(raw: Raw) -> str:
    """How a connection ends: ``closed`` or ``reset``."""
    try:
        while raw.socket.recv(65536):
            pass
    except ConnectionResetError:
        return "reset"
    return "closed"


def test_a_client_learns_versions_and_metadata(cluster: Served) -> None:
    raw = cluster.connect(1)
    keys = {api["api_key"] for api in raw.ask(API_VERSIONS, 2, {})["api_keys"]}
    assert {API_VERSIONS, METADATA} <= keys
    metadata = raw.metadata()
    addresses = {broker["node_id"]: (broker["host"], broker["port"]) for broker in metadata["brokers"]}
    assert addresses == cluster.run.broker_addresses
    (topic,) = (topic for topic in metadata["topics"] if topic["name"] == "orders")
    assert [(p["leader_id"], p["isr_nodes"]) for p in topic["partitions"]] == [
        (0, [0, 1, 2]),
        (1, [1, 2, 0]),
        (2, [2, 0, 1]),
    ]


def test_answers_come_in_the_order_of_the_requests(cluster: Served) -> None:
    raw = cluster.connect()
    numbers = [raw.send(METADATA, version, {"topics": []}) for version in (8, 1, 5) * 20]
    assert [struct.unpack_from(">i", raw.frame())[0] for _ in numbers] == numbers


@pytest.mark.parametrize(("api_versions", "named"), [("2.3", []), ("2.4", [(API_VERSIONS, 0, 3)])])
def test_an_unknown_version_of_api_versions_is_answered_as_version_0(
    api_versions: str, named: list[tuple[int, int, int]]
) -> None:
    """Since KIP-511 (2.4) with the versions of ApiVersions itself."""
    with served(TOPICS, api_versions=api_versions) as cluster:
        raw = cluster.connect()
        frame = bytearray(encode_request(API_VERSIONS, 3, 5, "raw", {}))
        frame[2:4] = struct.pack(">h", 4)
        raw.socket.sendall(struct.pack(">i", len(frame)) + frame)
        number, answer = decode_response(API_VERSIONS, 0, raw.frame())
        assert (number, answer["error_code"]) == (5, Errors.UNSUPPORTED_VERSION)
        assert [tuple(each.values()) for each in answer["api_keys"]] == named
        assert raw.metadata()["brokers"]


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (struct.pack(">hhih", METADATA, 77, 1, -1), "brokers of this release have no version 77 of API 3"),
        (struct.pack(">hhih", 999, 0, 1, -1), "brokers of this release have no version 0 of API 999"),
        # EdgeCaseRequestTest.testInvalidApiKeyRequest
        (struct.pack(">hhih", -1, 0, 1, -1), "brokers of this release have no version 0 of API -1"),
        (b"\0\1", "a frame of 2 bytes is no request"),
        (b"", "a frame of 0 bytes is no request"),
        (struct.pack(">hhih", METADATA, 1, 1, -1) + b"\x7f\xff\xff\xff", "topics: a length of 2147483647"),
    ],
)
def test_what_cannot_be_read_closes_its_connection_with_one_line(cluster: Served, frame: bytes, said: str) -> None:
    before = len(cluster.lines)
    raw, other = cluster.connect(), cluster.connect()
    raw.socket.sendall(struct.pack(">i", len(frame)) + frame)
    assert ends(raw) == "closed"
    (line,) = cluster.lines[before:]
    assert said in line
    assert other.metadata()["brokers"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (struct.pack(">i", 104_857_601), "104857601 bytes, and at most 104857600"),
        (struct.pack(">i", -5), "a frame of -5 bytes"),
        (b"GET / HTTP/1.1\r\n\r\n", "this is HTTP"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01", "this is TLS"),
    ],
)
def test_an_impossible_size_closes_its_connection_with_one_line(cluster: Served, data: bytes, said: str) -> None:
    before = len(cluster.lines)
    raw = cluster.connect()
    raw.socket.sendall(data)
    ends(raw)
    (line,) = cluster.lines[before:]
    assert said in line


FRAMES = [
    encode_request(METADATA, 8, 1, "fuzz", {"topics": [{"name": "orders"}]}),
    encode_request(METADATA, 1, 2, "fuzz", {"topics": None}),
    encode_request(API_VERSIONS, 3, 3, "fuzz", {"client_software_name": "x", "client_software_version": "1"}),
    encode_request(API_VERSIONS, 0, 4, None, {}),
]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.one_of(damaged(FRAMES), st.binary(max_size=64)))
def test_no_bytes_stop_the_gateway(cluster: Served, data: bytes) -> None:
    raw = cluster.connect(2)
    raw.socket.sendall(data)
    raw.socket.shutdown(socket.SHUT_WR)
    ends(raw)
    assert cluster.connect(2).metadata()["brokers"]


def test_a_client_that_never_reads_is_not_read_any_more(cluster: Served) -> None:
    raw, other = cluster.connect(), cluster.connect()
    raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.socket.settimeout(0.5)
    with pytest.raises(TimeoutError):
        _send_for_ever(raw)
    assert other.metadata()["brokers"]
    assert raw._sent < 200_000


def _send_for_ever(raw: Raw) -> None:
    name = "x" * 200
    for _ in range(1_000_000):
        raw.send(METADATA, 8, {"topics": [{"name": f"{name}{number}"} for number in range(40)]})


def test_a_thousand_idle_connections_delay_no_other(cluster: Served) -> None:
    idle = [cluster.connect(number % 3) for number in range(1000)]
    assert cluster.connect().metadata()["brokers"]
    assert idle[999].metadata()["brokers"]
    for raw in idle:
        raw.socket.close()
    assert cluster.connect().metadata()["brokers"]


def test_more_connections_than_files_are_turned_away_and_the_rest_goes_on() -> None:
    with served(TOPICS) as cluster:
        raw = cluster.connect()
        cluster.run.sockets.most_connections = 3
        others = [cluster.connect() for _ in range(5)]
        assert _within(lambda: sum("connections are open" in line for line in cluster.lines) == 3)
        assert raw.metadata()["brokers"]
        assert others[0].metadata()["brokers"]
        for other in others:
            other.socket.close()
        assert _within(lambda: cluster.connect().metadata()["brokers"])


def test_a_crashed_broker_resets_and_refuses_and_comes_back_at_its_port() -> None:
    with served(TOPICS, rate=20.0) as cluster:
        raw = cluster.connect(1)
        assert raw.metadata()["brokers"]
        assert cluster.operate("broker.crash", target=1)["ok"]
        assert ends(raw) == "reset"
        with pytest.raises(ConnectionRefusedError):
            cluster.connect(1)
        assert cluster.operate("broker.start", target=1)["ok"]
        assert _within(lambda: cluster.connect(1).metadata()["brokers"])
        assert cluster.operate("broker.crash", target=1)["ok"]
    assert cluster.finished[0].passed


def test_a_paused_broker_accepts_and_is_silent_until_it_goes_on() -> None:
    with served(TOPICS) as cluster:
        old = cluster.connect(1)
        assert old.metadata()["brokers"]
        cluster.operate("broker.pause", target=1)
        new = cluster.connect(1)
        for raw in (old, new):
            raw.send(METADATA, 1, {"topics": []})
            assert raw.is_silent
        cluster.operate("broker.resume", target=1)
        assert old.frame()
        assert new.frame()


def test_a_client_is_cut_off_by_its_client_id() -> None:
    with served(TOPICS) as cluster:
        here, there = cluster.connect(1), cluster.connect(1)
        here.client_id = "here"
        assert here.metadata()
        assert there.metadata()
        assert cluster.operate("link.cut", target=1, peer="client(here)")["ok"]
        here.send(METADATA, 1, {"topics": []})
        assert there.metadata()
        assert here.is_silent
        assert cluster.operate("link.heal", target=1, peer="client(here)")["ok"]
        assert here.frame()


def test_a_client_that_crashes_loses_its_connections() -> None:
    with served(TOPICS) as cluster:
        raw = cluster.connect(1)
        assert raw.metadata()
        assert cluster.operate("client.crash", target="client(raw)")["ok"]
        assert ends(raw) == "reset"
        assert cluster.operate("client.start", target="client(raw)")["ok"]
        assert cluster.connect(1).metadata()


def test_an_answer_is_lost_after_its_effect() -> None:
    """By an entry of the scenario's method, which waits for the response itself."""
    entry = {"when": {"message": "CreateTopics", "response": True}, "action": "message.cut"}
    with served({**TOPICS, "attached": ["raw"], "method": [entry]}, rate=5.0) as cluster:
        controller = cluster.connect().metadata()["controller_id"]
        raw = cluster.connect(controller)
        topic = {"name": "new", "num_partitions": 1, "replication_factor": 3, "assignments": [], "configs": []}
        raw.send(CREATE_TOPICS, 3, {"topics": [topic], "timeout_ms": 10_000, "validate_only": False})
        assert ends(raw) == "reset"
        assert "new" in {topic["name"] for topic in cluster.connect().metadata()["topics"]}
    assert cluster.finished[0].passed


def test_a_slow_link_is_slow_for_its_client_alone() -> None:
    with served(TOPICS) as cluster:
        slow, quick = cluster.connect(1), cluster.connect(1)
        slow.client_id = "slow"
        assert slow.metadata()
        assert quick.metadata()
        assert cluster.operate("link.delay", target=1, peer="client(slow)", delay={"latency": "1h"})["ok"]
        slow.send(METADATA, 1, {"topics": []})
        assert quick.metadata()
        assert slow.is_silent


def test_a_machine_that_is_down_is_silent() -> None:
    """Nothing on it can refuse a connection."""
    with served(TOPICS) as cluster:
        old = cluster.connect(1)
        assert old.metadata()
        assert cluster.operate("broker.crash", target=1, kind="host")["ok"]
        new = cluster.connect(1)
        for raw in (old, new):
            raw.send(METADATA, 1, {"topics": []})
            assert raw.is_silent


def test_no_more_requests_are_read_ahead_than_promised_and_none_is_lost() -> None:
    with served(TOPICS) as cluster:
        raw = cluster.connect(1)
        assert raw.metadata()
        cluster.operate("broker.pause", target=1)
        numbers = [raw.send(METADATA, 1, {"topics": []}) for _ in range(3000)]
        assert raw.is_silent
        (connection,) = cluster.run.sockets._open.values()
        assert len(connection.unanswered) == MOST_UNANSWERED
        cluster.operate("broker.resume", target=1)
        assert [struct.unpack_from(">i", raw.frame())[0] for _ in numbers] == numbers


def test_a_size_that_is_wrong_is_seen_behind_requests_that_wait() -> None:
    with served(TOPICS) as cluster:
        raw = cluster.connect()
        frame = encode_request(METADATA, 1, 1, "raw", {"topics": []})
        raw.socket.sendall((struct.pack(">i", len(frame)) + frame) * 100 + struct.pack(">i", -5))
        ends(raw)
        assert any("a frame of -5 bytes" in line for line in cluster.lines)


def test_a_client_that_sends_without_end_delays_no_other_for_long() -> None:
    """On a quiet machine it is a few milliseconds; before connections took turns it was more than a second."""
    with served(TOPICS) as cluster:
        floods = [cluster.connect() for _ in range(5)]
        request = encode_request(METADATA, 1, 1, "flood", {"topics": []})
        data, over = (struct.pack(">i", len(request)) + request) * 20_000, threading.Event()

        def flood(raw: Raw) -> None:
            with suppress(OSError):
                raw.socket.sendall(data)

        def read(raw: Raw) -> None:
            with suppress(OSError):
                while not over.is_set() and raw.socket.recv(1 << 16):
                    pass

        threads = [threading.Thread(target=does, args=(raw,)) for raw in floods for does in (flood, read)]
        for thread in threads:
            thread.start()
        try:
            quiet = cluster.connect()
            before = len(cluster.run.inputs._waiting)
            took = []
            for _ in range(20):
                began = time.monotonic()
                assert quiet.metadata()["brokers"]
                took.append(time.monotonic() - began)
        finally:
            over.set()
            for raw in floods:
                raw.socket.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join()
        assert before <= 6
        assert sorted(took)[10] < 0.25


def test_requests_that_are_never_complete_have_a_bound_together() -> None:
    with served(TOPICS) as cluster:
        sockets = cluster.run.sockets
        sockets.most_unfinished = 3_000_000
        raws = [cluster.connect() for _ in range(5)]
        for raw in raws:
            with suppress(OSError):
                raw.socket.sendall(struct.pack(">i", 50_000_000) + bytes(900_000))
        assert _within(lambda: any("of all connections together" in line for line in cluster.lines))
        assert _within(lambda: 0 < sockets.unfinished <= sockets.most_unfinished)
        assert cluster.connect().metadata()["brokers"]
        assert _within(lambda: len(sockets._open) >= 3)
        for raw in raws:
            raw.socket.close()
        assert _within(lambda: sockets.unfinished == 0)


def test_a_full_store_is_said() -> None:
    topic = {"name": "orders", "partition_data": [{"index": 0, "records": sent()}]}
    with served(TOPICS) as cluster:
        batches = cluster.run.gateway.served.batches
        batches.memory_bytes, batches.file_bytes = 0, 10
        body = {"transactional_id": None, "acks": 1, "timeout_ms": 1000, "topic_data": [topic]}
        (answer,) = cluster.connect(0).ask(PRODUCE, 7, body)["responses"]
        assert Errors(answer["partition_responses"][0]["error_code"]) is Errors.KAFKA_STORAGE_ERROR
        assert ["no room for more records" in line for line in cluster.lines] == [True]


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(BadInput, match="cannot be used"), served(port=taken.getsockname()[1]):
            pass


def test_two_clusters_do_not_share_a_port(cluster: Served) -> None:
    _, port = cluster.run.sockets.addresses[0]
    with pytest.raises(BadInput, match="cannot be used"), served(port=port):
        pass


def _within(condition: Callable[[], object], limit_s: float = 60.0) -> bool:
    """Whether it comes true, tried again where it cannot connect."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        with suppress(OSError):
            if condition():
                return True
        time.sleep(0.01)
    return False
