"""The times in which a file has brokers down, as far as it states them: when, which, and when they are back.

The arithmetic knows a death by its entry (``broker.crash`` and its like), at a stated time and of a stated broker. What
only a run can tell (a step, a message, a drawn broker) it leaves out, and names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from scenarios.language.triggers import After, At
from scenarios.units import MICROSECONDS

if TYPE_CHECKING:
    from emulator.protocol.assignments import Replicas
    from scenarios.language import Scenario
    from scenarios.language.entries import MethodEntry

PER_S = MICROSECONDS["s"]
START = "broker.start"
BY_SESSION = ("broker.crash", "controller.crash")
"""The actions after which ZooKeeper's session has to expire before another broker leads."""
AT_ONCE = ("broker.stop", "broker.controlled_shutdown")
"""The actions after which another broker leads at once."""


@frozen
class Outage:
    """A time in which a broker is down.

    Attributes:
        begins_s, ends_s: when it dies, and when it is back; infinite: it never is.
        noticed_s: when the controller elects other leaders.
    """

    broker: int
    begins_s: float
    noticed_s: float
    ends_s: float = inf

    def after(self, seconds: float) -> Outage:
        """The outage by a clock that begins so much later."""
        return Outage(self.broker, self.begins_s - seconds, self.noticed_s - seconds, self.ends_s - seconds)

    def to_json(self) -> dict[str, float | None]:
        """The outage as JSON holds it: times in seconds after the request, null where it has no end."""
        return {
            "broker": self.broker,
            "begins_s": self.begins_s,
            "noticed_s": self.noticed_s,
            "ends_s": None if self.ends_s == inf else self.ends_s,
        }


@frozen
class Scripted:
    """The outages of a file, in virtual seconds from the start of the run.

    Attributes:
        left_out: the actions whose time or broker only a run knows.
    """

    outages: tuple[Outage, ...]
    left_out: tuple[str, ...]


def scripted(scenario: Scenario, replicas: Mapping[str, Replicas]) -> Scripted:
    """The outages of a scenario whose draws are settled. ``replicas``: those of each partition at the start."""
    session_s = scenario.session_timeout_us / PER_S
    outages: list[Outage] = []
    left_out: list[str] = []
    for entry, at_s in _timed(scenario):
        if entry.name not in (*BY_SESSION, *AT_ONCE, START):
            continue
        down = [one.broker for one in outages if one.ends_s == inf]
        brokers = None if at_s is None else _brokers(scenario, entry, {} if outages else replicas, down)
        if (
            brokers is None
            or at_s is None
            or (entry.duration_us is not None and not isinstance(entry.duration_us, int))
        ):
            left_out.append(entry.name)
        elif entry.name == START:
            outages = [evolve(one, ends_s=at_s) if _is_started(one, brokers, at_s) else one for one in outages]
        else:
            ends_s = inf if entry.duration_us is None else at_s + entry.duration_us / PER_S
            noticed_s = at_s + (session_s if entry.name in BY_SESSION else 0.0)
            outages += [Outage(broker, at_s, noticed_s, ends_s) for broker in brokers if broker not in down]
    # A broker that is back before its session has expired is seen to have been away when it registers.
    noticed = (evolve(one, noticed_s=min(one.noticed_s, one.ends_s)) for one in outages)
    return Scripted(tuple(sorted(noticed, key=lambda one: (one.begins_s, one.broker))), tuple(left_out))


def _is_started(outage: Outage, brokers: tuple[int, ...], at_s: float) -> bool:
    return outage.ends_s == inf and outage.broker in brokers and at_s >= outage.begins_s


def _timed(scenario: Scenario) -> Iterator[tuple[MethodEntry, float | None]]:
    """All entries with their virtual times; None: only a run knows it."""
    before_s: float | None = 0.0
    for entry in scenario.method:
        for turn in entry.turns(scenario.cluster.ids):
            trigger, at_s = turn.trigger, None
            if isinstance(trigger, At) and isinstance(trigger.time_us, int):
                at_s = trigger.time_us / PER_S
            elif isinstance(trigger, After) and isinstance(trigger.delay_us, int) and before_s is not None:
                at_s = before_s + trigger.delay_us / PER_S
            before_s = at_s
            yield turn, at_s


def _brokers(
    scenario: Scenario, entry: MethodEntry, replicas: Mapping[str, Replicas], down: list[int]
) -> tuple[int, ...] | None:
    """The brokers that an entry acts on; None: only a run knows them. ``replicas``: those of each partition, as long as
    the first of them leads; then empty."""
    target = entry.target or getattr(entry.action, "default_target", None)
    if target is None or target.drawn or target.means_clients or target.state == "paused":
        return None
    role = target.parsed_role
    if role is None:
        candidates = list(target.brokers or scenario.cluster.ids)
    elif role.name == "controller" and scenario.cluster.controller is not None and replicas:
        candidates = [scenario.cluster.controller]
    elif role.name == "leader" and role.partition is not None and role.partition in replicas:
        candidates = [replicas[role.partition][0]]
    else:
        return None
    if target.state == "down" or (target.state is None and entry.name == START):
        candidates = [broker for broker in candidates if broker in down]
    elif target.state == "up":
        candidates = [broker for broker in candidates if broker not in down]
    picked: tuple[int, ...] = target.pick(candidates)
    return picked
