"""Causes of an action at a set time: none, whatever happened to come before it."""

from emulator.protocol.events import Fault
from tests.scenarios.runs.building import EXECUTE, play, scenario

MANY = [{"at": f"{2000 + 7 * n}ms", "action": "broker.pause", "target": 4, "duration": "2ms"} for n in range(40)]


def test_no_event_causes_what_is_done_at_a_set_time() -> None:
    busy = scenario(brokers=5, controller=3, assignment=[(0, 1)], plan={0: (1, 2)}, method=[EXECUTE, *MANY])
    faults = play(busy).of(Fault)
    assert len(faults) == 1 + 2 * len(MANY)  # each begins and ends
    assert {event.cause for event in faults} == {0}
