"""Facts about a cluster that does not get well after the last fault: the conditions, and how each does not hold."""

from typing import NamedTuple

from emulator.protocol.types import TopicPartition
from scenarios.observe.findings.facts import Facts, Part


class Condition(Part):
    """A condition that holds in a cluster that has converged."""

    CONTROLLED = "one registered broker is the controller, and it alone shows that"
    REGISTERED = "every broker of the core runs and is registered"
    NOTHING_ASKED = "no move, election or deletion waits in ZooKeeper"
    LED = "every partition has a leader that runs and has taken up its leader epoch"
    IN_SYNC = "the ISR of every partition is its assignment"
    SAME_LOGS = "in-sync replicas hold what their leader holds"
    COMMITTED = "the high watermark of in-sync replicas is at their log end"
    NO_STRAYS = "no broker holds a replica that is not assigned to it"
    FETCHED = "no fetcher has given up a partition or has died"
    GAUGES = "metrics show a cluster at rest"
    ACCEPTED = "every partition accepts a new record with acks=all"
    READ = "every consumer has read to the high watermark"
    GOES_ON = "the run goes on to its end"


class Broken(NamedTuple):
    """A condition that does not hold now.

    Attributes:
        facts: the facts by which it does not hold.
        partition: the one that it is about; None: none.
        brokers: the brokers whose replicas it is about.
    """

    condition: Condition
    facts: Facts
    partition: TopicPartition | None = None
    brokers: tuple[int, ...] = ()

    @property
    def part(self) -> Condition:
        """The condition, as a violation has it."""
        return self.condition

    @property
    def found(self) -> str:
        """The sentence about how it does not hold."""
        return self.facts.in_words(self.partition)


class CutOff(NamedTuple):
    """A run that was ended before its end: why and when."""

    why: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return self.why


class Unregistered(NamedTuple):
    """A broker that is not registered; ``runs``: its process does."""

    broker: int
    runs: bool

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker} {'runs and is not registered' if self.runs else 'does not run'}"


class ControllerMissing(NamedTuple):
    """A cluster without a controller. ``controller``: the broker that /controller names; -1: none."""

    controller: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"/controller names {self.controller if self.controller >= 0 else 'no broker'}"


class ControllerNotShown(NamedTuple):
    """The brokers that show that they are the controller, where it is not that of /controller alone."""

    controller: int
    shown: tuple[int, ...]

    def in_words(self, _tp: TopicPartition | None) -> str:
        shown = list(self.shown) or "none"
        return f"/controller names {self.controller}, ActiveControllerCount is 1 on {shown}"


class RequestStays(NamedTuple):
    """A request below /admin that waits."""

    path: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"{self.path} is still there"


class MoveInTopic(NamedTuple):
    """Adding or removing replicas that the topic's znode names."""

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}: its topic's znode names adding or removing replicas"


class NeverLed(NamedTuple):
    """A partition for which no leader was ever elected."""

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}: no leader was ever elected"


class LeaderGone(NamedTuple):
    """A partition without a leader (-1), or whose leader does not run."""

    leader: int
    isr: tuple[int, ...]

    def in_words(self, tp: TopicPartition | None) -> str:
        what = "no leader" if self.leader < 0 else f"leader {self.leader}, which does not run"
        return f"{tp}: {what}, isr {list(self.isr)}"


class DoesNotLead(NamedTuple):
    """A leader that has not taken up its leader epoch."""

    leader: int
    leader_epoch: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}: broker {self.leader} does not lead in epoch {self.leader_epoch}"


class IsrDiffers(NamedTuple):
    """An ISR that is not the assignment. ``lacks_what_is_new``: all that are missing follow, and lack at most what is
    new; none of them has fetched at the high watermark without being asked for."""

    isr: tuple[int, ...]
    assignment: tuple[int, ...]
    leader: int
    lacks_what_is_new: bool

    def in_words(self, tp: TopicPartition | None) -> str:
        lack = "; all that are missing follow, and lack at most what is new" if self.lacks_what_is_new else ""
        return f"{tp}: isr {list(self.isr)}, assignment {list(self.assignment)}, leader {self.leader}{lack}"


class LogEndDiffers(NamedTuple):
    """A member of the ISR whose log does not end where its leader's does."""

    broker: int
    log_end: int
    leader: int
    leader_end: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: the log of broker {self.broker} ends at {self.log_end}, that of its leader, broker {self.leader}, "
            f"at {self.leader_end}"
        )


class NotCommitted(NamedTuple):
    """A member of the ISR whose high watermark is not at its log end; None: it knows none."""

    broker: int
    high_watermark: int | None
    log_end: int
    leader: int
    isr: tuple[int, ...]

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: the high watermark of broker {self.broker} is {self.high_watermark}, its log ends at "
            f"{self.log_end}; leader {self.leader}, isr {list(self.isr)}"
        )


class ReplicaStays(NamedTuple):
    """A replica on a broker to which it is not assigned; ``assignment``: (): its topic is gone."""

    broker: int
    assignment: tuple[int, ...]

    def in_words(self, tp: TopicPartition | None) -> str:
        where = f"assigned to {list(self.assignment)}" if self.assignment else "of a topic that is gone"
        return f"{tp}: broker {self.broker} still has a replica, {where}"


class GivenUp(NamedTuple):
    """A partition that a fetcher has given up, or (``copy``) its copy to another log directory."""

    broker: int
    copy: bool

    def in_words(self, tp: TopicPartition | None) -> str:
        if self.copy:
            return f"{tp}: its copy to another log directory has failed on broker {self.broker}"
        return f"{tp}: failed on broker {self.broker} (KIP-461)"


class FetcherDead(NamedTuple):
    """A fetcher's thread that has died."""

    broker: int
    fetcher: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker}: {self.fetcher} has died"


class GaugeNotAtRest(NamedTuple):
    """A gauge that should be 0."""

    broker: int
    gauge: str
    value: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker} shows {self.gauge} = {self.value}"


class NotAccepted(NamedTuple):
    """A record that was not accepted: outcome and error; "": there is no answer yet."""

    outcome: str
    error: str

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}: {f'{self.outcome}, {self.error}' if self.outcome else 'no answer yet'}"


class NotRead(NamedTuple):
    """How far a consumer is, -1: nowhere, and the high watermark to which it should have read."""

    consumer: int
    offset: int
    high_watermark: int

    def in_words(self, tp: TopicPartition | None) -> str:
        where = f"at {self.offset}" if self.offset >= 0 else "nowhere"
        return f"{tp}: consumer {self.consumer} is {where}, the high watermark at {self.high_watermark}"
