"""Facts about epochs and fencing: what falls, comes twice, or goes on under one that is over."""

from typing import Literal, NamedTuple

from emulator.protocol.types import TopicPartition
from scenarios.observe.findings.facts import Part

EpochOf = Literal["znode", "controller epoch", "replica", "controller", "broker"]
LeadsBy = Literal["znode", "election", "role"]

_LEADS_BY: dict[LeadsBy, str] = {
    "znode": "in its state znode", "election": "elected by the controller", "role": "by its own word",
}  # fmt: skip


class EpochFell(NamedTuple):
    """An epoch that does not grow. ``of``: the leader epoch in a state znode or of a replica's role, the controller
    epoch in ZooKeeper or that a broker obeys, or the broker epoch; ``broker``: None: it is in ZooKeeper."""

    of: EpochOf
    broker: int | None
    last: int
    epoch: int

    def in_words(self, tp: TopicPartition | None) -> str:
        what = {
            "znode": f"{tp}, leader epoch in ZooKeeper",
            "controller epoch": "controller epoch in ZooKeeper",
            "replica": f"broker {self.broker}, {tp}",
            "controller": f"broker {self.broker} obeys the controller",
            "broker": f"broker {self.broker}, broker epoch",
        }[self.of]
        return f"{what}: epoch {self.epoch} after {self.last}"


class LeaderChanged(NamedTuple):
    """Another leader in one leader epoch."""

    before: int
    leader: int
    leader_epoch: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: the leader in ZooKeeper changes from {self.before} to {self.leader} in leader epoch "
            f"{self.leader_epoch}"
        )


class TwoLeaders(NamedTuple):
    """Two leaders of one leader epoch, and what shows that each of them leads."""

    leader_epoch: int
    first: int
    first_by: LeadsBy
    second: int
    second_by: LeadsBy

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}, epoch {self.leader_epoch}: led by broker {self.first} ({_LEADS_BY[self.first_by]}) and by broker "
            f"{self.second} ({_LEADS_BY[self.second_by]})"
        )


class BrokerEpochMistaken(NamedTuple):
    """A request for an earlier broker epoch that is accepted, or one for a later one that is refused."""

    broker: int
    broker_epoch: int
    accepts: bool
    api: str
    controller: int
    of_request: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"broker {self.broker}, registered with broker epoch {self.broker_epoch}, "
            f"{'accepts' if self.accepts else 'refuses'} a {self.api} of controller {self.controller} for broker epoch "
            f"{self.of_request}"
        )


class WrittenByFormerController(NamedTuple):
    """A write of a controller's by a broker that is not the controller."""

    broker: int
    path: str
    op: str
    controller_epoch: int
    controller: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"broker {self.broker} writes {self.path} ({self.op}) in controller epoch {self.controller_epoch}, which "
            f"is broker {self.controller}'s"
        )


class StateOfOtherEpoch(NamedTuple):
    """A state znode with another controller epoch, ``written``, than that of its time."""

    leader_epoch: int
    leader: int
    written: int
    controller_epoch: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: leader epoch {self.leader_epoch}, leader {self.leader}, written by the controller of epoch "
            f"{self.written} in controller epoch {self.controller_epoch}"
        )


class AddedForOtherEpoch(NamedTuple):
    """A replica that is added to the ISR for a fetch under ``fetched`` and that follows in the epoch ``adopted``."""

    leader: int
    leader_epoch: int
    replica: int
    fetched: int
    adopted: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.leader}, leader of epoch {self.leader_epoch}, adds broker {self.replica} to the ISR "
            f"for a fetch under epoch {self.fetched}; that one follows in epoch {self.adopted}"
        )


class FencedGoesOn(NamedTuple):
    """A follower that goes on fetching though its leader epoch was refused."""

    leader: int
    leader_epoch: int
    follower: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.leader} has refused the epoch {self.leader_epoch} of broker {self.follower}, and that "
            "one goes on"
        )


class FailedComesBack(NamedTuple):
    """A failed partition that is fetched, or led, again under no later leader epoch."""

    broker: int
    failed_epoch: int
    led: bool
    leader_epoch: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: failed on broker {self.broker} in epoch {self.failed_epoch} and is "
            f"{'led' if self.led else 'fetched'} again in epoch {self.leader_epoch}"
        )


