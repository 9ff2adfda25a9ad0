"""Requests as a broker counts them, under Kafka's names.

- ``BrokerTopicMetrics``: what is appended or read for clients and followers, of each topic and of all
- ``RequestMetrics``: requests and the errors in their answers, by API
- ``DelayedOperationPurgatory``: the produce requests that wait

Behavior:

- A produce request counts once for each partition that it names, before anything is checked
  (``ReplicaManager.appendToLocalLog``, 0.9 to 3.9), coordinators' own records too. It has failed where what stops it is
  none of the errors that Kafka expects there.
- The bytes of a batch count as rejected where it is larger than max.message.bytes, and for no other reason
  (``Log.analyzeAndValidateRecords``, 1.1 to 3.9).
- A fetch counts once for each partition that is read, of a follower as of a consumer: all of its session's
  (``ReplicaManager.readFromLocalLog``); once more where it has waited, since what waited is read again
  (``DelayedFetch.onComplete``). No reading fails here otherwise than with errors that Kafka expects, so
  FailedFetchRequestsPerSec stays 0.
- A request counts when it is answered (``RequestChannel.Request.updateRequestMetrics``), and so does each partition's
  error in its answer, NONE too (``RequestChannel.updateErrorMetrics``, 1.0 to 3.9).

What is idle is not simulated, so a session counts its own reads, and they are taken from it when they are written.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from attrs import define, field

from emulator.metrics import Meter, Metrics, mbean
from emulator.metrics.grid import IDLE_METERS_US
from emulator.protocol.api import AbstractControlRequest, Request
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import FetchRequest
from emulator.protocol.produce import ProduceRequest

PRODUCED, PRODUCE_FAILED = "TotalProduceRequestsPerSec", "FailedProduceRequestsPerSec"
REJECTED = "BytesRejectedPerSec"
FETCHED, FETCH_FAILED = "TotalFetchRequestsPerSec", "FailedFetchRequestsPerSec"
PRODUCES = PRODUCED, PRODUCE_FAILED, REJECTED
"""The meters of a topic that its leaders alone have (KAFKA-8392, 2.4)."""

EXPECTED = frozenset((
    Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.NOT_LEADER_FOR_PARTITION, Errors.MESSAGE_TOO_LARGE,
    Errors.RECORD_LIST_TOO_LARGE, Errors.CORRUPT_MESSAGE, Errors.KAFKA_STORAGE_ERROR, Errors.INVALID_TOPIC_EXCEPTION,
))  # fmt: skip
"""The errors with which a produce request has not failed (ReplicaManager.appendToLocalLog, 1.1 to 3.9)."""


KAFKAS = {"OffsetsForLeaderEpoch": "OffsetForLeaderEpoch"}
"""The names in metrics of APIs that have other ones here (ApiKeys, 2.4.1)."""


class CountsReads(Protocol):
    """A reader that counts how often its partitions were read."""

    def take_reads(self) -> Mapping[str, int]:
        """The number of partitions that were read since the last call, by topic."""


class Write(NamedTuple):
    """An entry of a grid."""

    write: Callable[[], None]


class TopicRequests:
    """The meters of produce requests and fetches of one broker. A topic has each of them from its first request on, the
    broker from its start. That of rejected bytes begins with the first of them; ``scenarios/observe/exposition`` shows
    the broker's 0 before."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._produced: dict[str, int] = {}
        self._failed: dict[str, int] = {}
        self._rejected: dict[str, int] = {}
        self._fetched: dict[str, int] = {}
        self._readers: dict[CountsReads, None] = {}
        self._meters: dict[tuple[str, str], Meter] = {}
        for name in (PRODUCED, PRODUCE_FAILED, FETCHED, FETCH_FAILED):
            self._meter(name, "")
        self._produced_us = self._fetched_us = 0
        self._due = self._due_idly = False

    def _meter(self, name: str, topic: str) -> Meter:
        meter = self._meters.get((name, topic))
        if meter is None:
            named = mbean("kafka.server", "BrokerTopicMetrics", name, topic=topic)
            meter = self._meters[name, topic] = self._metrics.meter(named)
        return meter

    def produced(self, topic: str, error: Errors) -> None:
        """Count a partition of a produce request, and the error with which it was refused, or NONE."""
        produced = self._produced
        if not produced:
            self._produced_us = self._metrics.time_us()
            self.fetched()
        produced[topic] = produced.get(topic, 0) + 1
        if error and error not in EXPECTED:
            self._failed[topic] = self._failed.get(topic, 0) + 1

    def rejected(self, topic: str, size: int) -> None:
        """Count a batch of so many bytes, which is too large."""
        self._rejected[topic] = self._rejected.get(topic, 0) + size

    def counts_produces(self, topic: str) -> bool:
        """Whether produce requests have named ``topic`` here."""
        return topic in self._produced or (PRODUCED, topic) in self._meters

    def read(self, topics: Iterable[str]) -> None:
        """Count a fetch that reads a partition of each of ``topics``."""
        self.fetched()
        for topic in topics:
            self._fetched[topic] = self._fetched.get(topic, 0) + 1

    def begin_reader(self, reader: CountsReads) -> None:
        """Take the reads of ``reader`` when the meters are written, once a minute at least: polls that find nothing
        come all the time, and are not simulated."""
        self._readers[reader] = None
        self._write_idly()

    def end_reader(self, reader: CountsReads) -> None:
        """Take its reads now, and none later."""
        if reader in self._readers:
            del self._readers[reader]
            self._take(reader)

    def fetched(self) -> None:
        """Write the meters soon: a reader was sent something."""
        if not self._due:
            self._due = True
            self._metrics.request_meters.add(self)

    def _write_idly(self) -> None:
        if not self._due_idly:
            self._due_idly = True
            self._metrics.idle_meters.add(Write(self._minute_is_over))

    def _minute_is_over(self) -> None:
        self._due_idly = False
        self._give()
        if self._readers:
            self._write_idly()

    def _take(self, reader: CountsReads) -> None:
        for topic, reads in reader.take_reads().items():
            self._fetched[topic] = self._fetched.get(topic, 0) + reads

    def write(self) -> None:
        """Give the counts to the meters. Called by the grid of requests."""
        self._due = False
        self._give()

    def _give(self) -> None:
        for reader in self._readers:
            self._take(reader)
        now_us = self._metrics.time_us()
        self._write(PRODUCED, self._produced, self._produced_us)
        self._write(PRODUCE_FAILED, self._failed, self._produced_us)
        self._write(REJECTED, self._rejected, self._produced_us)
        if self._fetched:
            self._write(FETCHED, self._fetched, max(self._fetched_us, now_us - IDLE_METERS_US))
            self._fetched_us = now_us

    def _write(self, name: str, counts: dict[str, int], since_us: int) -> None:
        if not counts:
            return
        for topic, count in counts.items():
            self._meter(name, topic).add_since(count, since_us)
        self._meter(name, "").add_since(sum(counts.values()), since_us)
        counts.clear()

    def end(self, topic: str, names: Iterable[str] = (*PRODUCES, FETCHED)) -> None:
        """End meters of a topic: the broker has no replica of it any more, or leads none (KAFKA-8392)."""
        self._give()
        for name in names:
            meter = self._meters.pop((name, topic), None)
            if meter is not None:
                self._metrics.remove(meter)


