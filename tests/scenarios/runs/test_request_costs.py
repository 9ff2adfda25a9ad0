"""Costs of control requests for brokers that take time: one for each partition, as up to 1.0, or one for all
(KAFKA-5642)."""

from typing import NamedTuple

import pytest

from emulator.metrics.metric_events import TimerUpdated
from emulator.protocol.events import ControlledShutdownAnswered, ControlResponse
from scenarios.language.files import load
from scenarios.runs.findings import findings
from scenarios.runs.known_findings import known
from tests.scenarios.runs.building import play

AT_US = 5_000_000
LOCAL_TIME = "kafka.network:type=RequestMetrics,name=LocalTimeMs,request=LeaderAndIsr"


class Costs(NamedTuple):
    """The costs of a controlled shutdown, in seconds after it began.

    Attributes:
        requests: how many LeaderAndIsr there were, and ``threads_s`` how long they occupied request handler threads.
    """

    answered_s: float
    announced_s: float
    requests: int
    threads_s: float


def costs(profile: str, **changed: object) -> Costs:
    """The costs of the scenario in the library; ``changed``: keys of its ``cluster``."""
    scenario = load("controlled-shutdown-of-many-leaders")
    changes = {f"cluster.{name}": value for name, value in changed.items()}
    played = play(scenario.with_overrides(changes), profile=profile)
    assert all(known(played.run, finding) for finding in findings(played.run)), played.run.explanation
    [answer] = played.of(ControlledShutdownAnswered)
    announced = played.of(ControlResponse, lambda e: e.api == "LeaderAndIsr" and e.t_us > AT_US)
    served = played.of(TimerUpdated, lambda e: e.metric == LOCAL_TIME and e.t_us > AT_US)
    return Costs(
        (answer.t_us - AT_US) / 1e6,
        (announced[-1].t_us - AT_US) / 1e6,
        len(announced),
        sum(e.duration_us for e in served) / 1e6,
    )


def test_a_controlled_shutdown_takes_a_tenth_since_its_changes_are_made_together() -> None:
    """Published for a hundred times as many partitions, without the overhead of logging: 30 s and 3 s."""
    before, since = costs("kafka-0.8"), costs("kafka-1.1")
    assert (before.answered_s, since.answered_s) == pytest.approx((0.40, 0.045), rel=0.1)
    assert (before.requests, since.requests) == (276, 4)  # it ends before it has answered the others to itself
    assert (before.threads_s, since.threads_s) == pytest.approx((0.108, 0.025), rel=0.02)


def test_with_a_fast_zookeeper_the_last_leader_learns_of_it_long_after_the_broker_was_answered() -> None:
    """One request for each partition. The broker ends before its StopReplica requests reach it, so leaders add some of
    its replicas to their ISRs again."""
    found = costs("kafka-0.8", zk={"rtt": "100us"})
    assert (found.answered_s, found.announced_s) == pytest.approx((0.045, 0.086), rel=0.02)
