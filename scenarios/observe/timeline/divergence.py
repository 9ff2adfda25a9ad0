"""Divergence of two runs: the first event that differs, and, times aside, the first change of a partition's state.

Two runs with different seeds differ in their first delay already, though the cluster may do the same in both. So the
states of the partitions in ZooKeeper are compared too, partition by partition, without their times: leader, ISR and
leader epoch, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import Any

from attrs import frozen

from emulator.protocol.types import NO_LEADER
from emulator.protocol.znodes import LeaderAndIsr, state_path_partition
from emulator.trace.events import ZkWritten
from scenarios.observe.timeline.consequences import Followed, followed, lines
from scenarios.observe.timeline.timeline import actor
from scenarios.observe.timeline.words import seconds, words
from scenarios.units import counted


@frozen
class WrittenState:
    """A state of a partition in ZooKeeper. ``event``: the write; ``state``: None where it was deleted."""

    event: ZkWritten
    state: LeaderAndIsr | None

    @property
    def decided(self) -> tuple[Any, ...] | None:
        """The state without its time and its writer."""
        state = self.state
        return None if state is None else (state.leader, state.isr, state.leader_epoch)

    def __str__(self) -> str:
        state = self.state
        if state is None:
            return f"{seconds(self.event.t_us)} s: the state is deleted"
        leader = "no leader" if state.leader == NO_LEADER else f"leader {state.leader}"
        isr = ", ".join(map(str, state.isr))
        return f"{seconds(self.event.t_us)} s: {leader}, ISR [{isr}], leader epoch {state.leader_epoch}"


@frozen
class Divergence:
    """The difference between two runs.

    Attributes:
        index: index of the first event that differs, counted from 0; None: all are equal.
        partitions: how many partitions have a state in either run.
        parted: (partition, state in run A, state in run B) at the first difference, earliest first. None: the run has
            no further state.
    """

    first: Sequence[Any]
    second: Sequence[Any]
    index: int | None
    partitions: int
    parted: tuple[tuple[str, WrittenState | None, WrittenState | None], ...]

    @cached_property
    def followed(self) -> tuple[Followed, Followed] | None:
        """The consequences in each run; None where the runs are equal."""
        return None if self.index is None else followed(self.first, self.second, self.index)

    @property
    def pair(self) -> tuple[Any, Any]:
        """The first events that differ; None for a run that has ended."""
        assert self.index is not None
        return _item(self.first, self.index), _item(self.second, self.index)

    def to_json(self) -> dict[str, Any]:
        """The differences as plain values; events and states as ``lines`` shows them."""
        first, second = (None, None) if self.index is None else map(_in_words, self.pair)
        parted = [
            {"partition": name, "first": left and str(left), "second": right and str(right)}
            for name, left, right in self.parted
        ]
        return {
            "equal": self.index is None, "index": self.index, "first": first, "second": second,
            "partitions": self.partitions, "parted": parted, "followed": self._followed_json(),
        }  # fmt: skip

    def _followed_json(self) -> dict[str, Any] | None:
        if self.followed is None:
            return None
        left, right = self.followed
        return {"first": left.to_json(), "second": right.to_json()}

    def lines(self) -> Iterator[str]:
        if self.index is None:
            yield f"equal: {len(self.first):,} events"
            return
        before = f"; the {self.index:,} before it are equal" if self.index else ""
        yield f"the first event that differs is number {self.index + 1:,}{before}:"
        for mark, event in zip("<>", self.pair, strict=True):
            yield f"  {mark} {_in_words(event)}"
        assert self.followed is not None
        yield from lines(*self.followed)
        yield from self._states()

    def _states(self) -> Iterator[str]:
        if not self.parted:
            same = counted(self.partitions, "partitions")
            yield f"times aside, the states in ZooKeeper are the same ones ({same})"
            return
        (name, left, right), *others = self.parted
        yield f"times aside, the states in ZooKeeper part first in {name}:"
        for mark, state in zip("<>", (left, right), strict=True):
            yield f"  {mark} {state or 'no further state'}"
        if others:
            yield f"they part in {', '.join(other[0] for other in others)} too"
        yield f"the other {self.partitions - len(self.parted)} of {self.partitions} have equal states"


def divergence(first: Sequence[Any], second: Sequence[Any]) -> Divergence:
    """Compare the events of two runs."""
    index = next((i for i, (a, b) in enumerate(zip_longest(first, second)) if a != b or type(a) is not type(b)), None)
    left, right = _states(first), _states(second)
    parted = []
    for name in {**left, **right}:
        pair = _parting(left.get(name, ()), right.get(name, ()))
        if pair is not None:
            parted.append((name, *pair))
    parted.sort(key=lambda found: min(state.event.t_us for state in found[1:] if state is not None))
    return Divergence(first, second, index, len({**left, **right}), tuple(parted))


def _states(events: Sequence[Any]) -> dict[str, list[WrittenState]]:
    """The states that were written, without repetitions, by partition."""
    found: dict[str, list[WrittenState]] = {}
    for event in events:
        if type(event) is not ZkWritten:
            continue
        tp = state_path_partition(event.path)
        if tp is None:
            continue
        deleted = event.op == "delete"
        state = WrittenState(event, None if deleted else LeaderAndIsr.decode(event.data, event.version))
        states = found.setdefault(str(tp), [])
        if not states or states[-1].decided != state.decided:
            states.append(state)
    return found


def _parting(
    left: Sequence[WrittenState], right: Sequence[WrittenState]
) -> tuple[WrittenState | None, WrittenState | None] | None:
    for a, b in zip_longest(left, right):
        if a is None or b is None or a.decided != b.decided:
            return a, b
    return None


def _in_words(event: Any) -> str:
    if event is None:
        return "the run has ended"
    node = actor(event)
    who = "" if node < 0 else f"broker {node}: "
    return f"{seconds(event.t_us)} s, seq {event.seq}: {who}{words(event)}"


def _item(events: Sequence[Any], index: int) -> Any:
    return events[index] if index < len(events) else None
