"""Counterexamples of TLC in the emulator: each is written as a scenario file and run. Does what TLC found come about?

``python -m benchmarks.specification --agree`` tries all that TLC finds; ``--only NAME`` some.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from benchmarks.specification.behaviours import znodes_of
from benchmarks.specification.configurations import Configuration
from benchmarks.specification.scenario_file import moments, scenario
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkWritten
from scenarios.language import Scenario
from scenarios.runs.runner import Stage, prepare

HEADS = ("Configuration", "Finds", "In the emulator")
TP = TopicPartition.of("orders", 0)
CHECKERS = {
    "LeaderCompleteness": ("no_acked_record_lost", "leader_completeness"),
    "IsrCompleteness": ("isr_complete",),
    "OneWriter": ("controller_fence",),
}
"""The checkers that see what breaks a property."""


class Left(NamedTuple):
    """The state of one partition at the end of a run.

    Attributes:
        disks: the brokers whose log directory has it. ``listed``: those of its list.
        leader, isr: of its state znode.
        moving: whether a move is asked for or goes on.
    """

    disks: frozenset[int]
    listed: frozenset[int]
    leader: int
    isr: frozenset[int]
    moving: bool


AT_END: dict[str, Callable[[Left, frozenset[int]], bool]] = {
    "NoneLostOrStray": lambda left, _: left.disks != left.listed,
    "NoneLost": lambda left, _: not left.listed <= left.disks,
    "LeaderAndIsrAssigned": lambda left, _: not left.isr | {left.leader} <= left.listed,
    "MoveNotLost": lambda left, after: not left.moving and left.listed != after,
}
"""Whether what is left at the end of a run, and the target of the move, break a property."""


def agreement(configuration: Configuration, output: str) -> str:
    """Whether the emulator does what TLC printed, in words."""
    finds = configuration.finds or ""
    if finds not in (*CHECKERS, *AT_END, "OarRecoverable"):
        return f"not looked for: no checker of the emulator has {finds}"
    try:
        text = scenario(configuration, moments(output))
    except LookupError as cannot:
        return f"not written: {cannot.args[0]}"
    stage = Stage(prepare(Scenario.loads(text, source=f"{configuration.name}.toml")), against_specification=True)
    written: list[ZkWritten] = []
    stage.cluster.trace.fold(ZkWritten, written.append)
    stage.play()
    before, after = (frozenset(map(int, digits)) for digits in (configuration.before, configuration.after))
    if finds == "OarRecoverable":
        lists = dict.fromkeys(one.replicas for one in znodes_of(written, TP))
        lost = [one for one in lists if not before <= {*one} and {*one} != after]
        return f"the same: {list(lost[0])} is written" if lost else "not so"
    broken = [one.invariant for one in stage.checkers.violations]
    if finds in CHECKERS:
        seen = [one for one in CHECKERS[finds] if one in broken]
        return f"the same: `{seen[0]}`" if seen else "not so"
    left = left_by(stage)
    words = f"replicas on {_several(left.disks)}, list {_several(left.listed)}, leader {left.leader}"
    return f"{'the same' if AT_END[finds](left, after) else 'not so'}: {words}"


def left_by(stage: Stage) -> Left:
    """The state of the partition at the end of a run, which is held against the specification."""
    zk, oracle = stage.checkers.history.cluster, stage.oracle
    assert oracle is not None
    state = zk.state(TP)
    return Left(
        frozenset(oracle.with_replica(TP)),
        frozenset(zk.assignment(TP)),
        -1 if state is None else state.leader,
        frozenset(() if state is None else state.isr),
        TP in zk.requested_moves() or bool(zk.adding(TP) or zk.removing(TP)),
    )


def _several(brokers: frozenset[int]) -> str:
    return ", ".join(map(str, sorted(brokers))) or "none"
