"""The end of a run as plain values, which are judged and can travel between processes."""

from __future__ import annotations

from attrs import field, frozen

from scenarios.observe.checkers import REGISTRY, Violation
from scenarios.observe.history.replica_logs import BASE_OFFSET, ReplicaLogs
from scenarios.runs.runner import Stage
from scenarios.studies.atlas.move_recorder import Brokers, GateVisit, MoveRecorder

SAFETY = ("S", "E")
"""Sections of the invariants whose violation makes a run unsafe (readings §6)."""


@frozen(kw_only=True)
class RunSummary:
    """The end of a run. See ``MoveRecorder`` for what is named alike; times in virtual microseconds.

    Attributes:
        assignment, leader, isr: the values in ZooKeeper.
        replicas: the brokers that have the partition's log on disk.
        fetching: the position of each broker's fetcher, (leader, offset), for brokers that fetch the partition.
        failed: the reason for which each broker's fetcher has marked the partition as failed (KIP-461).
        open: whether the move had not ended.
        broken: the invariant of safety that was broken first; empty where none was.
        violations, other_violations: the violations of safety, and of other invariants, in words.
        lost_all, lost_one: batches acknowledged with acks=all, and with acks=1, that were lost.
        divergence: how two logs of the ISR differ in what is committed, empty where they agree.
        behind: the members of the ISR that lag behind the leader, long after the last write.
        not_done: the actions that could not be done; empty where all were.
    """

    visits: tuple[GateVisit, ...] = ()
    passed: dict[str, int] = field(factory=dict)
    waiting: str = ""
    open: bool = False
    assignment: Brokers = ()
    leader: int = -1
    isr: Brokers = ()
    replicas: Brokers = ()
    fetching: dict[int, tuple[int, int]] = field(factory=dict)
    failed: dict[int, str] = field(factory=dict)
    healed_us: int = 0
    end_us: int = 0
    leader_outside_us: int = 0
    isr_outside_us: int = 0
    offline_us: int = 0
    under_min_isr_us: int = 0
    lost_all: int = 0
    lost_one: int = 0
    broken: str = ""
    violations: tuple[str, ...] = ()
    other_violations: tuple[str, ...] = ()
    divergence: str = ""
    behind: str = ""
    not_done: str = ""

    def lacking(self, target: Brokers) -> str:
        """The brokers of ``target`` that are not in the ISR, with the state of their fetchers; empty where all are."""
        absent = [broker for broker in target if broker not in self.isr]
        if not absent:
            return ""
        words = ", ".join(f"{broker} ({self._fetcher(broker)})" for broker in absent)
        return f"ISR [{','.join(map(str, self.isr))}] lacks {words}"

    def _fetcher(self, broker: int) -> str:
        if broker in self.failed:
            return f"its fetcher gave the partition up: {self.failed[broker]}"
        if broker not in self.replicas:
            return "it has no replica"
        leader, offset = self.fetching.get(broker, (-1, -1))
        if offset < 0:
            return "it fetches from nobody"
        return f"it fetches from {leader}" + (", which is not the leader" if leader != self.leader else "")


def summarize(stage: Stage, recorder: MoveRecorder) -> RunSummary:
    """Finish the recording of a run that has ended."""
    end_us = stage.world.now
    violations = stage.checkers.finish()
    unsafe = [violation for violation in violations if _is_safety(violation)]
    figures = stage.measures.finish(end_us)
    recorder.close(end_us)
    logs, cluster, tp = stage.checkers.history.logs, recorder.cluster, recorder.tp
    return RunSummary(
        visits=tuple(recorder.visits),
        passed=recorder.passed,
        waiting=recorder.waiting,
        open=figures.unfinished_moves > 0,
        assignment=cluster.assignment(tp),
        leader=recorder.leader,
        isr=recorder.isr,
        replicas=tuple(broker for broker, of in logs.all_replicas() if of == tp),
        fetching={broker: (of[tp].leader, of[tp].offset) for broker, of in cluster.fetching.items() if tp in of},
        failed={broker: of[tp].reason for broker, of in cluster.failed.items() if tp in of},
        healed_us=recorder.healed_us,
        end_us=end_us,
        leader_outside_us=recorder.leader_outside_us,
        isr_outside_us=recorder.isr_outside_us,
        offline_us=figures.whole("offline_us"),
        under_min_isr_us=figures.whole("under_min_isr_us"),
        lost_all=figures.whole("lost_acks_all_batches"),
        lost_one=figures.whole("lost_acks_1_batches"),
        broken=unsafe[0].invariant if unsafe else "",
        violations=tuple(map(_text, unsafe)),
        other_violations=tuple(_text(violation) for violation in violations if not _is_safety(violation)),
        divergence=_divergence(logs, recorder),
        behind=_behind(logs, recorder),
        not_done="; ".join((*map(str, stage.performer.refused), *stage.method.not_exercised())),
    )


def _is_safety(violation: Violation) -> bool:
    return REGISTRY[violation.invariant].section in SAFETY


def _text(violation: Violation) -> str:
    return f"{violation.invariant}: {violation.state}"


def _divergence(logs: ReplicaLogs, recorder: MoveRecorder) -> str:
    """The first difference between the log of an ISR member and the leader's below both high watermarks; empty if there
    is none."""
    leader = logs.get(recorder.leader, recorder.tp)
    if leader is None or not leader.known:
        return ""
    for broker in recorder.isr:
        log = logs.get(broker, recorder.tp)
        if log is None or not log.known:
            continue
        both = zip(log.entries, leader.entries, strict=False)
        offset = next((theirs[BASE_OFFSET] for theirs, ours in both if theirs is not ours), None)
        committed = min(log.high_watermark or 0, leader.high_watermark or 0)
        if offset is not None and offset < committed:
            return f"committed records differ on {broker} and its leader {recorder.leader}, from offset {offset} on"
    return ""


def _behind(logs: ReplicaLogs, recorder: MoveRecorder) -> str:
    """The members of the ISR whose log is shorter than the leader's."""
    leader = logs.get(recorder.leader, recorder.tp)
    if leader is None:
        return ""
    ends = {broker: 0 if (log := logs.get(broker, recorder.tp)) is None else log.end_offset for broker in recorder.isr}
    behind = [f"{broker} (at {end})" for broker, end in ends.items() if end < leader.end_offset]
    if not behind:
        return ""
    return f"the ISR's {', '.join(behind)} does not follow leader {recorder.leader} (at {leader.end_offset})"
