"""Why does a move wait?"""

from __future__ import annotations

from typing import Any

from controller.reassignment.protocol import Awaited
from emulator.protocol.events import (
    ControllerElected,
    Fault,
    MoveAnswered,
    MoveFinished,
    MoveReported,
    MoveStarted,
    NodeCrashed,
)
from emulator.trace.events import Step
from emulator.zookeeper import ZOOKEEPER
from scenarios.observe.timeline.moment import OpenMove
from scenarios.observe.timeline.words import words
from scenarios.observe.why.answer import Answer, ids, when
from scenarios.observe.why.partition_past import PartitionPast
from scenarios.observe.why.replica_reasons import Circumstance, down, how_it_left, unregistered, what_keeps_it_out


def move(past: PartitionPast) -> Answer:
    """Why the partition's move has not ended."""
    tp, at = past.tp, when(past.at_us)
    question = f"why does the move of {tp} wait at {at}"
    waiting = open_move(past)
    started = past.of_partition(MoveStarted)
    if waiting is None:
        return Answer.of(question, *_ended(past, started))
    step = past.of_partition(Step)
    found = reason(past, waiting)
    way = f"from {ids(waiting.original)} to {ids(waiting.target)}"
    sentence = f"The move of {tp} {way} is {waiting.place} at {at}: {found.clause}."
    return Answer.of(question, (started, step, *found.events), sentence)


def _ended(past: PartitionPast, started: MoveStarted | None) -> tuple[tuple[Any, ...], str]:
    if started is None:
        return (), f"No move of {past.tp} was requested by {when(past.at_us)}."
    ends = (past.of_partition(kind) for kind in (MoveFinished, MoveReported, MoveAnswered))
    ended = next((end for end in ends if end is not None and end.seq > started.seq), None)
    now = "" if past.state is None else f"; its replicas are {ids(past.state.replicas)}"
    how = "" if ended is None else f": {words(ended)}, at {when(ended.t_us)}{now}"
    return (started, ended), f"No move of {past.tp} is open at {when(past.at_us)}{how}."


def open_move(past: PartitionPast) -> OpenMove | None:
    """The partition's move that is under way."""
    return next((one for one in past.moment.moves if one.partition == str(past.tp)), None)


def reason(past: PartitionPast, waiting: OpenMove) -> Circumstance:
    """The first of these that keeps it: the controller, work that is under way, what its step waits for."""
    controller = past.moment.controller
    elected = past.last(ControllerElected)
    if controller < 0:
        died = past.last(NodeCrashed, lambda crash: elected and crash.node == elected.node and crash.seq > elected.seq)
        since = "" if died is None else f" since broker {died.node} died at {when(died.t_us)}"
        return Circumstance(f"there has been no controller{since}, so no step is taken", (died,))
    stuck = _stuck(past, controller)
    if stuck is not None:
        return stuck
    if waiting.deleted_us is not None:
        return Circumstance(_left_over(past, controller), ())
    if not waiting.step:
        return Circumstance(f"controller {controller} has not begun it", ())
    step = past.of_partition(Step, lambda event: (event.step, event.edge) == (waiting.step, waiting.edge))
    if elected.seq > step.seq:
        since = when(elected.t_us)
        return Circumstance(f"controller {controller}, elected at {since}, has not taken it up yet", (step, elected))
    awaited = _awaited(past, waiting)
    if awaited is None:
        has = "began this step at" if waiting.edge == "before" else "has done this step at"
        then = "has not ended it yet" if waiting.edge == "before" else "has not begun the next one"
        return Circumstance(f"controller {controller} {has} {when(step.t_us)}, and {then}", (step,))
    return _until_alive(past, awaited) if awaited.alive else _until_in_sync(past, awaited, waiting)


def _left_over(past: PartitionPast, controller: int) -> str:
    if past.is_requested:
        return "the next controller reads the request again, and moves the partition if one has this name then"
    return f"it is in the memory of controller {controller} alone, and the next one does not know it"


def _stuck(past: PartitionPast, controller: int) -> Circumstance | None:
    """The circumstance that keeps the controller from doing anything."""
    paused, cut = past.stopped(controller), past.cut(controller, ZOOKEEPER)
    if paused is not None:
        return Circumstance(f"controller {controller} has been paused since {when(paused.t_us)}", (paused,))
    if past.moment.zookeeper_stopped:
        stop = past.last(Fault, lambda fault: fault.action == "zookeeper.stop")
        return Circumstance(f"ZooKeeper has been stopped since {when(stop.t_us)}, so no step is taken", (stop,))
    if cut is not None:
        since = when(cut.t_us)
        return Circumstance(
            f"the network between controller {controller} and ZooKeeper has been cut since {since}", (cut,)
        )
    return None


def _awaited(past: PartitionPast, waiting: OpenMove) -> Awaited | None:
    """The condition that the controller's current step waits for; None where the partition is gone, too."""
    if past.state is None:
        return None
    protocol = past.protocol(waiting.step)
    return protocol.awaits_at(waiting.step, waiting.edge, past.state.replicas, waiting.target, past.state.leader)


def _until_alive(past: PartitionPast, awaited: Awaited) -> Circumstance:
    writes = {broker: past.registration(broker) for broker in awaited.replicas}
    missing = [broker for broker, write in writes.items() if write is None or write.op == "delete"]
    if not missing:
        return Circumstance(f"brokers {ids(awaited.replicas)} are alive, and the controller has still to go on", ())
    clauses, events = [], list[Any]()
    for broker in missing:
        never = Circumstance("it has never registered in ZooKeeper", ())
        found = down(past, broker) or unregistered(past, broker) or never
        clauses.append(f"{_named([broker])}: {found.clause}")
        events += found.events
    return Circumstance(f"it waits until {_are(missing)} alive. {'. '.join(clauses)}", tuple(events))


def _until_in_sync(past: PartitionPast, awaited: Awaited, waiting: OpenMove) -> Circumstance:
    assert past.state is not None
    isr = ids(past.state.isr)
    missing = [broker for broker in awaited.replicas if broker not in past.state.isr]
    whole = awaited.replicas == waiting.target
    if not missing:
        which = "target replicas" if whole else f"of {ids(awaited.replicas)}"
        return Circumstance(f"all {which} are in the ISR {isr}, and the controller has still to go on", ())
    events: list[Any] = []
    clauses: dict[str, list[int]] = {}
    for broker in missing:
        obstacle = what_keeps_it_out(past, broker)
        left = how_it_left(past, broker) if any(broker in stated.isr for stated in past.stated) else None
        clause = obstacle.clause if left is None else f"{left.clause}; {obstacle.clause}"
        clauses.setdefault(clause, []).append(broker)
        events += [*(left.events if left is not None else ()), *obstacle.events]
    reasons = ". ".join(f"{_named(brokers)}: {clause}" for clause, brokers in clauses.items())
    of = "" if whole else f", of the present replicas {ids(awaited.replicas)},"
    return Circumstance(
        f"it waits until {_are(missing, of)} in the ISR {isr}. {reasons}", tuple(events), tuple(missing)
    )


def _are(brokers: list[int], of: str = "") -> str:
    return f"broker {brokers[0]}{of} is" if len(brokers) == 1 else f"brokers {ids(brokers)}{of} are"


def _named(brokers: list[int]) -> str:
    return f"Broker{'s' * (len(brokers) > 1)} {', '.join(map(str, brokers))}"
