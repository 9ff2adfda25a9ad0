"""The wait for a condition: ``{"action": "wait", "when": {"fault": "third"}, "within": "30s"}``."""

from typing import Any

from attrs import field, frozen

from scenarios.errors import BadInput
from scenarios.faults.request_faults import RequestFaults
from scenarios.language.checks import check_awaited
from scenarios.language.schema.kinds import SOME_TIME
from scenarios.language.schema.spans import Span
from scenarios.language.schema.table_reader import Checked, key
from scenarios.language.triggers import UNTIL, WHEN, Condition, WhenFault
from scenarios.units import format_duration
from scenarios.wire.live_stage import LiveStage
from scenarios.wire.operations.performing import LATE, Answer, Reply, operation
from scenarios.wire.operations.requests_operation import check_known

WAIT = "wait"
WITHIN_US = 30_000_000


@frozen(kw_only=True)
class WaitKeys(Checked):
    """The keys of ``wait``: one condition, as a scenario file writes it."""

    when: Condition | None = field(default=None, metadata=key(WHEN, "a step, message, write, metric or hit of a fault"))
    until: str | None = field(default=None, metadata=key(UNTIL, "a state of the cluster"))
    within_us: int = field(
        default=WITHIN_US, metadata=key(SOME_TIME, "the longest wait, in virtual time", name="within")
    )

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if (self.when is None) == (self.until is None):
            raise BadInput(
                'neither or both of when and until; write one, such as until = "settled", or when = { fault = "third" }'
            )
        if self.when is not None and isinstance(self.when.occurrence, Span):
            raise BadInput("an operation draws nothing; write one value", where="when.occurrence")


@operation(WAIT, WaitKeys)
def wait(stage: LiveStage, asked: WaitKeys, reply: Reply) -> None:
    """Answer as soon as a condition holds. If it does not in time, the answer is an error."""
    method, world, began_us = stage.method, stage.world, stage.world.now
    if isinstance(asked.when, WhenFault):
        check_known(method.performer.memory(RequestFaults), asked.when.fault)
    check_awaited(stage.scenario, asked.when)
    is_over = False

    def ends(answer: Answer) -> None:
        nonlocal is_over
        if not is_over:
            is_over = True
            reply({**answer, "at_us": world.now, "waited_us": world.now - began_us})

    def held(_: Any = None) -> None:
        ends({"ok": True})

    def late(_: Any) -> None:
        disarm()
        ends({"error": f"that did not come within {format_duration(asked.within_us)}", "why": LATE})

    if asked.when is not None:
        disarm = method.watch(asked.when, held)
    else:
        assert asked.until is not None
        disarm = method.waits.begin(asked.until, held)
    if not is_over:
        world.call_later(asked.within_us, late, None, True)  # in the background: it may wait for a settled cluster
