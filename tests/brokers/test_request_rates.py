"""Requests as a broker's metrics count them, on a bench."""

from typing import Any

from brokers.broker_policies import BrokerPolicies
from brokers.request_rates import RequestRates, TopicRequests
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.fetch import CONSUMER, FetchRequest, FetchResponse
from emulator.protocol.produce import ProduceRequest, ProduceResponse
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from tests.brokers.bench import ME, TP, state
from tests.brokers.test_metrics import SECOND, Watched

PRODUCED, PRODUCE_FAILED = "TotalProduceRequestsPerSec", "FailedProduceRequestsPerSec"
REJECTED = "BytesRejectedPerSec"
FETCHED = "TotalFetchRequestsPerSec"
OTHER = TopicPartition("u", 0)


def tick(bench: Watched) -> None:
    """Call what runs at the tick of requests: the bench's world does not run."""
    bench.at((bench.world.now // (5 * SECOND) + 1) * 5 * SECOND)
    bench.process.metrics.request_meters.write()


def counts(bench: Watched, name: str, *topics: str) -> list[int]:
    """The counts of a meter: of all topics, then of each."""
    tick(bench)
    return [bench.values[name], *(bench.values[f"{name},topic={topic}"] for topic in topics)]


def test_a_produce_request_counts_in_each_partition_whether_it_is_appended_or_not() -> None:
    bench = Watched()
    bench.leader_and_isr(state(ME, 0, isr=(ME,)), state(1, 0, tp=OTHER))
    bench.learn(TP, ME)
    bench.learn(OTHER, 1)
    bench.produce()
    bench.produce(OTHER)
    assert counts(bench, PRODUCED, "t", "u") == [2, 1, 1]
    assert bench.values[PRODUCE_FAILED] == 0, "Kafka expects that its sender may not know the leader"


def test_one_that_nothing_is_known_of_is_refused_before_it_counts() -> None:
    bench = Watched()
    bench.produce(OTHER)
    tick(bench)
    assert bench.values[PRODUCED] == 0


def test_too_few_replicas_fail_a_produce_request() -> None:
    bench = Watched(BrokerPolicies(topic_min_insync_replicas={"t": 2}))
    bench.lead(isr=(ME,))
    bench.produce(acks=-1)
    assert counts(bench, PRODUCED, "t") == [1, 1]
    assert counts(bench, PRODUCE_FAILED, "t") == [1, 1]


def test_the_bytes_of_a_batch_that_is_too_large_are_rejected_and_those_of_others_are_not() -> None:
    bench = Watched()
    bench.lead(isr=(ME,))
    bench.produce()
    tick(bench)
    assert REJECTED not in bench.values
    bench.manager.configured("topics/t", {"max.message.bytes": "500"})
    bench.produce(size=501)
    assert counts(bench, REJECTED, "t") == [501, 501]
    assert bench.values[PRODUCE_FAILED] == 0


def test_a_fetch_counts_once_where_it_finds_something() -> None:
    bench = Watched()
    bench.lead(isr=(ME,))
    bench.produce()
    bench.follower(1).at(0)
    bench.follower(CONSUMER).at(0)
    assert counts(bench, FETCHED, "t") == [2, 2]


def test_a_fetch_that_waits_is_read_again() -> None:
    bench = Watched()
    bench.lead(isr=(ME,))
    follower = bench.follower(1)
    follower.at(0)
    follower.expire()
    follower.fetch()
    bench.produce()
    assert counts(bench, FETCHED, "t") == [4, 4]


def test_a_fetch_counts_in_all_partitions_of_its_session() -> None:
    bench = Watched()
    bench.leader_and_isr(state(ME, 0, isr=(ME,)), state(ME, 0, isr=(ME,), tp=OTHER))
    bench.learn(TP, ME)
    bench.learn(OTHER, ME)
    bench.produce()
    follower = bench.follower(1)
    follower.fetch((TP, 0, 0), (OTHER, 0, 0))
    follower.fetch((TP, 0, 1))
    follower.expire()
    assert counts(bench, FETCHED, "t", "u") == [6, 3, 3]


def test_what_a_session_read_counts_for_the_partitions_that_it_had_then() -> None:
    bench = Watched()
    bench.leader_and_isr(state(ME, 0, isr=(ME,)), state(ME, 0, isr=(ME,), tp=OTHER))
    bench.learn(TP, ME)
    bench.learn(OTHER, ME)
    bench.produce()
    follower = bench.follower(1)
    follower.fetch((TP, 0, 0))
    bench.produce(OTHER)
    follower.fetch((TP, 0, 1), (OTHER, 0, 0))
    assert counts(bench, FETCHED, "t", "u") == [3, 2, 1]


class Idle:
    """A reader that reads a partition of ``t`` all the time."""

    def __init__(self) -> None:
        self.reads = 0

    def take_reads(self) -> dict[str, int]:
        taken, self.reads = self.reads, 0
        return {"t": taken} if taken else {}


def test_while_there_is_a_reader_its_reads_are_written_each_minute() -> None:
    bench = Watched()
    requests, reader = TopicRequests(bench.process.metrics), Idle()
    requests.begin_reader(reader)
    for minute, reads in enumerate((3, 0, 4), 1):
        reader.reads = reads
        bench.at(minute * 60 * SECOND)
        bench.process.metrics.idle_meters.write()
    assert bench.gauges(FETCHED, f"{FETCHED},topic=t") == (7, 7)
    reader.reads = 2
    requests.end_reader(reader)
    bench.at(4 * 60 * SECOND)
    bench.process.metrics.idle_meters.write()
    assert bench.gauges(FETCHED) == (9,), "what it has read counts"
    assert not bench.process.metrics.idle_meters._due, "and nothing is written once it is gone"


def test_a_topic_without_replicas_has_no_meters() -> None:
    bench = Watched()
    bench.lead(isr=(ME,))
    bench.produce()
    tick(bench)
    requests = bench.manager.metrics.topics.requests
    assert requests.counts_produces("t")
    bench.send(StopReplicaRequest(9, 1, -1, True, (TP,)))
    assert not requests.counts_produces("t")


# -- answers -----------------------------------------------------------------------------------------------------------


def answered(*pairs: tuple[Any, Any]) -> dict[str, int]:
    """The meters of requests that were answered so."""
    bench = Watched()
    rates = RequestRates(bench.process.metrics)
    for request, response in pairs:
        rates.answered(request, response, False)
    tick(bench)
    return {name: value for name, value in bench.values.items() if "request=" in name and value}


def fetched(replica: int, *errors: Errors) -> tuple[FetchRequest, FetchResponse]:
    answers = tuple((TP, error, 0, 0, (), None) for error in errors)
    return FetchRequest(replica, 0, 0, 1, 1, 1, 1, (), ()), FetchResponse(NO_ERROR, 1, answers, 60)


def test_an_answer_counts_and_so_does_each_error_in_it() -> None:
    request = ProduceRequest(1, 1, (), 10)
    refused = Errors.NOT_LEADER_FOR_PARTITION
    found = answered((request, ProduceResponse(((TP, NO_ERROR, 0), (OTHER, refused, -1), (TP, NO_ERROR, 1)))))
    assert found == {
        "RequestsPerSec,request=Produce": 1,
        "ErrorsPerSec,request=Produce,error=NONE": 2,
        "ErrorsPerSec,request=Produce,error=NOT_LEADER_FOR_PARTITION": 1,
    }


def test_one_that_wants_no_answer_counts_too() -> None:
    assert answered((ProduceRequest(0, 1, (), 10), None)) == {"RequestsPerSec,request=Produce": 1}


def test_fetches_of_consumers_and_followers_have_their_errors_together() -> None:
    found = answered(fetched(CONSUMER, NO_ERROR), fetched(1, NO_ERROR, Errors.OFFSET_OUT_OF_RANGE), fetched(2))
    assert found == {
        "RequestsPerSec,request=FetchConsumer": 1,
        "ErrorsPerSec,request=Fetch,error=NONE": 2,
        "ErrorsPerSec,request=Fetch,error=OFFSET_OUT_OF_RANGE": 1,
    }
