"""Why did a produce fail?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from emulator.protocol.events import LeaderElected, NodeCrashed, Produced, RoutesChanged
from emulator.protocol.types import NO_LEADER
from scenarios.observe.timeline.moment import PartitionState
from scenarios.observe.timeline.words import who
from scenarios.observe.why.answer import Answer, ids, when
from scenarios.observe.why.partition_past import PartitionPast
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
    closed_us = wanted.t_us - wanted.latency_us
    state, obstacles = _state(past.at(closed_us), past.at(wanted.t_us), wanted)
    if wanted.error == "NONE":
        return Answer.of(question, (*obstacles, wanted), f"{_acknowledged(wanted)}{state}")
    client = who(wanted.node)
    last = f"; the last error was {wanted.error}" if wanted.attempts else ""
    sentence = (
        f"{client[0].upper()}{client[1:]} gave batch {wanted.id} of {tp} up at {when(wanted.t_us)} "
        f"{_OUTCOMES.get(wanted.outcome, wanted.outcome)}, {wanted.latency_us / 1e6:.3f} s after it was closed and "
        f"{_attempts(wanted.attempts)}{last}.{state}"
    )
    return Answer.of(question, (*obstacles, *_meanwhile(past, closed_us, wanted.seq), wanted), sentence)


def _attempts(count: int) -> str:
    return f"after {counted(count, 'attempts')}" if count else "never sent"


def _acknowledged(produced: Produced) -> str:
    acks = "all" if produced.acks < 0 else produced.acks
    again = f" and after {produced.attempts} attempts" if produced.attempts > 1 else ""
    return (
        f"It did not fail: leader {produced.leader} acknowledged it at {when(produced.t_us)} (acks={acks}), "
        f"{produced.latency_us / 1e6:.3f} s after it was closed{again}."
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


def _state(closed: PartitionPast, ended: PartitionPast, wanted: Produced) -> tuple[str, Sequence[Any]]:
    """A sentence about the partition when the batch was closed, and when it was decided, with what was in the client's
    way at each of the two moments; empty where that says nothing of an acknowledged batch."""
    begun, now, acked = closed.state, ended.state, wanted.error == "NONE"
    if begun is None or now is None:
        return " The partition did not exist all the time.", ()
    if wanted.error in _FEW_IN_SYNC:
        return f" The ISR was {ids(now.isr)}, which is below min.insync.replicas.", ()
    before, after = _in_the_way(closed, begun, wanted.node), _in_the_way(ended, now, wanted.node)
    later = [clause for clause in after if clause not in before]
    said = ", ".join((f"When it was closed {_led(begun)}", *before))
    if (now.leader, now.isr) != (begun.leader, begun.isr) or later:
        decided = "acknowledged" if acked else "given up"
        said += "; " + ", ".join((f"when it was {decided} {_led(now)}", *later))
    if acked and begun.leader == now.leader and not (before or later):
        return "", ()
    return f" {said}.", (*before.values(), *after.values())


def _in_the_way(then: PartitionPast, state: PartitionState, client: int) -> dict[str, Any]:
    """Obstacles between a client and the leader, or the ISR where there is none: clauses, with the event of each."""
    found = {}
    for broker in state.isr if state.leader == NO_LEADER else (state.leader,):
        stopped, cut = then.stopped(broker), then.cut(client, broker)
        if stopped is not None:
            what = "down" if broker in then.moment.down else "paused"
            found[f"broker {broker} had been {what} since {when(stopped.t_us)}"] = stopped
        if cut is not None:
            found[f"the network between the client and broker {broker} had been cut since {when(cut.t_us)}"] = cut
    return found


def _led(state: PartitionState) -> str:
    led = "there was no leader" if state.leader == NO_LEADER else f"broker {state.leader} led"
    return f"{led} (ISR {ids(state.isr)})"
