"""Ctrl-C while this process talks to Spark's JVM.

PySpark's own handler of the signal sends a command to the JVM. Where the main thread waits for the answer of another
command just then, the two share a connection, and the process hangs (PySpark 4.0, py4j 0.10.9). So Spark is started
where that handler is not installed, and the tasks of a sweep are handed out with Ctrl-C held back.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from types import FrameType

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway

INCUBATOR = b"WARNING: Using incubator modules"
"""The line of the JVM about a module that Spark's launcher adds."""


def start(conf: SparkConf) -> SparkContext:
    """Spark's context, with Ctrl-C left as it is: PySpark installs its handler in the main thread only."""
    with ThreadPoolExecutor(1, thread_name_prefix="spark-start") as aside:
        return aside.submit(_start, conf).result()


def _start(conf: SparkConf) -> SparkContext:
    if SparkContext._gateway is None:
        read, write = os.pipe()
        threading.Thread(target=_pass_on, args=(read,), name="spark-stderr", daemon=True).start()
        try:
            gateway = launch_gateway(conf, {"stderr": write})  # type: ignore[no-untyped-call]
        finally:
            os.close(write)
        SparkContext._ensure_initialized(gateway=gateway, conf=conf)
    return SparkContext.getOrCreate(conf)


def _pass_on(read: int) -> None:
    """Pass on the JVM's output on standard error, without a remark that Spark 4 causes in every session."""
    with open(read, "rb") as lines:
        for line in lines:
            if not line.startswith(INCUBATOR):
                with suppress(OSError):
                    os.write(2, line)


@contextmanager
def unremarked() -> Iterator[None]:
    """Hide the traces of a Ctrl-C inside the block that interrupts a command of py4j: the traceback, and the warning
    that the JVM did not stop cleanly."""
    unheard = logging.NullHandler()
    logging.getLogger().addHandler(unheard)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Unable to cleanly shutdown Spark JVM", RuntimeWarning)
            yield
    finally:
        logging.getLogger().removeHandler(unheard)


@contextmanager
def held_back() -> Iterator[Callable[[], None]]:
    """Hold Ctrl-C back inside the block: it becomes a KeyboardInterrupt at the call of the given function, or at the
    end. A second Ctrl-C does not wait."""
    pressed = False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True

    def heed() -> None:
        if pressed:
            raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is None or threading.current_thread() is not threading.main_thread():
        yield heed  # a handler that was not set from Python could not be restored; signals belong to the main thread
        return
    signal.signal(signal.SIGINT, press)
    try:
        yield heed
    finally:
        signal.signal(signal.SIGINT, before)
    heed()