class ProducePurgatory:
    """The purgatory of produce requests: how many wait (NumDelayedOperations), and at how many partitions in all
    (PurgatorySize, which in Kafka also counts those that were answered and not removed yet). Written once a second."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._waiting = self._watched = 0
        self._gauges = [
            metrics.gauge(mbean("kafka.server", "DelayedOperationPurgatory", name, delayedOperation="Produce"))
            for name in ("NumDelayedOperations", "PurgatorySize")
        ]
        self._due = False

    def changed(self, waiting: int, watched: int) -> None:
        """So many requests more wait, at so many partitions more."""
        self._waiting += waiting
        self._watched += watched
        if not self._due:
            self._due = True
            self._metrics.meters.add(self)

    def write(self) -> None:
        """Called by the grid."""
        self._due = False
        for gauge, value in zip(self._gauges, (self._waiting, self._watched), strict=True):
            gauge.set(value)


@define(eq=False)
class Answers:
    """The answers to one kind of request.

    Attributes:
        api: Kafka's name of the API.
        name: the name under which RequestsPerSec has them; "": other events tell it (``scenarios/observe/exposition``).
        is_fetch, is_produce: whether their partitions' errors are counted, and of which kind they are.
        requests, errors: those that are not written yet.
        sound: the errors NONE among these, which are nearly all.
    """

    api: str
    name: str
    is_fetch: bool
    is_produce: bool
    requests: int = 0
    sound: int = 0
    errors: dict[Errors, int] = field(factory=dict)

    def error(self, error: Errors) -> None:
        """Count a partition's error."""
        self.errors[error] = self.errors.get(error, 0) + 1

    def take(self) -> list[tuple[str, int]]:
        """The names of the meters that count, and what they count more."""
        errors, self.errors = {Errors.NONE: self.sound, **self.errors}, {}
        found = [(_of_requests("ErrorsPerSec", request=self.api, error=one.name), errors[one]) for one in errors]
        found.append((_of_requests("RequestsPerSec", request=self.name), self.requests))
        self.requests = self.sound = 0
        return [(name, count) for name, count in found if count]


