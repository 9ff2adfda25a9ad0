"""An action of the scenario language that an operator requests, and its effect."""

from typing import Any

from attrs import define, field

from emulator.protocol.events import Fault
from scenarios.faults.performer import Memory
from scenarios.language.checks import check_operation
from scenarios.language.entries import METHOD_ENTRY
from scenarios.language.triggers import TRIGGER_KEYS
from scenarios.wire.live_stage import LiveStage
from scenarios.wire.operations.performing import ANY_ACTION, Answer, Asked, Reply, operation

LOOK_AGAIN_US = 10_000
LONGEST_WAIT_US = 60_000_000
"""The longest time that an answer waits for one of the operator's tools; a plan carried out bit by bit takes longer."""


@define(eq=False)
class _Done(Memory):
    """The actions that were performed, while an operation collects them."""

    faults: list[Fault] = field(factory=list)
    folded: bool = False

    def collect(self, stage: LiveStage) -> list[Fault]:
        """A new list that gets the actions from now on."""
        if not self.folded:
            self.folded = True
            stage.cluster.trace.fold(Fault, self._performed)
        self.faults = []
        return self.faults

    def _performed(self, fault: Fault) -> None:
        self.faults.append(fault)


@operation(ANY_ACTION, None)
def perform_entry(stage: LiveStage, asked: Asked, reply: Reply) -> None:
    """Perform an action of the scenario language: at once, or when its trigger fires. If it starts one of the
    operator's tools, the answer waits for the tool's output."""
    table = dict(asked)
    waits = any(key in table for key in TRIGGER_KEYS)
    if not waits:
        table["at"] = f"{stage.world.now}us"
    entry = METHOD_ENTRY.read(table)
    check_operation(stage.scenario, entry)
    performer, operator = stage.method.performer, stage.cluster.operator
    done, under_way, refused_before = performer.memory(_Done).collect(stage), operator.under_way, len(performer.refused)
    refused = stage.method.add(entry)
    answer: Answer = {"at_us": stage.world.now, "done": [_described(fault) for fault in done]}
    if waits and not done:
        answer["armed"] = True
    deadline_us = stage.world.now + LONGEST_WAIT_US

    def look(_: Any = None) -> None:
        if operator.under_way > under_way and stage.world.now < deadline_us:
            stage.world.call_later(LOOK_AGAIN_US, look, None, True)
            return
        late = list(map(str, performer.refused[refused_before:]))
        del performer.refused[refused_before:]
        wrong = [*refused, *late]
        reply({"error": "; ".join(wrong), **answer} if wrong else {"ok": True, **answer})

    look()


def _described(fault: Fault) -> dict[str, str]:
    return {"action": fault.action, "target": fault.target, "detail": fault.detail}
