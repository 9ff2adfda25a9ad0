"""Facts about ISRs and leaders: who is in an ISR and should not be, or leads and should not."""

from typing import NamedTuple

from emulator.protocol.types import TopicPartition


class IsrEmpty(NamedTuple):
    """An ISR without members."""

    leader_epoch: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}, epoch {self.leader_epoch}: the ISR is empty"


class CommittedByFew(NamedTuple):
    """A leader that has committed up to an offset with fewer in-sync replicas than min.insync.replicas."""

    leader: int
    offset: int
    in_sync: int
    least: int
    since_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: leader {self.leader} has committed up to offset {self.offset} with an ISR of "
            f"{self.in_sync} where {self.least} are asked for, since {self.since_us / 1e6:.3f} s"
        )


class LeaderOutside(NamedTuple):
    """A leader that is not in the ISR."""

    leader_epoch: int
    leader: int
    isr: tuple[int, ...]

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}, epoch {self.leader_epoch}: broker {self.leader} leads and the ISR is {list(self.isr)}"


class ChangeWaits(NamedTuple):
    """A change of an ISR, ``shrink`` or ``expand``, of which its leader learns no outcome."""

    leader: int
    kind: str
    isr: tuple[int, ...]
    held_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: leader {self.leader} has proposed to {self.kind} the ISR to {list(self.isr)}, and has no outcome "
            f"after {self.held_us / 1e6:g} s"
        )


class ElectedAgain(NamedTuple):
    """A preferred replica that is elected though it leads."""

    leader: int
    leader_epoch: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}, epoch {self.leader_epoch}: broker {self.leader} is elected as the preferred one, and led already"


class ElectedOutOfOrder(NamedTuple):
    """A leader that was elected while ``passed`` over came before it in the assignment, lived and was in sync."""

    selector: str
    leader: int
    leader_epoch: int
    assignment: tuple[int, ...]
    isr: tuple[int, ...]
    passed: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}, epoch {self.leader_epoch}: broker {self.leader} is elected ({self.selector}), though broker "
            f"{self.passed} comes first in the assignment {list(self.assignment)}, lives, and was in the ISR "
            f"{list(self.isr)}"
        )


class LooksLate(NamedTuple):
    """A controller that does not look for leaders that are not preferred."""

    controller: int
    late_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"controller {self.controller} should have looked {self.late_us / 1e6:.1f} s ago whether preferred "
            "replicas lead"
        )


class LedElsewhere(NamedTuple):
    """A partition whose preferred replica ``broker`` could lead, and does not after the controller's look, though
    ``elsewhere`` of the ``preferring`` partitions that it should lead are led by others."""

    broker: int
    leader: int
    isr: tuple[int, ...]
    elsewhere: int
    preferring: int
    percentage: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.broker} comes first in the assignment, lives and is in the ISR {list(self.isr)}, and "
            f"broker {self.leader} leads after the controller has looked; {self.elsewhere} of {self.preferring} such "
            f"partitions are led by others, and {self.percentage} % may be"
        )


class ElectionDrops(NamedTuple):
    """A member that an election has taken out of the ISR, though it lives."""

    selector: str
    leader_epoch: int
    before: tuple[int, ...]
    isr: tuple[int, ...]
    dropped: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}, epoch {self.leader_epoch}: an election ({self.selector}) makes the ISR {list(self.isr)} of "
            f"{list(self.before)}, and broker {self.dropped} lives"
        )


class JoinedBehind(NamedTuple):
    """A replica that joins the ISR before it has what is committed, or what its leader began with."""

    leader: int
    leader_epoch: int
    epoch_start: int
    high_watermark: int | None
    replica: int
    log_end: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.leader}, leader of epoch {self.leader_epoch}, which began at {self.epoch_start}, with "
            f"the high watermark {self.high_watermark}, takes broker {self.replica} into the ISR, whose log ends at "
            f"{self.log_end}"
        )


class AddedUnassigned(NamedTuple):
    """A replica that a leader adds to the ISR and that is not assigned. ``replicas``: those that the leader was sent;
    or, ``by_epoch``, those as its epoch began."""

    leader: int
    leader_epoch: int
    replica: int
    replicas: tuple[int, ...]
    by_epoch: bool

    def in_words(self, tp: TopicPartition | None) -> str:
        says = f"{tp}: broker {self.leader}, leader of epoch {self.leader_epoch}"
        if self.by_epoch:
            return f"{says}, adds broker {self.replica}; the replicas were {list(self.replicas)} as the epoch began"
        return f"{says}, which has received the replicas {list(self.replicas)}, adds broker {self.replica}"


class DroppedEarly(NamedTuple):
    """A replica that a leader drops from the ISR though it has not been behind for ``lag_time_us``."""

    leader: int
    leader_epoch: int
    replica: int
    log_end: int
    leader_end: int
    overdue_us: int
    lag_time_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.leader}, leader of epoch {self.leader_epoch}, drops broker {self.replica}, which is "
            f"at {self.log_end} of {self.leader_end} and was caught up {self.overdue_us} µs ago of {self.lag_time_us}"
        )


class DeadInIsr(NamedTuple):
    """A dead broker that stays in an ISR; ``held_us``: for how long the controller has known that it is dead."""

    isr: tuple[int, ...]
    leader: int
    controller: int
    held_us: int
    dead: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: ISR {list(self.isr)} under leader {self.leader}, while controller {self.controller} has known for "
            f"{self.held_us / 1e6:.1f} s that broker {self.dead} is dead"
        )


class DeadWritten(NamedTuple):
    """An ISR that a controller writes with brokers of which it knows that they are dead."""

    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    controller: int
    dead: tuple[int, ...]

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: ISR {list(self.isr)} under leader {self.leader} of epoch {self.leader_epoch}, written by "
            f"controller {self.controller}, which knows that broker {', '.join(map(str, self.dead))} is dead"
        )


class LaggardStays(NamedTuple):
    """A member of the ISR that is behind for too long; ``log_end``: None: it has not followed its leader."""

    leader: int
    isr: tuple[int, ...]
    member: int
    log_end: int | None
    held_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        how = "has not followed it" if self.log_end is None else f"ends at {self.log_end}"
        return (
            f"{tp}: broker {self.member} is in the ISR {list(self.isr)} of broker {self.leader}, and {how}, for "
            f"{self.held_us / 1e6:.1f} s"
        )


class IsrGrew(NamedTuple):
    """An ISR that has gained members with a new leader epoch. ``isr_before``: the ISR in the epoch before."""

    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    isr_before: tuple[int, ...]
    epoch_before: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: ISR {list(self.isr)} under leader {self.leader} of epoch {self.leader_epoch}, after "
            f"{list(self.isr_before)} in epoch {self.epoch_before}"
        )


class ElectsAsIfUnclean(NamedTuple):
    """A controller that elects as if a setting were true now."""

    controller: int
    setting: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"controller {self.controller} elects leaders as if {self.setting} were true now, and it never was"


class LeadsUnclean(NamedTuple):
    """A leader that was not in the ISR of before, though a setting does not allow that."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    setting: str

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.leader} leads from epoch {self.leader_epoch} on; the ISR was {list(self.isr)}, and "
            f"{self.setting} is false"
        )


class NotLed(NamedTuple):
    """A partition whose leader is gone, or that has none, for too long."""

    leader: int
    isr: tuple[int, ...]
    registered: tuple[int, ...]
    held_us: int
    controller: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: leader {self.leader}, ISR {list(self.isr)}, registered {list(self.registered)}, for "
            f"{self.held_us / 1e6:.1f} s under controller {self.controller}"
        )
