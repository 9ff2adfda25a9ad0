"""Where brokers listen and what they tell clients: ports of each, and addresses behind a proxy."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from confluent_kafka import Producer

from scenarios.cli.program import main
from scenarios.errors import BadInput
from scenarios.wire.listener_addresses import advertised_of, check_advertised, ports_of, read_ports
from scenarios.wire.recording.folder import read_live_run
from scenarios.wire.recording.replay import ReplayedRun
from tests.scenarios.wire.gateway.served import served

BROKERS = 3


def test_ports_follow_the_first_or_are_given_one_by_one() -> None:
    assert ports_of(None, 2) == (0, 0)
    assert ports_of(read_ports("9092"), 3) == (9092, 9093, 9094)
    assert ports_of(read_ports("9092, 9192,7000"), 3) == (9092, 9192, 7000)
    assert advertised_of(["kafka-0:19092", "[::1]:1", " localhost:2"]) == (
        ("kafka-0", 19092),
        ("::1", 1),
        ("localhost", 2),
    )


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--port", "9092,9093"], "--port: 2 ports for 3 brokers; write one for each, or that of the first"),
        (["--port", "9092,x"], "--port: 'x' is no port; write a number from 1 to 65535"),
        (["--port", "9092,9093,9092"], "--port: two brokers have the port 9092; write another one for each"),
        (["--broker-ids", "1,x"], "--broker-ids: '1,x' are no ids; write numbers with commas, such as 1,2,3"),
        (["--broker-ids", "2,1"], "cluster.broker_ids: the ids do not ascend; write [1, 2]"),
        (["--advertised", "a:1,b"], "--advertised: 'b' is no address; write HOST:PORT, such as localhost:19092"),
        (["--advertised", "a:1,::1:2"], "--advertised: '::1:2' is no address; write HOST:PORT"),
        (["--advertised", "a:1,b:2"], "--advertised: 2 addresses for 3 brokers; write one for each"),
        (["--advertised", "a:1,b:2,a:1"], "--advertised: two brokers have the address a:1"),
        (["--advertised", "a:1,b:2,c:0"], "--advertised: '0' is no port"),
        (["--advertised", "a:1", "--advertised-host", "a"], "--advertised-host: --advertised has the hosts too"),
    ],
)
def test_what_cannot_be_is_one_line(options: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", *options]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert said.removeprefix("understudy: ").startswith(line)


def test_an_address_of_two_brokers_is_refused() -> None:
    with pytest.raises(BadInput, match="two brokers"):
        check_advertised((("a", 1), ("a", 1)), 2)
    check_advertised((), 2)


@contextmanager
def proxy(to: list[int], place: int, passed: list[int]) -> Iterator[int]:
    """A port that passes on what comes to the port that ``to`` has at ``place`` by then."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def take() -> None:
            with suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    passed.append(place)
                    server = socket.create_connection(("127.0.0.1", to[place]))
                    for ends in ((client, server), (server, client)):
                        threading.Thread(target=pump, args=ends, daemon=True).start()

        threading.Thread(target=take, daemon=True).start()
        yield listener.getsockname()[1]


def pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    for end in (source, sink):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def test_clients_go_through_the_proxy_of_each_broker(tmp_path: Path) -> None:
    ports, passed, folder = [0] * BROKERS, list[int](), tmp_path / "run"
    with ExitStack() as stack:
        fronts = [stack.enter_context(proxy(ports, broker, passed)) for broker in range(BROKERS)]
        advertised = tuple(("localhost", port) for port in fronts)
        topic = {"name": "orders", "partitions": BROKERS, "replication_factor": 3}
        cluster = stack.enter_context(served({"topics": [topic]}, advertised=advertised, record=folder))
        ports[:] = [cluster.run.sockets.ports[broker] for broker in range(BROKERS)]
        assert cluster.run.bootstrap_servers == ",".join(f"localhost:{port}" for port in fronts)
        producer = Producer({"bootstrap.servers": cluster.run.bootstrap_servers.split(",")[0], "log_level": 0})
        for partition in range(BROKERS):
            producer.produce("orders", b"a", partition=partition)
        assert producer.flush(30) == 0
        assert set(passed) == set(range(BROKERS))
    assert ReplayedRun(read_live_run(folder)).play().same
