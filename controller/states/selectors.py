"""How a leader is chosen: pure functions (kafka-behaviour, 5.3; the controller page's four selectors)."""

from collections.abc import Callable

from attrs import evolve, frozen

Replicas = tuple[int, ...]


@frozen
class Candidates:
    """What a selector looks at.

    Attributes:
        assignment: the replicas in order of preference.
        isr: as ZooKeeper has it.
        online: replicas whose broker is live and not shutting down.
        shutting_down: brokers that are shutting down.
        target: where the partition is being moved to; empty outside a move.
        unclean: whether a replica outside the ISR may lead when nobody in it lives.
    """

    assignment: Replicas
    isr: Replicas
    online: Replicas
    shutting_down: Replicas = ()
    target: Replicas = ()
    unclean: bool = False


@frozen
class Choice:
    """A leader, the ISR it starts with, and who is told. ``unclean``: it was not in the ISR."""

    leader: int
    isr: Replicas
    recipients: Replicas
    unclean: bool = False


Select = Callable[[Candidates], "Choice | None"]


def _first(replicas: Replicas, *among: Replicas) -> int | None:
    return next((replica for replica in replicas if all(replica in group for group in among)), None)


def _only(replicas: Replicas, group: Replicas) -> Replicas:
    return tuple(replica for replica in replicas if replica in group)


def offline(c: Candidates) -> Choice | None:
    """The first live replica in the ISR; if unclean elections are allowed, else the first live one at all."""
    live = _only(c.assignment, c.online)
    leader = _first(live, c.isr)
    if leader is not None:
        return Choice(leader, _only(c.isr, c.online), live)
    if c.unclean and live:
        return Choice(live[0], (live[0],), live, unclean=True)
    return None


def unclean(c: Candidates) -> Choice | None:
    """As ``offline``, allowed to go outside the ISR whatever the settings say (KIP-460)."""
    return offline(evolve(c, unclean=True))


def reassigned(c: Candidates) -> Choice | None:
    """The first live replica of the target that is in the ISR. The ISR stays; the whole target is told, dead
    or alive."""
    leader = _first(c.target, c.online, c.isr)
    return None if leader is None else Choice(leader, c.isr, c.target)


def preferred(c: Candidates) -> Choice | None:
    """The first assigned replica, if it is live and in the ISR."""
    leader = _first(c.assignment[:1], c.online, c.isr)
    return None if leader is None else Choice(leader, c.isr, c.assignment)


def controlled_shutdown(c: Candidates) -> Choice | None:
    """The first live replica in the ISR that is not shutting down; those that are leave the ISR."""
    up = c.online + c.shutting_down
    staying = tuple(replica for replica in c.isr if replica not in c.shutting_down)
    leader = _first(c.assignment, c.online, staying)
    return None if leader is None else Choice(leader, staying, _only(c.assignment, up))


@frozen
class Selector:
    """A selector with the name under which elections are recorded."""

    name: str
    select: Select


OFFLINE = Selector("offline", offline)
UNCLEAN = Selector("unclean", unclean)
REASSIGNED = Selector("reassigned", reassigned)
PREFERRED = Selector("preferred", preferred)
CONTROLLED_SHUTDOWN = Selector("controlled-shutdown", controlled_shutdown)
