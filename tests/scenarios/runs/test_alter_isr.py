"""ISRs changed by the controller (KIP-497), end to end: nothing is lost, and no failover leaves a move behind."""

import pytest

from controller.reassignment.kip_455 import KIP_455
from emulator.protocol.events import ControllerElected, IsrChanged, IsrProposed, IsrUpdateFailed
from emulator.protocol.znodes import ISR_CHANGE_NOTIFICATION, state_path
from emulator.trace.events import ZkWritten
from tests.scenarios.runs.building import EXECUTE, HEAL, TP, Table, at_step, play, scenario

ASKING: Table = {"profile": "kafka-2.7", "strategy": "kip-455"}


def test_only_the_controller_writes_states_and_there_are_no_notifications() -> None:
    played = play(scenario(plan={0: [0, 3, 4]}, method=[EXECUTE], **ASKING))
    assert played.run.passed, played.run.explanation
    assert played.of(IsrChanged)
    writers = {event.client for event in played.of(ZkWritten, lambda event: event.path == state_path(TP))}
    assert writers == {6}
    assert not played.of(ZkWritten, lambda event: event.path.startswith(f"{ISR_CHANGE_NOTIFICATION}/"))


def test_a_follower_that_falls_behind_leaves_and_comes_back() -> None:
    cut = {"at": "3s", "action": "link.cut", "target": 2, "peer": [0, 1], "duration": "30s"}
    config = {"replica.lag.time.max.ms": 4000}
    played = play(scenario(method=[cut], rollbacks=HEAL, config=config, horizon="2m", **ASKING))
    assert played.run.passed, played.run.explanation
    assert [(event.kind, event.isr) for event in played.of(IsrChanged)] == [
        ("shrink", (0, 1)), ("expand", (0, 1, 2))
    ]  # fmt: skip
    assert len(played.of(IsrProposed)) == 2
    assert not played.of(IsrUpdateFailed)


def test_a_proposed_isr_outlives_the_controller_that_it_was_sent_to() -> None:
    """The request is under way when the controller dies; the channel looks for the next one."""
    asks = {"when": {"message": "AlterIsr"}, "action": "controller.crash"}
    cut = {"at": "3s", "action": "link.cut", "target": 2, "peer": [0, 1], "duration": "60s"}
    config = {"replica.lag.time.max.ms": 4000}
    wanted = scenario(controller=None, method=[cut, asks], rollbacks=HEAL, config=config, horizon="3m", **ASKING)
    played = play(wanted)
    assert played.run.passed, played.run.explanation
    assert len(played.of(ControllerElected)) == 2
    assert sorted(played.state().isr) == [0, 1, 2]


@pytest.mark.parametrize("step", [step for step in KIP_455.steps if step != "kip-455.wait"])
def test_a_move_survives_its_controller(step: str) -> None:
    """The crash table of KIP-455 (kafka-behaviour §6.4) where leaders ask for their ISRs."""
    crash = at_step(step, "after", "controller.crash")
    played = play(scenario(plan={0: [1, 2, 3]}, method=[EXECUTE, crash], rollbacks=HEAL, **ASKING))
    assert played.run.passed, played.run.explanation
    assert (played.assignment(), sorted(played.state().isr), played.state().leader) == ((1, 2, 3), [1, 2, 3], 1)
    assert len(played.of(ControllerElected)) == 2
