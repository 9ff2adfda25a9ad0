"""Why did a produce fail?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from emulator.protocol.events import LeaderElected, NodeCrashed, Produced, RoutesChanged
from emulator.protocol.types import NO_LEADER
from scenarios.observe.timeline.words import who
from scenarios.observe.why.answer import Answer, ids, when
from scenarios.observe.why.partition_past import PartitionPast, Stated
from scenarios.units import counted

_OUTCOMES = {
    "failed": "with an error that no retry can mend",
    "retries": "when all its retries were used",
    "expired": "when delivery.timeout.ms was over",
}
_FEW_IN_SYNC = ("NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND")


def batch(past: PartitionPast, number: int | None = None) -> Answer:
    """Why a batch failed: the one with that number, or else the last one that was given up by the moment."""
    tp, at = past.tp, when(past.at_us)
    if number is None:
        wanted = past.of_partition(Produced, lambda event: event.error != "NONE")
        question, nothing = f"why did the last failed batch of {tp} fail, as of {at}", "No batch was given up"
    else:
        wanted = past.of_partition(Produced, lambda event: event.id == number)
        question, nothing = f"why did batch {number} of {tp} fail, as of {at}", f"Nothing is decided of batch {number}"
    if wanted is None:
        return Answer.of(question, (), f"{nothing} in {tp} by {at}.")
    if wanted.error == "NONE":
        return Answer.of(question, (wanted,), _acknowledged(wanted))
    closed_us = wanted.t_us - wanted.latency_us
    client = who(wanted.node)
    sentence = (
        f"{client[0].upper()}{client[1:]} gave batch {wanted.id} of {tp} up at {when(wanted.t_us)} "
        f"{_OUTCOMES.get(wanted.outcome, wanted.outcome)}, {wanted.latency_us / 1e6:.3f} s after it was closed and "
        f"{_attempts(wanted.attempts)}; the last error was {wanted.error}. "
        f"{_state(past, closed_us, wanted)}"
    )
    return Answer.of(question, (*_meanwhile(past, closed_us, wanted.seq), wanted), sentence)


def _attempts(count: int) -> str:
    return f"after {counted(count, 'attempts')}" if count else "never sent"


def _acknowledged(produced: Produced) -> str:
    acks = "all" if produced.acks < 0 else produced.acks
    return (
        f"It did not fail: leader {produced.leader} acknowledged it at {when(produced.t_us)} (acks={acks}), "
        f"{produced.latency_us / 1e6:.3f} s after it was closed."
    )


def _meanwhile(past: PartitionPast, from_us: int, before: int) -> Sequence[Any]:
    """The partition's state when the batch was closed, and what changed while it waited: leader and ISR, crashes and
    cuts."""
    changes = [stated.event for stated in past.stated]
    begun = [change for change in changes if change.t_us < from_us][-1:]
    others = [
        event for event in past.events
        if type(event) in (NodeCrashed, RoutesChanged) or (type(event) is LeaderElected and past.names(event))
    ]  # fmt: skip
    return [*begun, *(event for event in (*changes, *others) if event.t_us >= from_us and event.seq < before)]


def _state(past: PartitionPast, closed_us: int, wanted: Produced) -> str:
    """The partition when the batch was closed, and when it was given up."""
    begun = _stated_at(past, closed_us)
    ended = _stated_at(past, wanted.t_us)
    if begun is None or ended is None or begun.state is None or ended.state is None:
        return "The partition did not exist all the time."
    if wanted.error in _FEW_IN_SYNC:
        return f"The ISR was {ids(ended.isr)}, which is below min.insync.replicas."
    parts = [f"When it was closed {_led(begun)}"]
    if ended.event is not begun.event:
        parts.append(f"when it was given up {_led(ended)}")
    leader = ended.leader if ended.leader != NO_LEADER else begun.leader
    for broker in dict.fromkeys((leader, *ended.isr) if leader == NO_LEADER else (leader,)):
        stopped = past.stopped(broker)
        if stopped is not None and stopped.t_us <= wanted.t_us:
            what = "down" if broker in past.moment.down else "paused"
            parts.append(f"broker {broker} had been {what} since {when(stopped.t_us)}")
    cut = past.cut(wanted.node, leader)
    if cut is not None and cut.t_us <= wanted.t_us:
        parts.append(f"the network between the client and broker {leader} had been cut since {when(cut.t_us)}")
    return ", ".join(parts) + "."


def _stated_at(past: PartitionPast, t_us: int) -> Stated | None:
    return next((stated for stated in reversed(past.stated) if stated.event.t_us <= t_us), None)


def _led(stated: Stated) -> str:
    led = "there was no leader" if stated.leader == NO_LEADER else f"broker {stated.leader} led"
    return f"{led} (ISR {ids(stated.isr)})"
