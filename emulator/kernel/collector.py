"""Python's cyclic garbage collector, switched off during a run.

It starts after a number of allocations and walks the whole heap each time, which took a quarter of the
time of a run with 500 partitions. Nearly all garbage of a run has no cycles; the rest is collected once
per ``EVENTS_BETWEEN_COLLECTIONS``.

A world is itself one large cycle, and a collection while it is reachable moves it to an older generation, where freeing
it costs three times as much. So a run is played and judged in one function with ``@collector_off()``:
when that has returned, the next collection, of the youngest generation, frees the world.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

EVENTS_BETWEEN_COLLECTIONS = 2_000_000


@contextmanager
def collector_off() -> Iterator[None]:
    """No automatic collections inside the block; afterwards the collector is as before."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def collect() -> None:
    gc.collect()
