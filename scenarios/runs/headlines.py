"""The first lines of a report: the questions that an engineer asks of any run, answered whatever was expected of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from emulator.protocol.events import AckedLost, Fault, MoveStarted
from scenarios.runs.dataset.identity import command_line
from scenarios.runs.run import UNFLUSHED_TICKET
from scenarios.units import counted, number

if TYPE_CHECKING:
    from scenarios.observe.measures.figure import Value
    from scenarios.runs import Run

MOST_FAULTS = 3
"""Faults at which the steps of moves are shown."""


THROTTLE = "throttle"
"""The label of what names the cause of a move that stands still."""


class Headline(NamedTuple):
    """An answer. Several in a row can have the same label.

    Attributes:
        bad: the parts of the text that report harm: what a report shows in red.
    """

    label: str
    text: str
    bad: tuple[str, ...] = ()


def headlines(run: Run, trace: str | None = None) -> Iterator[Headline]:
    """Was acknowledged data lost? How long was the cluster under-replicated? Did the moves end, and in which step was a
    move when a fault came?

    Args:
        trace: the folder with the run's tables, for the commands that show more; None: it was not written.
    """
    yield lost(run)
    for label, texts in (
        ("unfinished batches", unfinished(run)),
        ("under-replicated", under_replicated(run)),
        ("without a leader", leaderless(run)),
        ("converged", (converged(run),)),
        ("moves", moves(run)),
        (THROTTLE, throttled(run)),
        ("move at a fault", at_faults(run, trace)),
    ):
        yield from (Headline(label, text) for text in texts)


def lost(run: Run) -> Headline:
    """The acknowledged records that were lost, with acks=all and acks=1 apart, and where the loss began."""
    used = dict.fromkeys(workload.acks for workload in run.scenario.workloads)
    parts, bad = [], []
    for acks, why in (("all", _how(run)), ("1", "Kafka does not promise to keep them")):
        batches, records = (run.metrics[f"lost_acks_{acks}_{what}"] for what in ("batches", "records"))
        assert isinstance(batches, int)
        assert isinstance(records, int)
        if records:
            found = f"{counted(records, 'records')} in {counted(batches, 'batches')}"
            bad.append(f"acks={acks}: {found}")
            parts.append(f"{bad[-1]} ({_first_lost(run, acks)}{why})")
        elif acks in used:
            parts.append(f"acks={acks}: none")
    if run.leaderless:
        bad.append(f"not to be read, without a leader at the end: {counted(run.leaderless, 'partitions')}")
        parts.append(bad[-1])
    nothing = "none" if run.metrics["acked_batches"] else "none, since nothing was produced with acks=all or acks=1"
    text = "; ".join(parts) or nothing
    return Headline("acknowledged data lost", text, tuple(bad))


def unfinished(run: Run) -> Iterator[str]:
    """The batches that producers still waited for when the run ended; empty for none."""
    count, oldest_s = run.metrics["unfinished_batches"], run.metrics["unfinished_wait_s"]
    if count:
        yield f"{number(count)}, neither acknowledged nor given up; the oldest has waited for {number(oldest_s)} s"


def under_replicated(run: Run) -> Iterator[str]:
    """The time in which any partition lacked a replica that was not being added (KIP-352); then in more detail."""
    any_s, worst_s, total_s, by_moves_s = (
        number(run.metrics[f"under_replicated_{what}_s"]) for what in ("any", "worst", "final", "by_moves")
    )
    peak, until_s = run.metrics["under_replicated_peak"], run.metrics["under_replicated_until_s"]
    assert isinstance(peak, int)
    if peak:
        if total_s == worst_s:
            yield f"{any_s} s, {run.worst_partition} alone; {_until(run, until_s)}"
        else:
            most = f"at most {counted(peak, 'partitions')} at once"
            yield f"{any_s} s; {most}, longest {run.worst_partition}: {worst_s} s; {_until(run, until_s)}"
            yield f"{total_s} partition-seconds in all"
    else:
        yield "0 s"
    if run.metrics["under_replicated_by_moves_s"]:
        yield f"by Kafka's rule up to 2.4 the moves themselves add {by_moves_s} partition-seconds"


def leaderless(run: Run) -> Iterator[str]:
    """The time in which partitions had no leader in ZooKeeper; empty for none."""
    if run.metrics["offline_s"]:
        yield f"{number(run.metrics['offline_s'])} partition-seconds"


def converged(run: Run) -> str:
    """Whether the cluster got well after the last action, and how soon; else what is wrong with it at the end."""
    found = run.convergence
    if found.broken:
        more = f"; and {counted(len(found.broken) - 1, 'more conditions')}" if len(found.broken) > 1 else ""
        return f"no: {found.broken[0].found}{more}"
    if not found.since_us or found.after_s is None:
        return "yes"
    return f"yes, {number(found.after_s)} s after the last action"


def _until(run: Run, until_s: Value) -> str:
    over = until_s is not None and until_s < run.virtual_s
    return f"recovered at {number(until_s)} s" if over else "not recovered when the run ended"


def moves(run: Run) -> Iterator[str]:
    """How many moves are done, and how long they took together; how many of them went back to where they began; of the
    others, how many have ended, and how many no controller took up. Empty without any."""
    asked, done, took_s = (run.metrics[name] for name in ("moves", "moves_finished", "time_to_complete_s"))
    returned, failed, unbegun = (run.metrics[f"moves_{name}"] for name in ("returned", "failed", "never_begun"))
    assert isinstance(asked, int)
    if asked:
        took = f"in {number(took_s)} s" if took_s is not None else "when the run ended"
        notes = {
            "of these back on the replicas from before": returned,
            "ended without the target": failed,
            "begun by no controller": unbegun,
        }
        more = "".join(f"; {label}: {number(count)}" for label, count in notes.items() if count)
        yield f"{number(done)} of {asked:,} done {took}{more}"


def throttled(run: Run) -> Iterator[str]:
    """The exhausted quotas that held back replicas when the run ended; empty for none."""
    if run.quotas:
        from scenarios.observe.timeline.quota_words import summaries

        yield from summaries(run.quotas, round(run.virtual_s * 1_000_000))


def at_faults(run: Run, trace: str | None) -> Iterator[str]:
    """The step in which open moves were at each fault; actions that undo a fault, and the operator's, are left out."""
    undoing = dict.fromkeys(entry.action.undo.name for entry in run.scenario.entries if entry.action.undo)
    events = run.control_plane
    first = next((event.seq for event in events if type(event) is MoveStarted), None)
    faults = [
        event.seq
        for event in events
        if type(event) is Fault and event.action not in undoing and not event.action.startswith("reassign.")
    ]
    if first is None or not faults or faults[-1] < first:
        return
    from scenarios.observe.timeline.moment import Moments

    moments, left, shown = Moments(), dict.fromkeys(faults), 0
    for event in events:
        if event.seq in left and (open_moves := tuple(moments.moves())):
            if shown == MOST_FAULTS:
                shows = command_line("state", trace or "DIR", "--fault", "N")
                yield f"and at more faults: {shows}" + ("" if trace else ", after run --trace DIR")
                return
            shown += 1
            more = f" and {len(open_moves) - 1} more" if len(open_moves) > 1 else ""
            what = f"{event.action} {_target(event, moments.controller)}".rstrip()
            yield f"{event.t_us / 1e6:.3f} s, {what}: {open_moves[0].partition} {open_moves[0].place}{more}"
        if event.seq >= faults[-1]:
            return
        moments.see(event)


