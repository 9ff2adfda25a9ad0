"""A partition's move as the specification knows it: ``zk.replicas``, ``zk.adding``, ``zk.removing``, ``zk.admin``, and
what a controller may have in its memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from attrs import define, field

from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr

Replicas = tuple[int, ...]


class Assignment(NamedTuple):
    """A partition's entry in the znode of its topic."""

    replicas: Replicas = ()
    adding: Replicas = ()
    removing: Replicas = ()

    @property
    def original(self) -> Replicas:
        """``Original`` of Kip455."""
        return tuple(one for one in self.replicas if one not in self.adding)

    @property
    def requested(self) -> Replicas:
        """``Requested`` of Kip455."""
        return tuple(one for one in self.replicas if one not in self.removing)

    def reassigned_to(self, target: Replicas) -> Assignment:
        """``ReassignTo`` of Kip455."""
        original = self.original
        every = (*target, *(one for one in original if one not in target))
        return Assignment(
            every,
            tuple(one for one in every if one not in original),
            tuple(one for one in every if one not in target),
        )

    def hop_to(self, target: Replicas, leader: int) -> Replicas:
        """``Target`` of Kafka6794, where this is CR and ``target`` FTR."""
        new = [one for one in target if one not in self.replicas]
        if not new:
            return target
        excess = [one for one in self.replicas if one not in target]
        last = [one for one in excess if one != leader] + [one for one in excess if one == leader]
        dropped = last[: max(0, len(self.replicas) - len(target))]
        return tuple(one for one in (*self.replicas, new[0]) if one not in dropped)

    def __str__(self) -> str:
        words = f"replicas {list(self.replicas)}"
        if self.adding or self.removing:
            words += f", adding {list(self.adding)}, removing {list(self.removing)}"
        return words


class Writer(NamedTuple):
    """A controller, by its election."""

    node: int
    epoch: int
    seq: int


@define(eq=False)
class MoveState:
    """The state of one partition's list, its state znode's versions, and the move that is asked for.

    Attributes:
        now, before: its entry in the topic's znode, and the one before the last write. ``by``: who wrote it.
        asked: the targets that were asked for since the last move ended; the first is the oldest.
        pending: the targets that were asked for by API. ``cancelled``: whether a cancellation was. Such a request waits
            for a controller, while others are carried out, and one that gets no answer is sent again: a controller may
            take it up late, and more than once.
        open: whether a move was asked for, and has not ended. ``began``: the event that asked last.
        held: by target, the events from which and until which the ISR in ZooKeeper had all of it; until: 0, it has.
        first, states, seqs: the contents of its state znode from version ``first`` on, and the events that wrote them.
        floor, floor_by: the version that a controller knows at least, and the controller epoch of that one.
        deletes: who was sent a StopReplica with deletion in this move, and by which event.
        said: the last version of the state znode that a LeaderAndIsr was about.
        told: by broker, the leader epoch of the last LeaderAndIsr that was queued for it in this move.
        protocol: of its move, by the last step.
    """

    now: Assignment = field(factory=Assignment)
    before: Assignment = field(factory=Assignment)
    by: int = -1
    written: int = 0
    asked: list[Replicas] = field(factory=list)
    pending: list[Replicas] = field(factory=list)
    cancelled: bool = False
    said: int = -1
    open: bool = False
    began: int = 0
    held: dict[Replicas, tuple[int, int]] = field(factory=dict)
    first: int = 0
    states: list[LeaderAndIsr] = field(factory=list)
    seqs: list[int] = field(factory=list)
    floor: int = 0
    floor_by: int = -1
    deletes: dict[int, int] = field(factory=dict)
    told: dict[int, int] = field(factory=dict)
    protocol: str = "wiki"

    @property
    def isr(self) -> Replicas:
        return self.states[-1].isr if self.states else ()

    def ask(self, target: Replicas, seq: int) -> None:
        """Take note that it is asked to move the partition to ``target``."""
        if not self.open or self.is_over:
            self.asked.clear()
            self.held.clear()
            self.deletes.clear()
            self.told.clear()
            self.open = True
        if target in self.asked:
            self.asked.remove(target)
        self.asked.append(target)
        self.began = seq
        self._hold(target, seq)

    @property
    def is_over(self) -> bool:
        """Whether ZooKeeper has no move any more of a request by API (KIP-455), which no znode has beside it."""
        now = self.now
        return self.protocol == "kip-455" and not (now.adding or now.removing) and now.replicas in self.asked

    def end(self) -> None:
        """Take note that no move is asked for any more."""
        self.open = False

    def see_state(self, state: LeaderAndIsr, seq: int, *, created: bool) -> None:
        """Take note of a write of the state znode."""
        if created or not self.states or state.zk_version != self.first + len(self.states):
            self.first = state.zk_version
            self.states.clear()
            self.seqs.clear()
        self.states.append(state)
        self.seqs.append(seq)
        for target in self.asked:
            self._hold(target, seq)

    def _hold(self, target: Replicas, seq: int) -> None:
        holds, since = set(target) <= set(self.isr), self.held.get(target)
        if holds and (since is None or since[1]):
            self.held[target] = seq, 0
        elif not holds and since is not None and not since[1]:
            self.held[target] = since[0], seq

    @property
    def targets(self) -> Sequence[Replicas]:
        """Where the move may lead that goes on. With KIP-455 the topic's znode says it."""
        if not self.open:
            return ()
        return (self.now.requested,) if self.protocol == "kip-455" else self.asked

    def was_in_sync(self, target: Replicas, since: int) -> bool:
        """Whether the ISR had all of ``target`` at some time after event ``since``: ``AllInIsr``, as a controller that
        was elected then may have read it."""
        held = self.held.get(target)
        return held is not None and (held[1] == 0 or held[1] >= since)

    def version(self, number: int) -> LeaderAndIsr | None:
        """The content of the state znode in a version; None: it has not had it, or that was too long ago."""
        index = number - self.first
        return self.states[index] if 0 <= index < len(self.states) else None

    def version_at(self, seq: int) -> int:
        """The version that the state znode had at event ``seq``."""
        index = len(self.seqs) - 1
        while index > 0 and self.seqs[index] > seq:
            index -= 1
        return self.first + index

    def leaving(self, member: int, since: int) -> bool:
        """Whether a move takes ``member`` away: some target without it is in sync, or the list is without it
        already."""
        if member not in self.now.replicas:
            return True
        return any(member not in target and self.was_in_sync(target, since) for target in self.targets)

    def __str__(self) -> str:
        asked = f", asked for {', '.join(str(list(one)) for one in self.asked)}" if self.open else ", no move"
        return f"{self.now}, ISR {list(self.isr)} in ZooKeeper{asked}"


class MoveStates(dict[TopicPartition, MoveState]):
    """The states by partition; made when they are looked up."""

    def __missing__(self, tp: TopicPartition) -> MoveState:
        found = self[tp] = MoveState()
        return found
