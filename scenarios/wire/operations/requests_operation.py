"""The faults on clients' requests, and how often each has hit: ``{"action": "requests"}``."""

from attrs import field, frozen

from scenarios.errors import BadInput, did_you_mean
from scenarios.faults.request_faults import RequestFaults
from scenarios.language.schema.kinds import Text
from scenarios.language.schema.table_reader import Checked, key
from scenarios.wire.live_stage import LiveStage
from scenarios.wire.operations.performing import Reply, operation

REQUESTS = "requests"


@frozen(kw_only=True)
class RequestsKeys(Checked):
    """The keys of ``requests``."""

    fault: str | None = field(default=None, metadata=key(Text(), "only the one of this name; absent = all"))


def check_known(faults: RequestFaults, name: str) -> None:
    """Refuse the name of a fault that is not known, or is not any more. Raises: BadInput."""
    names = [fault.name for fault in faults.known]
    if name not in names:
        hint = did_you_mean(name, names) if names else "add one with request.fail or its like"
        raise BadInput(f"there is no fault called {name!r}; {hint}", where="fault")


@operation(REQUESTS, RequestsKeys)
def requests(stage: LiveStage, asked: RequestsKeys, reply: Reply) -> None:
    """Answer with the faults on requests that were not removed, in the order in which they came."""
    faults = stage.method.performer.memory(RequestFaults)
    if asked.fault is not None:
        check_known(faults, asked.fault)
    known = [fault for fault in faults.known if asked.fault in (None, fault.name)]
    found = [
        {
            "fault": fault.name, "action": fault.entry.name, "api": fault.filter.api, "does": str(fault.effect),
            "seen": fault.seen, "fired": fault.fired, "over": fault.is_over,
        }
        for fault in known
    ]  # fmt: skip
    reply({"ok": True, "at_us": stage.world.now, REQUESTS: found})
