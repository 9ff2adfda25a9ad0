"""Waiting for sockets: by which thread, and how exactly."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
import trio.testing

from scenarios.wire.gateway.readiness import READ, WRITE, Readiness
from scenarios.wire.gateway.sockets import most_files

SELECTABLE = 1024
"""select.select takes the files below this number."""


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    with_here, with_there = socket.socketpair()
    with with_here, with_there:
        yield with_here, with_there


@pytest.fixture
def readiness() -> Iterator[Readiness]:
    found = Readiness()
    yield found
    found.close()


def make_busy(readiness: Readiness, pair: tuple[socket.socket, socket.socket]) -> list[int]:
    """Let it see something that can be read. Returns the list to which ``pair``'s first socket adds its events."""
    seen: list[int] = []
    readiness.watch(pair[0], READ, seen.append)
    pair[1].send(b"x")
    readiness._call(0.0)
    assert seen == [READ]
    return seen


def test_trio_waits_while_clients_are_quiet(readiness: Readiness) -> None:
    assert readiness.pause(5.0) == 5.0


def test_a_busy_client_is_waited_for_and_quiet_ones_are_left_to_trio_again(
    readiness: Readiness, pair: tuple[socket.socket, socket.socket]
) -> None:
    seen = make_busy(readiness, pair)
    assert readiness.pause(60.0) == 0.0
    assert seen == [READ, READ]
    pair[0].recv(1)
    deadline = time.monotonic() + 60
    while readiness.pause(60.0) == 0.0:
        assert time.monotonic() < deadline
    assert seen == [READ, READ]


def test_a_wait_is_not_rounded_up_to_milliseconds(
    readiness: Readiness, pair: tuple[socket.socket, socket.socket]
) -> None:
    shortest = 1.0
    for _ in range(200):
        make_busy(readiness, pair)
        pair[0].recv(1)
        began = time.perf_counter()
        readiness.pause(0.0002)
        shortest = min(shortest, time.perf_counter() - began)
    assert 0.0001 < shortest < 0.0009


def timer_slack_ns() -> int:
    return int(Path(f"/proc/{threading.get_native_id()}/timerslack_ns").read_text())


def test_the_thread_that_serves_wakes_when_it_is_due(readiness: Readiness) -> None:
    slack: list[int] = []

    async def serve() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(readiness.serve)
            await trio.testing.wait_all_tasks_blocked()
            slack.append(timer_slack_ns())
            nursery.cancel_scope.cancel()

    if not Path("/proc/self/timerslack_ns").exists():
        pytest.skip("the system has no timer slack that a thread can set")
    thread = threading.Thread(target=trio.run, args=(serve,))
    thread.start()
    thread.join(60)
    assert slack == [1]


def test_a_socket_is_watched_for_what_is_wanted_of_it_now(
    readiness: Readiness, pair: tuple[socket.socket, socket.socket]
) -> None:
    seen = make_busy(readiness, pair)
    for events, expected in ((READ | WRITE, [READ | WRITE]), (WRITE, [WRITE]), (0, []), (0, []), (READ, [READ])):
        seen.clear()
        readiness.watch(pair[0], events, seen.append)
        readiness._call(0.0)
        assert seen == expected


def test_it_works_where_many_files_are_open(pair: tuple[socket.socket, socket.socket]) -> None:
    if most_files() <= SELECTABLE + 100:
        pytest.skip("the system lets this process open only a few files")
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(SELECTABLE)]
    try:
        readiness = Readiness()
        assert make_busy(readiness, pair)
        assert readiness.pause(0.001) == 0.0
        readiness.close()
    finally:
        for file in files:
            os.close(file)
