"""The oracle: the specification (docs/specification) as a fold over the events of a run."""

from __future__ import annotations

from collections.abc import Sequence

from emulator.protocol.types import TopicPartition
from emulator.trace import Trace
from scenarios.observe.history.history import History
from scenarios.observe.history.subscriptions import arm
from scenarios.observe.specification.constants import release_of, true_in
from scenarios.observe.specification.fencing import Fencing
from scenarios.observe.specification.isr_rules import Isr
from scenarios.observe.specification.logs import Logs
from scenarios.observe.specification.move_rules import MoveRules
from scenarios.observe.specification.rejection import Rejection
from scenarios.observe.specification.request_rules import RequestRules
from scenarios.observe.specification.rest_rules import RestRules
from scenarios.observe.specification.state_machines import StateMachines
from scenarios.observe.specification.step_rules import StepRules
from scenarios.observe.specification.variables import Variables


class Oracle:
    """Holds every event of a run against the specification. Arm it before the run starts, and after the checkers, whose
    history it shares; it emits nothing, so the run's events are those of a run without it.

    It is no checker: it says what Kafka does, and not what Kafka promises, so what breaks it may break no promise.

    Args:
        release: of the run's profile; its constants are those of the nearest release that was read.
        other_hops: whether the hops of the run's strategy are not those of KAFKA-6794's text: ``width-K`` and
            ``grow-then-shrink`` are variations of it.
    """

    def __init__(self, trace: Trace, history: History, release: str, *, other_hops: bool = False) -> None:
        self._variables = variables = Variables(history, true_in(release_of(release)), other_hops=other_hops)
        isr = Isr(variables)
        machines = StateMachines(variables, isr)
        moves = (rules(variables, machines) for rules in (MoveRules, RequestRules, StepRules))
        self._rest = RestRules(variables, machines)
        for part in (Logs(variables), isr, Fencing(variables, isr), machines, *moves, self._rest):
            arm(part, trace, history.past)

    def at_rest(self, now_us: int) -> None:
        """Hold against it what a cluster is like in which nothing is on its way."""
        self._rest.at_rest(now_us)

    def with_replica(self, tp: TopicPartition) -> list[int]:
        """The brokers whose log directory has a partition."""
        return self._variables.with_replica(tp)

    @property
    def rejections(self) -> Sequence[Rejection]:
        """The rejections so far, in order: the first of each sentence."""
        return tuple(self._variables.rejections)

    @property
    def count(self) -> int:
        """How many rejections there were in all."""
        return self._variables.counts.total()
