"""The faults on clients' requests, and how often each has hit: ``{"action": "requests"}``."""

from scenarios.errors import BadInput
from scenarios.faults.request_faults import RequestFaults
from scenarios.wire.live_stage import LiveStage
from scenarios.wire.operations.performing import Asked, Reply, operation

REQUESTS = "requests"


@operation(REQUESTS)
def requests(stage: LiveStage, asked: Asked, reply: Reply) -> None:
    """Answer with the faults that were not removed, in the order in which they came."""
    unknown = [name for name in asked if name != "action"]
    if unknown:
        raise BadInput(f"unknown key {unknown[0]!r}; leave it out")
    known = stage.method.performer.memory(RequestFaults).known
    found = [
        {
            "fault": fault.name, "action": fault.entry.name, "api": fault.filter.api, "does": str(fault.effect),
            "seen": fault.seen, "fired": fault.fired, "over": fault.is_over,
        }
        for fault in known
    ]  # fmt: skip
    reply({"ok": True, "at_us": stage.world.now, REQUESTS: found})
