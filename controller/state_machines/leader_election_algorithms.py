"""The choice of a leader, as pure functions (kafka-behaviour §5.3; the controller page's four selectors)."""

from collections.abc import Callable

from attrs import evolve, frozen

from emulator.protocol.assignments import Replicas, among
from emulator.protocol.types import NO_LEADER


@frozen
class Candidates:
    """The input of a selector.

    Attributes:
        assignment: the replicas in order of preference.
        isr: the ISR that ZooKeeper has.
        online: replicas whose broker is live and not shutting down.
        shutting_down: brokers that are shutting down.
        reachable: assigned replicas that are online or would be if their broker were not shutting down.
        target: the step target of the move that the partition is in; empty outside a move.
        leader: the leader that ZooKeeper has; -1 for none.
        unclean: whether a replica outside the ISR may lead when none in it is online.
    """

    assignment: Replicas
    isr: Replicas
    online: Replicas
    shutting_down: Replicas = ()
    reachable: Replicas = ()
    target: Replicas = ()
    unclean: bool = False
    leader: int = NO_LEADER


@frozen
class Choice:
    """An election's outcome.

    Attributes:
        leader: the broker that leads.
        isr: the ISR that it starts with.
        recipients: the brokers that get LeaderAndIsr.
        unclean: whether the leader was not in the ISR.
    """

    leader: int
    isr: Replicas
    recipients: Replicas
    unclean: bool = False


Select = Callable[[Candidates], "Choice | None"]


def _first(replicas: Replicas, *among: Replicas) -> int | None:
    return next((replica for replica in replicas if all(replica in group for group in among)), None)


def offline(c: Candidates) -> Choice | None:
    """The first live replica in the ISR; if unclean elections are allowed, else the first live one at all."""
    live = among(c.assignment, c.online)
    leader = _first(live, c.isr)
    if leader is not None:
        return Choice(leader, among(c.isr, c.online), live)
    if c.unclean and live:
        return Choice(live[0], (live[0],), live, unclean=True)
    return None


def unclean(c: Candidates) -> Choice | None:
    """The choice of ``offline``, with unclean elections allowed whatever the settings say (KIP-460)."""
    return offline(evolve(c, unclean=True))


def head_of_isr(c: Candidates) -> Choice | None:
    """The first live replica in the ISR's own order, assigned or not; else the first live assigned one, always
    (Kafka 0.8.0)."""
    live, in_sync = among(c.assignment, c.online), among(c.isr, c.online)
    if in_sync:
        return Choice(in_sync[0], in_sync, live)
    return Choice(live[0], (live[0],), live, unclean=True) if live else None


def reassigned(c: Candidates) -> Choice | None:
    """The first live replica of the target that is in the ISR. The ISR stays; LeaderAndIsr goes to the whole target,
    dead or alive."""
    leader = _first(c.target, c.online, c.isr)
    return None if leader is None else Choice(leader, c.isr, c.target)


def first_live_of_target(c: Candidates) -> Choice | None:
    """The first live replica of the target, in the ISR or not: the join was checked earlier (Kafka 0.8.0)."""
    leader = _first(c.target, c.online)
    return None if leader is None else Choice(leader, c.isr, c.target, unclean=leader not in c.isr)


def preferred(c: Candidates) -> Choice | None:
    """The first assigned replica, if it is live and in the ISR."""
    leader = _first(c.assignment[:1], c.online, c.isr)
    return None if leader is None else Choice(leader, c.isr, c.assignment)


def controlled_shutdown(c: Candidates) -> Choice | None:
    """The first live replica in the ISR that is not shutting down; those that are leave the ISR. A replica whose log
    directory is offline gets no LeaderAndIsr, on whatever broker (Election.leaderForControlledShutdown, 2.4.1)."""
    staying = tuple(replica for replica in c.isr if replica not in c.shutting_down)
    leader = _first(c.assignment, c.online, staying)
    return None if leader is None else Choice(leader, staying, c.reachable)


def controlled_shutdown_among_live(c: Candidates) -> Choice | None:
    """The choice of ``controlled_shutdown``, but brokers that are shutting down get no LeaderAndIsr (before KAFKA-7482,
    2.1; the controller page)."""
    choice = controlled_shutdown(c)
    return None if choice is None else evolve(choice, recipients=among(c.assignment, c.online))


def head_of_staying_isr(c: Candidates) -> Choice | None:
    """The first of the ISR, in its own order, that neither leads nor shuts down, live or not (Kafka 0.8.0)."""
    staying = tuple(replica for replica in c.isr if replica != c.leader and replica not in c.shutting_down)
    return Choice(staying[0], staying, c.reachable) if staying else None


@frozen
class LeaderElectionAlgorithm:
    """A way to choose a leader (Kafka's PartitionLeaderElectionStrategy; the controller page's word).

    Attributes:
        name: the name under which elections are recorded.
        asks_unclean: whether it uses ``Candidates.unclean``, for which a topic's settings have to be read.
        ticket: of the behaviour that brokers which shut down get no LeaderAndIsr; "" where they get it.
    """

    name: str
    select: Select
    asks_unclean: bool = False
    ticket: str = ""


LIVE_ALONE = "Election.leaderForOffline"
OFFLINE = LeaderElectionAlgorithm("offline", offline, asks_unclean=True, ticket=LIVE_ALONE)
UNCLEAN = LeaderElectionAlgorithm("unclean", unclean)
HEAD_OF_ISR = LeaderElectionAlgorithm("offline", head_of_isr, ticket=LIVE_ALONE)
REASSIGNED = LeaderElectionAlgorithm("reassigned", reassigned)
FIRST_LIVE_OF_TARGET = LeaderElectionAlgorithm("reassigned", first_live_of_target)
PREFERRED = LeaderElectionAlgorithm("preferred", preferred)
CONTROLLED_SHUTDOWN = LeaderElectionAlgorithm("controlled-shutdown", controlled_shutdown)
CONTROLLED_SHUTDOWN_AMONG_LIVE = LeaderElectionAlgorithm(
    "controlled-shutdown", controlled_shutdown_among_live, ticket="KAFKA-7482"
)
HEAD_OF_STAYING_ISR = LeaderElectionAlgorithm("controlled-shutdown", head_of_staying_isr)


@frozen
class LeaderElectionAlgorithms:
    """The four selectors of a cluster. The defaults are Kafka's since 2.1."""

    offline: LeaderElectionAlgorithm = OFFLINE
    reassigned: LeaderElectionAlgorithm = REASSIGNED
    preferred: LeaderElectionAlgorithm = PREFERRED
    controlled_shutdown: LeaderElectionAlgorithm = CONTROLLED_SHUTDOWN


IN_ORDER_OF_ISR = LeaderElectionAlgorithms(HEAD_OF_ISR, FIRST_LIVE_OF_TARGET, PREFERRED, HEAD_OF_STAYING_ISR)
"""The selectors of the first release (kafka.controller.PartitionLeaderSelector, 0.8.0)."""
