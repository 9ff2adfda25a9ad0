"""A partition whose first state has no answer is recognized by its marks in the trace."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from controller.state_machines.leader_elections import FINDS_STATE
from emulator.protocol import events as e
from emulator.protocol.shown import Deviated
from emulator.protocol.znodes import state_path
from emulator.trace.events import ZkWritten
from scenarios.observe.findings.gauge_facts import CountWrong
from scenarios.observe.findings.memory_facts import ControllerRemembers
from scenarios.observe.findings.step_facts import StepUndone
from scenarios.runs import Run
from tests.scenarios.runs.building import TP
from tests.scenarios.runs.stated import LED, stated
from tests.scenarios.runs.test_known_findings import elected, quiet, tickets, told

__all__ = ["quiet"]

TICKET = f"{FINDS_STATE} (0.8.0 to 3.9)"


def test_a_state_that_the_second_attempt_finds_is_never_known(quiet: Run) -> None:
    """wiki-text, seed 7039: the answer to the creation was cut off with its connection."""
    created = elected(2, 1)._replace(client=0, op="create")
    finds = Deviated(3, 3, 0, 0, FINDS_STATE, *TP, -1)
    idle = stated("converged", LED, 9, 9, "orders-0: broker 1 does not lead in epoch 2", brokers=(1,))
    memory = ControllerRemembers(0, "partition_states", "", "new", "a leader that is registered", failover=False)
    new = evolve(stated("controller_remembers", "…", 9, 9, "orders-0: …"), facts=memory)
    counts = evolve(
        stated("counts_true", "…", 9, 9, "…"), facts=CountWrong(0, "GlobalPartitionCount", 0, 1), brokers=(0,)
    )
    undone = StepUndone("delete.metadata", 0, "metadata", (1,), "orders")  # kafka-1.1, seed 19012
    found = (idle, new, counts, evolve(stated("steps_done", "…", 9, 9, "…"), facts=undone))

    def of_each(*events: Any) -> list[str | None]:
        return [ticket for one in found for ticket in tickets(told(quiet, "kafka-2.3", list(events), one))]

    assert of_each(created, finds) == [TICKET] * 4
    gone = ZkWritten(4, 4, 0, 0, "delete", state_path(TP), 0, 4, "")
    for events in (
        [created],
        [finds],
        [created._replace(client=1), finds],
        [created._replace(seq=4), finds],
        [created, finds._replace(node=2)],
        [created, finds, gone],
        [created, finds, e.ControllerElected(5, 5, 0, 2, 3)],
    ):
        assert of_each(*events) == [None] * 4
    other = evolve(new, facts=memory._replace(memory="assignments"))
    shown = evolve(counts, facts=CountWrong(0, "GlobalTopicCount", 0, 1))
    elsewhere = evolve(found[3], facts=undone._replace(topic="logs"))
    for one in (other, shown, elsewhere):
        assert tickets(told(quiet, "kafka-2.3", [created, finds], one)) == [None]
