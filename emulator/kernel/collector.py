"""Python's cyclic garbage collector, kept out of the way of a run.

It would trigger by allocation counts and walk the whole heap of a large cluster again and again: a quarter of
the time of a run with 500 partitions. Nearly all that a run throws away has no cycles; the rest is collected
now and then.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

EVENTS_BETWEEN_COLLECTIONS = 2_000_000


@contextmanager
def collector_off() -> Iterator[None]:
    """No automatic collections inside; the collector is as it was afterwards."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def collect() -> None:
    """Collect now."""
    gc.collect()