class RequestRates:
    """RequestsPerSec and ErrorsPerSec of one broker. The requests of controllers and the fetches of followers are
    counted by events of their own; errors are counted of Produce and Fetch."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._answers: dict[type, Answers] = {}
        self._meters: dict[str, Meter] = {}
        self._since_us = 0
        self._due = self._due_idly = False

    def answered(self, request: Any, response: Any, idly: bool) -> None:
        """``request`` was answered; ``idly``: with nothing, as an idle cluster does all the time. ``response``: None
        where the client wants none."""
        answers = self._answers.get(request.__class__) or self._begin(request.__class__)
        if answers.is_fetch:
            if not response.answers and request.replica_id >= 0:
                return  # many of these are not simulated
            for answer in response.answers:
                if answer[1]:
                    answers.error(answer[1])
                else:
                    answers.sound += 1
            if request.replica_id < 0:
                answers.requests += 1
        elif answers.name:
            answers.requests += 1
            if answers.is_produce and response is not None:
                for result in response.partitions:
                    if result[1]:
                        answers.error(result[1])
                    else:
                        answers.sound += 1
        else:
            return
        if not self._due:
            self._become_due(idly)

    def _become_due(self, idly: bool) -> None:
        if not self._due_idly:
            self._since_us = self._metrics.time_us()
        if not idly:
            self._due = True
            self._metrics.request_meters.add(self)
        elif not self._due_idly:
            self._due_idly = True
            self._metrics.idle_meters.add(self)

    def write(self) -> None:
        """Give the counts to the meters. Called by both grids."""
        self._due = self._due_idly = False
        for answers in dict.fromkeys(self._answers.values()):
            for name, count in answers.take():
                meter = self._meters.get(name)
                if meter is None:
                    meter = self._meters[name] = self._metrics.meter(name)
                meter.add_since(count, self._since_us)

    def _begin(self, kind: type[Request]) -> Answers:
        for other, known in self._answers.items():
            if other.api is kind.api:  # type: ignore[attr-defined]
                found = known  # emulated clients and real ones have classes of their own
                break
        else:
            api, is_fetch = KAFKAS.get(kind.api.name, kind.api.name), issubclass(kind, FetchRequest)
            name = "" if issubclass(kind, AbstractControlRequest) else "FetchConsumer" if is_fetch else api
            found = Answers(api, name, is_fetch, issubclass(kind, ProduceRequest))
        self._answers[kind] = found
        return found


def _of_requests(name: str, **tags: str) -> str:
    return mbean("kafka.network", "RequestMetrics", name, **tags)
