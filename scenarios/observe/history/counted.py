"""Meters of brokers, beside how much events show that they have to count."""

from __future__ import annotations

from functools import lru_cache

from attrs import define

from emulator.metrics import short_name

MESSAGES_IN, BYTES_IN, BYTES_OUT = "MessagesInPerSec", "BytesInPerSec", "BytesOutPerSec"
REPLICATED_IN, REPLICATED_OUT = "ReplicationBytesInPerSec", "ReplicationBytesOutPerSec"
EXPANDS, SHRINKS, FAILED_CHANGES = "IsrExpandsPerSec", "IsrShrinksPerSec", "FailedIsrUpdatesPerSec"
PRODUCED, PRODUCE_FAILED = "TotalProduceRequestsPerSec", "FailedProduceRequestsPerSec"
FETCHED, ERRORS, REQUESTS = "TotalFetchRequestsPerSec", "ErrorsPerSec", "RequestsPerSec"
UNCLEAN = "UncleanLeaderElectionsPerSec"
REASSIGNED_IN, REASSIGNED_OUT = "ReassignmentBytesInPerSec", "ReassignmentBytesOutPerSec"

SUMS = frozenset((MESSAGES_IN, BYTES_IN, BYTES_OUT, PRODUCED, PRODUCE_FAILED, FETCHED, "BytesRejectedPerSec"))
"""The meters of topics. One of the same name, without a topic, is their sum."""
BOUNDED = frozenset(
    (MESSAGES_IN, BYTES_IN, REPLICATED_IN, REASSIGNED_IN, EXPANDS, SHRINKS, PRODUCED, PRODUCE_FAILED, UNCLEAN)
)
"""The meters of which events show all that they may count."""
OF_EACH_REQUEST = frozenset((PRODUCED, PRODUCE_FAILED, FETCHED, ERRORS, REQUESTS))
"""The meters that count requests, most of which a leap of a sampled run passes over."""
NAMES = frozenset((*SUMS, *BOUNDED, REPLICATED_OUT, REASSIGNED_OUT, FAILED_CHANGES, ERRORS, REQUESTS))

TYPES = (
    "kafka.server:type=BrokerTopicMetrics,",
    "kafka.server:type=ReplicaManager,",
    "kafka.controller:type=ControllerStats,",
)
PRODUCES, FETCHES = "Produce", "FetchConsumer"
OF_REQUESTS = (
    "kafka.network:type=RequestMetrics,name=ErrorsPerSec,request=Produce,",
    f"kafka.network:type=RequestMetrics,name=RequestsPerSec,request={PRODUCES}",
    f"kafka.network:type=RequestMetrics,name=RequestsPerSec,request={FETCHES}",
)

name_of = lru_cache(4096)(short_name)


@lru_cache(4096)
def counts(metric: str) -> tuple[str, str] | None:
    """The value of ``name=`` of a meter that is looked at, and its topic, error or request, ``""`` for all; None for
    others."""
    name, _, rest = metric.partition("name=")[2].partition(",")
    known = name in NAMES and metric.startswith(TYPES + OF_REQUESTS)
    return (name, rest.rpartition("=")[2]) if known else None


@define(eq=False)
class CountedMeter:
    """One meter of a broker.

    Attributes:
        name: the value of ``name=``; ``of``: the topic, error or request; ``""``: all.
        least, most: how much it has to count, and may, since its process has started or a meter of its name has ended.
        shown: its total, as it was written last.
        due, since_us: what it had to count at that time, and has not shown since; 0: it has shown all.
    """

    node: int
    name: str
    of: str
    least: int = 0
    most: int = 0
    shown: int = 0
    due: int = 0
    since_us: int = 0

    def end(self) -> None:
        """The meter ends. The next one of its name begins at 0."""
        self.least = self.most = self.shown = self.due = 0
