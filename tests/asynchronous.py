"""Coroutines of asyncio in tests."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def in_asyncio(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """``asyncio.run``, also while a browser is open: Playwright leaves its own loop as the one that runs."""
    running = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        return asyncio.run(work())
    finally:
        asyncio._set_running_loop(running)