def _target(fault: Fault, controller: int) -> str:
    return f"{fault.target} (the controller)" if controller in fault.brokers else fault.target


def _first_lost(run: Run, acks: str) -> str:
    """The place in the timeline; empty in a run so long that the event is not kept."""
    number = -1 if acks == "all" else int(acks)
    found = (event for event in run.control_plane if type(event) is AckedLost and event.acks == number)
    first = next(found, None)
    return f"first {first.topic}-{first.partition} at {first.t_us / 1e6:.3f} s; " if first else ""


def _how(run: Run) -> str:
    """The causes by which records were lost that were acknowledged with acks=all."""
    reasons = []
    if run.metrics["lost_unflushed_records"]:
        records = run.metrics["lost_unflushed_records"]
        assert isinstance(records, int)
        some = "" if records == run.metrics["lost_acks_all_records"] else f"{counted(records, 'records')} "
        reasons.append(
            f"{some}with the machines of all in-sync replicas, which had not flushed them: {UNFLUSHED_TICKET}"
        )
    if any(violation.invariant == "no_acked_record_lost" for violation in run.violations):
        reasons.append("Kafka keeps them while one in-sync replica keeps its log")
    elif run.metrics["lost_acks_all_records"] != run.metrics["lost_unflushed_records"]:
        reasons.append("by an unclean election")
    return "; ".join(reasons)
