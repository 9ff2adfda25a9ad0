"""Events of a scenario's actions, and of findings about a run: violations, acknowledged records that are lost."""

from typing import NamedTuple


class Fault(NamedTuple):
    """The scenario performed ``action`` (readings §1) on ``target``: machines by their names, or nothing."""

    t_us: int
    seq: int
    cause: int
    action: str
    target: str
    detail: str

    @property
    def brokers(self) -> tuple[int, ...]:
        """The ids of the brokers among the machines. Other machines, such as ZooKeeper, have names that are no
        numbers."""
        return tuple(int(name) for name in self.target.split(",") if name.isdigit())


class Drawn(NamedTuple):
    """A value that the seed has drawn for an entry of the method, at the start of the run.

    Attributes:
        place: the place of the entry in the file: ``method[2]``.
        option: the key: at, after, occurrence, duration.
    """

    t_us: int
    seq: int
    cause: int
    place: str
    option: str
    value: str


class RoutesChanged(NamedTuple):
    """The scenario cut routes between machines, or healed them: each from one of ``sources`` to the machine at the same
    place in ``targets``."""

    t_us: int
    seq: int
    cause: int
    cut: bool
    sources: tuple[int, ...]
    targets: tuple[int, ...]


class ClockSet(NamedTuple):
    """The scenario set the clock of a machine.

    Attributes:
        before_us, after_us: how far its clock was ahead of the right time before, and is now.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    before_us: int
    after_us: int


class StretchBegan(NamedTuple):
    """In a sampled run: a stretch begins that is simulated with all of its load, and measured. It may be given up."""

    t_us: int
    seq: int
    cause: int


class StretchEnded(NamedTuple):
    """In a sampled run: the stretch that began last is over. Until the next one is, it stands for leaps."""

    t_us: int
    seq: int
    cause: int


class LeapBegan(NamedTuple):
    """In a sampled run: everything is acknowledged and nothing of any client or fetcher is in flight; time passes from
    here to the next ``Leapt`` without their messages. What logs, high watermarks, producers and consumers get between
    the two is what would have come in all of that time, in a few large batches.

    Attributes:
        window_us, until_us: begin and end of the last stretch that was simulated with all of its load: it stands for
            what follows.
    """

    t_us: int
    seq: int
    cause: int
    window_us: int
    until_us: int


class Leapt(NamedTuple):
    """In a sampled run: the leap that began at ``since_us`` is over, and its effects are recorded before this event.

    Attributes:
        batches: how many batches producers would have closed in that time, about; fewer stand for them in the logs.
        reason: why it ended here: ``copy`` (a replica has caught up), ``event`` (of the control plane), ``window`` (a
            stretch is due in which all is simulated), ``entry`` (of the method, or of a client), or ``limit``.
    """

    t_us: int
    seq: int
    cause: int
    since_us: int
    batches: int
    reason: str


class Violated(NamedTuple):
    """A checker found a broken invariant."""

    t_us: int
    seq: int
    cause: int
    invariant: str
    statement: str


class AckedLost(NamedTuple):
    """Batches that a producer knows to be written are not in the log of their partition's leader.

    Attributes:
        acks: the acks with which they were acknowledged: -1 (all) or 1.
        unclean: an unclean election lost them, with acks=all.
        unflushed: the machines of all in-sync replicas crashed before they had flushed them (KIP-966), with acks=all.
        batches, records: the numbers of lost batches and of their records.
        id, base_offset: ``Batch.id`` and offset of the first batch; ``next_offset``: the offset after the last one.
        leader, leader_epoch, log_end_offset: the leader that lacks them, and where its log ends.
    """

    t_us: int
    seq: int
    cause: int
    topic: str
    partition: int
    acks: int
    unclean: bool
    unflushed: bool
    batches: int
    records: int
    id: int
    base_offset: int
    next_offset: int
    leader: int
    leader_epoch: int
    log_end_offset: int
