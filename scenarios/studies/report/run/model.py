"""All that the page of a run shows, as one object of plain values, bounded in size; what was left out is said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import asdict

from emulator.protocol.events import ControllerElected, Fault
from emulator.protocol.types import TopicPartition
from scenarios.runs.account import DRAWN, EXPECTATION, EXPLANATION, HEADLINE, KNOWN, REPLAY
from scenarios.studies.report.run import drawn_series, log_ends, move_spans, role_spans
from scenarios.studies.report.run.failure_chains import failures
from scenarios.studies.report.run.faults import recoveries, shades
from scenarios.studies.report.run.happened import happened
from scenarios.studies.report.run.recorded import RecordedRun

MOST_PARTITIONS = 120
MOST_STEPS = 3_000
MOST_STATES = 20_000
"""Rows of ``isr_events`` of the partitions that are shown."""
_STATE = ("t_us", "w_us", "leader", "leader_epoch", "isr", "assignment", "original", "target", "min_isr")


def model(run: RecordedRun) -> dict[str, Any]:
    """Values that JSON can hold. Times are microseconds of virtual time."""
    tables, end_us = run.tables, run.end_us
    told, untold = happened(run.events)
    actions = [event for event in run.events if type(event) is Fault]
    found = shades(actions)
    faults = [action for action, shade in zip(actions, found, strict=True) if shade.kind != "undo"]
    explained, unexplained = failures(run.events, faults)
    partitions, hidden = _busiest(tables)
    brokers = role_spans.of_brokers(run.events, end_us)
    steps = move_spans.steps(tables["steps"])
    passed = sum(map(len, steps.values()))
    return {
        "run": _head(run),
        "said": _said(tables["account"]),
        "brokers": {str(broker): spans for broker, spans in brokers.items()},
        "cuts": {str(broker): spans for broker, spans in role_spans.of_cuts(run.events, end_us).items()},
        "controllers": [
            (event.t_us, event.node, event.controller_epoch) for event in run.events if type(event) is ControllerElected
        ],
        "shades": [asdict(shade) for shade in found],
        "recoveries": [asdict(one) for one in recoveries(found, tables["isr_events"], end_us)],
        "partitions": _partitions(run, partitions, list(brokers), steps if passed <= MOST_STEPS else {}),
        "throughput": drawn_series.throughput(run.metrics, end_us),
        "throttles": drawn_series.throttles(run.events, end_us),
        "lags": drawn_series.lags(run.lags, end_us),
        "produced": drawn_series.produced(tables["produce"], end_us),
        "events": [asdict(one) for one in told],
        "failures": [asdict(one) for one in explained],
        "left_out": _left_out(run, hidden, untold, unexplained, passed),
    }


def _head(run: RecordedRun) -> dict[str, Any]:
    names = ("run_id", "seed", "profile", "verdict", "reason", "virtual_us", "events", "version", "digest")
    return {"title": run.title, "file": run.file, "strategy": run.strategy, **{name: run.row[name] for name in names}}


def _said(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The report that ``understudy run`` printed, by its parts."""

    def of(part: str) -> list[Mapping[str, Any]]:
        return [row for row in rows if row["part"] == part]

    return {
        "headlines": [(row["label"], row["text"], row["bad"]) for row in of(HEADLINE)],
        "expectations": [(row["ok"], row["text"], row["found"], row["t_us"]) for row in of(EXPECTATION)],
        "known": [(row["text"], row["label"]) for row in of(KNOWN)],
        "drawn": [(row["label"], row["text"]) for row in of(DRAWN)],
        "explanation": [row["text"] for row in of(EXPLANATION)],
        "replay": next((row["text"] for row in of(REPLAY)), ""),
    }


def _busiest(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[dict[TopicPartition, int], int]:
    """The partitions that are shown, those in which most happened first, each with how much; and how many are not."""
    counts: Counter[TopicPartition] = Counter()
    for name, weight in (("isr_events", 1), ("elections", 1), ("fetchers", 3), ("moves", 10), ("losses", 1_000)):
        for row in tables[name]:
            if row["topic"] is not None and row.get("kind") not in ("started", "stopped"):
                counts[TopicPartition.of(row["topic"], row["partition"])] += weight
    ordered = sorted(counts, key=lambda tp: (-counts[tp], tp))
    rows = Counter(TopicPartition.of(row["topic"], row["partition"]) for row in tables["isr_events"])
    shown: dict[TopicPartition, int] = {}
    states = 0
    for tp in ordered[:MOST_PARTITIONS]:
        states += rows[tp]
        if states > MOST_STATES and shown:
            break
        shown[tp] = counts[tp]
    return shown, len(ordered) - len(shown)


def _partitions(
    run: RecordedRun,
    shown: Mapping[TopicPartition, int],
    brokers: Sequence[int],
    steps: Mapping[TopicPartition, Sequence[move_spans.Passed]],
) -> list[dict[str, Any]]:
    held = role_spans.of_partitions(run.events, list(shown), brokers, run.end_us)
    ends = log_ends.ends(run.logs, [str(tp) for tp in shown], run.end_us)
    states: dict[str, list[Any]] = {str(tp): [] for tp in shown}
    for row in sorted(run.tables["isr_events"], key=lambda row: (row["t_us"], row["seq"])):
        name = f"{row['topic']}-{row['partition']}"
        if name in states:
            states[name].append([row[column] for column in _STATE])
    moved: dict[str, list[Any]] = {}
    for row in run.tables["moves"]:
        name = f"{row['topic']}-{row['partition']}"
        moved.setdefault(name, []).append(
            (row["t_us"], row["t_us"] + row["w_us"], row["original"], row["target"], row["finished"])
        )
    return [
        {
            "name": str(tp),
            "happened": count,
            "rows": {str(broker): spans for broker, spans in held[tp].items()},
            "states": states[str(tp)],
            "moves": moved.get(str(tp), []),
            "steps": [asdict(one) for one in steps.get(tp, ())],
            "logs": {str(broker): ends for broker, ends in ends.get(str(tp), {}).items()},
        }
        for tp, count in shown.items()
    ]


def _left_out(run: RecordedRun, hidden: int, untold: int, unexplained: int, passed: int) -> list[str]:
    """The parts of the run that the page leaves out, with the commands that show them."""
    found = []
    if hidden:
        found.append(f"{hidden:,} partitions in which less happened: understudy timeline TRACE PARTITION")
    if untold:
        found.append(f"{untold:,} events of less weight: understudy timeline TRACE")
    if unexplained:
        found.append(f"the chains of {unexplained:,} more failures: understudy why TRACE --partition P --at T")
    if passed > MOST_STEPS:
        found.append(f"the {passed:,} steps of the moves: the table steps of the trace")
    if not run.has_data:
        found.append("what replicas had still to copy, in the explanations: understudy state TRACE --at T")
    return found
