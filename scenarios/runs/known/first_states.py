"""The first state of a partition: what follows where the controller's write of it has no answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.state_machines.leader_elections import FINDS_STATE
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import state_path
from emulator.trace.events import ZkWritten
from scenarios.observe.findings.gauge_facts import CountWrong
from scenarios.observe.findings.memory_facts import ControllerRemembers
from scenarios.observe.findings.step_facts import StepUndone
from scenarios.runs.known.ledger import witnesses
from scenarios.runs.known.reason import Reason, of_partition, of_violation

if TYPE_CHECKING:
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents

OF_LEADERS = ("leaders", "partition_states")
COUNTS_LEADERS = ("PreferredReplicaImbalanceCount", "GlobalPartitionCount")


@of_partition
def _stays_new(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The controller that created the partition's state found it there as it tried again, and takes the partition for
    new. No other controller was elected since, which would read the state, and the znode is the same."""
    facts = violation.facts
    if isinstance(facts, ControllerRemembers) and facts.memory not in OF_LEADERS:
        return False
    return _taken_for_new(past, tp, violation.seq) is not None


@of_violation
def _leaves_it_out(past: KeptEvents, violation: Violation) -> bool:
    """A gauge over the leaders that a controller knows, or the metadata that it sends of a topic, where it has such a
    partition."""
    facts = violation.facts
    new = [TopicPartition(one.topic, one.partition) for one in past.run.witnesses if one.ticket == FINDS_STATE]
    if isinstance(facts, CountWrong) and facts.gauge in COUNTS_LEADERS:
        return any(_taken_for_new(past, tp, violation.seq) == facts.broker for tp in new)
    if isinstance(facts, StepUndone) and facts.lack == "metadata":
        of_topic = [tp for tp in new if tp.topic == facts.topic]
        return any(_taken_for_new(past, tp, violation.seq) == facts.controller for tp in of_topic)
    return False


def _taken_for_new(past: KeptEvents, tp: TopicPartition, until_seq: int) -> int | None:
    """The controller that takes a partition for new whose state it has created; None: there is none."""
    path = state_path(tp)
    ends = [e for e in past.of(ZkWritten) if e.path == path and e.op != "setData" and e.seq <= until_seq][-1:]
    for created in ends:
        client: int = created.client
        again = any(one.node == client for one in witnesses(past, FINDS_STATE, tp, -1, created.seq, until_seq))
        if created.op == "create" and again and not past.elected_between(created.seq, until_seq):
            return client
    return None


FIRST_STATES: tuple[Reason, ...] = (
    Reason(f"{FINDS_STATE} (0.8.0 to 3.9)", _stays_new),
    Reason(f"{FINDS_STATE} (0.8.0 to 3.9)", _leaves_it_out, effect=1),
)
"""Reasons about first states."""
