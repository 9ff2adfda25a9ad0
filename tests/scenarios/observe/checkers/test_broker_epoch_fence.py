"""E4: a request for an earlier incarnation of a broker has no effect."""

import pytest

from emulator.protocol import events as e
from scenarios.observe.checkers.broker_epoch_fence import BrokerEpochFence
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.written_history import WrittenHistory


def sent(broker_epoch: int, error: str = "NONE", *, accepts_newer: bool = True) -> WrittenHistory:
    """Broker 0, registered with epoch 20, receives a request for ``broker_epoch`` and answers ``error``."""
    run = WrittenHistory(BrokerEpochFence.name, start=StartSettings(accepts_newer_broker_epochs=accepts_newer))
    run.emit(e.BrokerRegistered, 0, 10)
    request = run.emit(e.ControlRequest, "StopReplica", 5, 0, 1, broker_epoch, 1, "")
    run.emit(e.BrokerRegistered, 0, 20)
    run.trace.cause = request.seq
    run.emit(e.ControlResponse, "StopReplica", 0, 5, 1, error, (), ())
    return run


def test_a_request_for_an_earlier_incarnation_is_obeyed() -> None:
    [violation] = sent(10).violations()
    assert violation.state == (
        "broker 0, registered with broker epoch 20, accepts a StopReplica of controller 5 for broker epoch 10"
    )


@pytest.mark.parametrize(("broker_epoch", "error"), [(10, "STALE_BROKER_EPOCH"), (20, "NONE"), (-1, "NONE")])
def test_a_request_that_is_refused_or_meant_for_this_incarnation(broker_epoch: int, error: str) -> None:
    assert sent(broker_epoch, error).violations() == []


@pytest.mark.parametrize("accepts", [True, False])
def test_kafka_9839_a_request_for_an_epoch_that_the_broker_does_not_know_yet(accepts: bool) -> None:
    right, wrong = ("NONE", "UNKNOWN_SERVER_ERROR") if accepts else ("UNKNOWN_SERVER_ERROR", "NONE")
    assert sent(30, right, accepts_newer=accepts).violations() == []
    [violation] = sent(30, wrong, accepts_newer=accepts).violations()
    assert f"{'refuses' if accepts else 'accepts'} a StopReplica of controller 5 for broker epoch 30" in violation.state