class FetchesFromTwo(NamedTuple):
    """A partition that a broker fetches from two leaders."""

    broker: int
    leader: int
    before: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}: broker {self.broker} fetches from {self.leader}, and still from {self.before}"


class LeaderFetches(NamedTuple):
    """A leader that fetches its partition; ``before``: it did before it led."""

    broker: int
    leader_epoch: int
    leader: int
    before: bool

    def in_words(self, tp: TopicPartition | None) -> str:
        if self.before:
            return f"{tp}: broker {self.broker} leads in epoch {self.leader_epoch} and still fetches from {self.leader}"
        return f"{tp}: broker {self.broker}, leader of epoch {self.leader_epoch}, fetches from {self.leader}"


class FailedIsFetched(NamedTuple):
    """A failed partition that its broker goes on fetching."""

    broker: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}: failed on broker {self.broker}, which goes on fetching it"


class Session(Part):
    """A condition on the session of a broker, besides the statement of its checker."""

    HAS_ITS_ZNODES = (
        "ephemeral(z) ⇔ z = /controller or z in /brokers/ids: what a broker registers ends with its session, and "
        "nothing else that it creates does"
    )


class WrittenAfterExpiry(NamedTuple):
    """A write of a broker whose session has expired."""

    broker: int
    path: str
    op: str
    expired_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker} writes {self.path} ({self.op}); its session expired at {self.expired_us} µs"


class ZnodeOfWrongKind(NamedTuple):
    """A znode that is ephemeral and should not be, or should be."""

    broker: int
    path: str
    ephemeral: bool

    def in_words(self, _tp: TopicPartition | None) -> str:
        kind = "an ephemeral znode" if self.ephemeral else "a persistent znode"
        return f"broker {self.broker} creates {self.path}, {kind}"


class IsrEndsUnasked(NamedTuple):
    """A change of the ISR that has ended, ``failed`` or not, and was not proposed."""

    broker: int
    failed: bool
    leader_epoch: int

    def in_words(self, tp: TopicPartition | None) -> str:
        outcome = "fails to change its ISR" if self.failed else "changes its ISR"
        return (
            f"{tp}: broker {self.broker} {outcome} in epoch {self.leader_epoch}, and has proposed no change since it "
            "took up its role"
        )


class WrittenStateFact(NamedTuple):
    """The content of a state znode in one version."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]


class IsrNotWritten(NamedTuple):
    """An ISR that a leader has by a version of the state znode which has another; None: there was no such version."""

    broker: int
    leader_epoch: int
    isr: tuple[int, ...]
    zk_version: int
    written: WrittenStateFact | None

    def in_words(self, tp: TopicPartition | None) -> str:
        found = "that version was never written"
        if self.written is not None:
            leader, epoch, isr = self.written
            found = f"there it names leader {leader}, epoch {epoch}, ISR {list(isr)}"
        return (
            f"{tp}: broker {self.broker}, leader of epoch {self.leader_epoch}, has the ISR {list(self.isr)} by version "
            f"{self.zk_version} of the state znode; {found}"
        )


class OutlivesSession(NamedTuple):
    """An ephemeral znode of a broker that has no session."""

    path: str
    broker: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"{self.path} is there, and broker {self.broker} has no session"


class EndedEarly(NamedTuple):
    """A session that has expired though its broker reaches ZooKeeper."""

    broker: int
    session: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"session {self.session} of broker {self.broker} expires, and the broker runs and reaches ZooKeeper"


class AskedOutOfOrder(NamedTuple):
    """A request that comes to ZooKeeper before an earlier one of its client, or after a later one.

    Attributes:
        number: how many requests its client had submitted before it.
        expected: the number that should have come.
    """

    client: int
    session: int
    number: int
    expected: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"request {self.number} of broker {self.client} comes to ZooKeeper in session {self.session}, where "
            f"{self.expected} should come"
        )


class LivesOn(NamedTuple):
    """A session of a broker whose process has ended."""

    broker: int
    session: int
    silent_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"session {self.session} of broker {self.broker} lives, {self.silent_us / 1e6:g} s after its end"
