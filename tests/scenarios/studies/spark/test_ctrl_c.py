"""Ctrl-C at the worst moment: the main thread has sent a command to Spark's JVM and waits for the answer."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from itertools import islice

import pytest
from py4j.clientserver import ClientServerConnection
from pyspark.sql import SparkSession

from scenarios.studies.spark import ctrl_c
from scenarios.studies.spark.task_waves import Waves

pytestmark = pytest.mark.spark

ENDLESS_FROM = 3


def endless(task: int) -> int:
    while task >= ENDLESS_FROM:
        time.sleep(0.1)
    return task


@pytest.fixture
def press(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Presses Ctrl-C while the main thread's next command to the JVM is under way."""
    pressed = threading.Event()
    pressed.set()
    real = ClientServerConnection.send_command

    class Answers:
        def __init__(self, stream: object) -> None:
            self.stream = stream

        def readline(self) -> bytes:
            if not pressed.is_set() and threading.current_thread() is threading.main_thread():
                pressed.set()
                signal.raise_signal(signal.SIGINT)
            return self.stream.readline()  # type: ignore[attr-defined, no-any-return]

        def __getattr__(self, name: str) -> object:
            return getattr(self.stream, name)

    def send_command(self: ClientServerConnection, command: str) -> str:
        if not isinstance(self.stream, Answers):
            self.stream = Answers(self.stream)
        return real(self, command)  # type: ignore[no-any-return]

    monkeypatch.setattr(ClientServerConnection, "send_command", send_command)
    return pressed.clear


def test_tasks_that_are_under_way_are_cancelled(spark: SparkSession, press: Callable[[], None]) -> None:
    tasks, came = iter(range(6)), list[int]()

    def take_all() -> None:
        for result in Waves(spark).results(endless, lambda most: list(islice(tasks, most))):
            if result is not None:
                came.append(result.task)
                if len(came) == ENDLESS_FROM:
                    press()

    with pytest.raises(KeyboardInterrupt):
        take_all()
    assert sorted(came) == list(range(ENDLESS_FROM))
    assert spark.sparkContext.parallelize([1, 2]).count() == 2


def test_the_handler_of_ctrl_c_is_pythons(spark: SparkSession) -> None:
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_that_is_held_back_comes_at_the_end_at_the_latest() -> None:
    reached = False

    def go_on() -> None:
        nonlocal reached
        with ctrl_c.held_back():
            signal.raise_signal(signal.SIGINT)
            reached = True

    with pytest.raises(KeyboardInterrupt):
        go_on()
    assert reached


def test_a_second_ctrl_c_does_not_wait() -> None:
    def press_twice() -> None:
        with ctrl_c.held_back():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            pytest.fail("it has waited")

    with pytest.raises(KeyboardInterrupt):
        press_twice()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
