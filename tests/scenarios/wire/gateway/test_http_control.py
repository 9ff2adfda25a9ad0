"""A served cluster is controlled over HTTP as by ``ctl``; what comes over a socket ends at most its connection."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.wire.control_routes import ROUTES, RefusedRequest, asked_for
from scenarios.wire.gateway.http_control import MOST_BODY, MOST_CONNECTIONS
from scenarios.wire.operations.performing import read
from tests.scenarios.wire.gateway.served import LIMIT_S, METADATA, Raw, Served, served, wait_for

FAIL = {"action": "request.fail", "api": "Metadata", "error": "UNKNOWN_SERVER_ERROR"}
SCENARIO = {
    "topics": [{"name": "orders", "partitions": 1, "replication_factor": 3}],
    "method": [
        {"at": "1ms", **FAIL, "client": "of the file", "count": 0, "fault": "first", "optional": True},
        {"when": {"fault": "first", "occurrence": 2}, "action": "broker.pause", "target": 2, "optional": True},
    ],
}


@frozen
class Http:
    """A client of the control port."""

    cluster: Served

    @property
    def port(self) -> int:
        assert self.cluster.run.http is not None
        return self.cluster.run.http.port

    @property
    def token(self) -> str:
        assert self.cluster.run.http is not None
        return self.cluster.run.http.token

    def ask(self, method: str, path: str, body: Any = None, token: str | None = None) -> tuple[int, dict[str, Any]]:
        """The status and the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection.request(method, path, data, {"Authorization": f"Bearer {token or self.token}"})
        response = connection.getresponse()
        found = response.status, json.loads(response.read())
        connection.close()
        return found

    def throw(self, data: bytes) -> bytes:
        """Send bytes and nothing more. Returns what comes back until the connection ends."""
        found = b""
        with socket.create_connection(("127.0.0.1", self.port), LIMIT_S) as thrown, suppress(ConnectionError):
            thrown.sendall(data)
            thrown.shutdown(socket.SHUT_WR)
            while part := thrown.recv(65536):
                found += part
        return found


@pytest.fixture(scope="module")
def control() -> Iterator[Http]:
    with served(SCENARIO, control_port=0) as cluster:
        yield Http(cluster)
        assert Http(cluster).ask("POST", "/stop") == (200, {"ok": True})
    (run,) = cluster.finished
    assert run.verdict == "passed", run.explanation
    assert cluster.lines == []


def state_of(control: Http, broker: int) -> str:
    status, answer = control.ask("GET", "/state")
    assert status == 200
    return str(answer["brokers"][broker]["state"])


def test_brokers_are_stopped_and_started_and_a_partition_is_shown(control: Http) -> None:
    status, answer = control.ask("POST", "/actions/broker.crash", {"target": 1})
    assert (status, answer["done"][0]["target"], state_of(control, 1)) == (200, "1", "down")
    assert control.ask("POST", "/actions/broker.start", {"target": 1})[0] == 200
    assert control.ask("POST", "/wait", {"until": "isr full"})[0] == 200
    status, answer = control.ask("GET", "/state?partition=orders-0")
    assert [each["partition"] for each in answer["partitions"]] == ["orders-0"]


def test_a_fault_is_waited_for_and_removed(control: Http) -> None:
    keys = {**{name: value for name, value in FAIL.items() if name != "action"}, "client": "raw", "count": 0}
    assert control.ask("POST", "/actions/request.fail", {**keys, "fault": "a b"})[0] == 200
    status, answer = control.ask("POST", "/wait", {"when": {"fault": "a b"}, "within": "10ms"})
    assert (status, answer["error"]) == (504, "that did not come within 10ms")
    for _ in range(3):
        control.cluster.connect().metadata()
    hits = {"fault": "a b", "occurrence": 3}
    assert control.ask("POST", "/wait", {"when": hits})[0] == 200
    status, answer = control.ask("GET", "/requests/a%20b")
    assert (status, [each["fired"] for each in answer["requests"]]) == (200, [3])
    assert control.ask("DELETE", "/requests/a%20b")[0] == 200
    assert control.ask("DELETE", "/requests/a%20b")[0] == 404
    status, answer = control.ask("GET", "/requests/a%20b")
    assert (status, answer["error"]) == (404, "fault: there is no fault called 'a b'; known: first")


def test_an_entry_of_the_file_waits_for_the_hits_of_a_fault(control: Http) -> None:
    for hits in range(2):
        assert state_of(control, 2) == "up", hits
        raw = control.cluster.connect()
        Raw(raw.socket, "of the file").ask(METADATA, 8, {"topics": None})
    wait_for(lambda: state_of(control, 2) == "paused", what="the second hit pauses the broker")
    assert control.ask("POST", "/actions/broker.resume", {"target": 2})[0] == 200


