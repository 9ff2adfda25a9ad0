"""E10: a broker that starts again finds the logs that it had."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from emulator.protocol.shown import Remembered
from scenarios.observe.checkers.broker_memory import BrokerMemory, Unlike


class LogsReload(BrokerMemory):
    """A broker that stands idle and starts again goes on with the logs that it had: the same start, the same end, the
    same high watermark, the same leader epochs (KIP-101: the file of leader epochs says what the records say).

    Verified: when the cluster is at rest, for each replica of each broker that the controller has reached for long
        enough: what it works with, against its files and the checkpoints as they are written next. No log lies there
        that is to replace another while nothing is copied to it: a start takes it for a copy under way (KIP-113). That
        of a replica which is not assigned any more is left like the replica itself.

    Together with ``broker_remembers`` (replicas, producers, settings, metadata), ``coordinators_remember`` (groups and
    transactions) and ``converged`` this is what a restart at rest shows; a test restarts brokers and compares.

    Not verified: leader epochs without records; checkpoints that a crash prevents from being written; logs that copy to
        another directory.
    """

    ids = ("E10",)
    statement = "at rest log_b = load(disk_b): a broker that starts again finds the logs that it had"
    fails_when = "a log notes its first leader epoch only"

    def unlike(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        for tp, (kept, loaded) in memories["logs"].items():
            if kept != loaded:
                name = next(name for name in kept._fields if getattr(kept, name) != getattr(loaded, name))
                words = name.replace("_", " ")
                yield Unlike("logs", words, str(getattr(kept, name)), str(getattr(loaded, name)), tp)
        for tp in memories["futures"]:
            if event.node not in self.cluster.assignment(tp):
                continue
            yield Unlike("futures", "", "no copy to another directory", "the log of one", tp)
