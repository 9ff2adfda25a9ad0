"""Running Trio where asyncio runs already, as it does in a Jupyter notebook: in a thread of its own."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")


def beside_loops(work: Callable[[], T]) -> T:
    """``work()``. Where asyncio runs a loop in this thread, it is done in another one: both loops want the signals of
    the thread that they run in.

    Ctrl-C ends the wait at once; what was being done in the other thread is lost when the process ends.
    """
    return _in_thread(work) if _runs_asyncio() else work()


def _runs_asyncio() -> bool:
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _in_thread(work: Callable[[], T]) -> T:
    results: list[T] = []
    errors: list[BaseException] = []

    def do() -> None:
        try:
            results.append(context.run(work))
        except BaseException as error:
            errors.append(error)

    context = copy_context()
    thread = threading.Thread(target=do, name="understudy-run", daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