@pytest.mark.parametrize(
    ("action", "keys"),
    [
        ("broker.crash", {"target": 9}),
        ("broker.crash", {"target": "leader(order-0)"}),
        ("broker.crsh", {"target": 1}),
        ("broker.crash", {"target": 1, "durations": "1s"}),
        ("request.fail", {"api": "Prodce", "error": "NOT_ENOUGH_REPLICAS"}),
        ("wait", {"until": "setled"}),
        ("wait", {"when": {"fault": "third"}}),
        ("wait", {}),
        ("state", {"partition": "order-0"}),
    ],
)
def test_bad_input_reads_the_same_through_both_doors(control: Http, action: str, keys: dict[str, Any]) -> None:
    expected = control.cluster.operate(action, **keys)
    path = "/wait" if action == "wait" else f"/actions/{action}"
    answer = control.ask("GET", "/state?partition=order-0") if action == "state" else control.ask("POST", path, keys)
    assert (answer[0], answer[1]["error"]) == (400, expected["error"])
    assert "\n" not in expected["error"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "said"),
    [
        ("POST", "/actions/heal", b"{", 400, "the body is no JSON"),
        ("POST", "/actions/heal", b"[1]", 400, "the body is no JSON object"),
        ("POST", "/actions/heal", b"\xff", 400, "the body is no JSON"),
        ("POST", "/actions/heal", b"[" * 90 + b"]" * 90, 400, "more than 64"),
        ("POST", "/actions/heal", {"action": "stop"}, 400, "action: the path says it already; leave it out"),
        ("POST", "/actions/heal?a=1", None, 400, "stand in its body"),
        ("GET", "/state", {"partition": "a-0"}, 400, "stand in its query"),
        ("GET", "/state?partition=a-0&partition=b-0", None, 400, "stands in the query twice"),
        ("GET", "/sate", None, 404, "did you mean '/state'?"),
        ("PUT", "/requests/first", None, 405, "takes no PUT; write GET, DELETE"),
        ("POST", "/wait", b" " * (MOST_BODY + 1), 413, "a body has at most"),
    ],
)
def test_what_no_path_takes_is_one_line(
    control: Http, method: str, path: str, body: Any, status: int, said: str
) -> None:
    found, answer = control.ask(method, path, body)
    assert (found, said in answer["error"], "\n" in answer["error"]) == (status, True, False)


def test_without_the_token_nothing_is_done(control: Http) -> None:
    for token in ("wrong", control.token[:-1], f"{control.token}x"):
        assert control.ask("POST", "/actions/broker.crash", {"target": 0}, token)[0] == 401
    head = f"GET /state HTTP/1.1\r\nHost: a\r\nAuthorization: {control.token}\r\n\r\n"
    assert control.throw(head.encode()).startswith(b"HTTP/1.1 401 ")
    assert state_of(control, 0) == "up"
    assert control.ask("GET", "/openapi.json", None, "wrong")[0] == 200


def test_requests_in_one_piece_are_answered_in_their_order(control: Http) -> None:
    head = f"Host: a\r\nAuthorization: Bearer {control.token}\r\n"
    one = f"GET /state HTTP/1.1\r\n{head}\r\n"
    two = f"POST /wait HTTP/1.1\r\n{head}Content-Length: 2\r\n\r\n{{}}"
    answers = control.throw((one + two + one + f"GET /none HTTP/1.0\r\n{head}\r\n").encode())
    assert [part[:3] for part in answers.split(b"HTTP/1.1 ")[1:]] == [b"200", b"400", b"200", b"404"]


def test_slow_senders_make_room(control: Http) -> None:
    slow = [socket.create_connection(("127.0.0.1", control.port), LIMIT_S) for _ in range(MOST_CONNECTIONS + 20)]
    for each in slow:
        with suppress(ConnectionError):
            each.sendall(b"GET /state HT")
    assert state_of(control, 0) == "up"
    for each in slow:
        each.close()


HEADS = st.sampled_from(
    (b"GET /state HTTP/1.1\r\n", b"POST /wait HTTP/1.1\r\n", b"GET / HTTP/1.0\r\n", b"\x16\x03\x01", b"")
)
LINES = st.sampled_from(
    (
        b"Host: a\r\n", b"Content-Length: 3\r\n", b"Content-Length: -1\r\n", b"Transfer-Encoding: chunked\r\n",
        b"Expect: 100-continue\r\n", b"Connection: upgrade\r\nUpgrade: h2c\r\n", b"Content-Length: 99999999999\r\n",
        b"A: " + b"b" * 20_000 + b"\r\n", b"\r\n", b"3\r\nabc\r\n", b"0\r\n\r\n", b"ffffffffffffffff\r\n", b"\n", b"\0",
    )
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(HEADS, st.lists(LINES | st.binary(max_size=20), max_size=8))
def test_any_bytes_end_at_most_their_connection(control: Http, head: bytes, more: list[bytes]) -> None:
    found = control.throw(head + b"".join(more))
    assert not found or found.startswith(b"HTTP/1.1 ")
    assert b" 500 " not in found


def test_the_cluster_has_outlived_all_of_it(control: Http) -> None:
    assert control.ask("GET", "/state")[0] == 200
    assert control.cluster.connect().metadata()["brokers"]


PATHS = st.sampled_from([route.path for route in ROUTES]) | st.text(max_size=12).map("/".__add__)


@given(st.sampled_from(("GET", "POST", "DELETE", "PATCH")), PATHS, st.text(max_size=12), st.binary(max_size=12))
def test_any_request_is_an_operation_or_is_refused(method: str, path: str, query: str, body: bytes) -> None:
    try:
        asked = asked_for(method, f"{path}?{query}", body)
    except RefusedRequest as refused:
        status, text = refused.status, str(refused)
    else:
        status, text = 200, asked.operation
        assert "action" in read(text)
    assert status in (200, 400, 404, 405)
    assert "\n" not in text
