"""The page of one run: what happened in words, the ISRs over time, the state at a moment, the chain of each failure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from scenarios.observe.measures.harms import HARMS
from scenarios.runs.headlines import THROTTLE
from scenarios.studies.report.html_page import Page, Section, choice, command, figure, note, table, tile, tiles
from scenarios.studies.report.markup import Html, Node, element, joined
from scenarios.studies.report.run.model import model
from scenarios.studies.report.run.recorded import RecordedRun
from scenarios.studies.report.written_numbers import number

DRAWN = (
    "run", "brokers", "cuts", "controllers", "shades", "partitions", "throughput", "throttles", "lags", "produced",
    "events",
)  # fmt: skip
"""The parts of the model that the script needs; the rest is in the page as text."""
MOST_RECOVERIES = 3
"""The most recoveries on the first screen; the table has all."""
MOST_OPEN = 1
"""Failures whose chain is shown without a click."""


def run_page(run: RecordedRun, *, again: str, version: str, likely: Mapping[str, Any] | None = None) -> Page:
    """The page about a run. ``again``: the command line that makes it; ``likely``: when its finding became likely, if
    that was computed."""
    found = model(run)
    sections = [
        Section(id="happened", title="What happened", body=_happened(found)),
        Section(id="load", title="Load and lag", body=_series()),
        Section(id="state", title="State at a moment", body=_state()),
        Section(id="failures", title="What led to it", body=_failures(found["failures"])),
        Section(id="recovery", title="Faults and recovery", body=_recoveries(found)),
        Section(id="expectations", title="Expectations", body=_expectations(found["said"])),
    ]
    if likely is not None:
        from scenarios.studies.report.run.likely_curve import likely_section  # few runs have one

        sections.insert(4, likely_section(likely))
    if found["left_out"]:
        sections.append(Section(id="left-out", title="Left out", body=_left_out(found["left_out"])))
    return Page(
        title=found["run"]["title"],
        about=_about(found["run"]),
        lead=joined(_verdict(found), _tiles(found, run.figures), _gantt(found)),
        bar=_bar(),
        sections=sections,
        script="run",
        style="run",
        data={name: found[name] for name in DRAWN},
        command=again,
        version=version,
    )


def _about(head: Mapping[str, Any]) -> str:
    file = f"{head['file']}: " if head["file"] else ""
    return f"{file}strategy {head['strategy']}, profile {head['profile']}, seed {head['seed']}"


# -- the first screen ------------------------------------------------------------------------------------------------


def _tiles(found: Mapping[str, Any], metrics: Mapping[str, Any]) -> Html:
    head = found["run"]
    passed = head["verdict"] == "passed"
    lost, unacked = metrics["lost_acks_all_records"], metrics["failed_batches"]
    harmed_s, moves = metrics["under_replicated_any_s"], metrics["moves"]
    failed = sum(1 + one["alike"] for one in found["failures"] if one["kind"] in ("violation", "failed partition"))
    return tiles(
        tile("Verdict", head["verdict"], head["reason"], "good" if passed else "bad"),
        tile("Acknowledged records lost", number(lost) if lost else "none", "acks=all", "bad" if lost else "good"),
        tile("Under-replicated", number(harmed_s, "s"), "any partition, by KIP-352's rule", "bad" if harmed_s else ""),
        tile("Batches given up", number(unacked) if unacked else "none", "by producers", "bad" if unacked else ""),
        tile(
            "Moves finished",
            f"{metrics['moves_finished']} of {moves}" if moves else "no moves",
            "" if metrics["time_to_complete_s"] is None else f"in {number(metrics['time_to_complete_s'], 's')}",
            "bad" if moves != metrics["moves_finished"] else "",
        ),
        tile("Violations, failed partitions", number(failed) if failed else "none", "", "bad" if failed else ""),
    )


def _verdict(found: Mapping[str, Any]) -> Html:
    head, said = found["run"], found["said"]
    lasted = f"{_s(head['virtual_us'])} of virtual time, {head['events']:,} events."
    if head["verdict"] == "passed":
        held = "everything that was expected came true" if said["expectations"] else "no invariant was broken"
        return element("p", element("b", "Passed", class_="good"), f": {held}. {lasted}")
    first, *more = said["explanation"] or [""]
    why = " ".join([first.removeprefix("FAILED: "), *takewhile(lambda line: line.startswith("  "), more)])
    throttles = (f"Throttle: {text}" for label, text, _ in said["headlines"] if label == THROTTLE)
    return joined(
        element("p", element("b", "Failed", class_="bad"), f" ({head['reason']}): {why}"),
        *(element("p", text) for text in throttles),
        element("p", lasted, class_="quiet"),
    )


def _happened(found: Mapping[str, Any]) -> Html:
    said = found["said"]
    return joined(
        element("div", element("ul", *_headlines(said), *_over(found)), class_="answer"),
        joined(element("p", "The same run again:", class_="quiet"), command(said["replay"]))
        if said["replay"]
        else None,
    )


def _headlines(said: Mapping[str, Any]) -> Iterator[Html]:
    for label, text, bad in said["headlines"]:
        yield element("li", element("b", f"{label[0].upper()}{label[1:]}"), ": ", *_marked(text, bad))
    for text, checkers in said["known"]:
        yield element("li", element("b", "Known of this release"), f": {text} ({checkers})")


def _marked(text: str, bad: Sequence[str]) -> Iterator[Node]:
    """The text with its bad parts in red."""
    for part in bad:
        before, _, text = text.partition(part)
        yield before
        yield element("b", part, class_="bad")
    yield text


def _over(found: Mapping[str, Any]) -> Iterator[Html]:
    """Recovery after the first faults that harmed a partition."""
    texts = {shade["seq"]: shade["text"] for shade in found["shades"]}
    harmful = [one for one in found["recoveries"] if one["harms"]]
    for one in harmful[:MOST_RECOVERIES]:
        yield element(
            "li",
            element("b", "After ", texts[one["seq"]]),
            ": ",
            _recovered(one),
            " ",
            _at(one["t_us"]),
        )
    if len(harmful) > MOST_RECOVERIES:
        more = element("a", f"{len(harmful) - MOST_RECOVERIES} more faults did harm", href="#recovery")
        yield element("li", more)


def _recovered(one: Mapping[str, Any]) -> str:
    """The harm that followed a fault: each kind of it with its own partitions and times."""
    followed = one["harms"]
    if not followed:
        return "no partition was without a leader, below min.insync.replicas or under-replicated"
    told = "; ".join(map(_harm, followed))
    if any(harm["left"] for harm in followed):
        return told
    over_us = max(harm["until_us"] for harm in followed)
    return f"{told}; all well {_s(over_us - one['t_us'])} after the fault"


def _harm(harm: Mapping[str, Any]) -> str:
    count, left = harm["partitions"], harm["left"]
    which = "a partition was" if count == 1 else f"{count:,} partitions were"
    begun = f"{which} {HARMS[harm['kind']]} from {'before the fault' if harm['earlier'] else _s(harm['begun_us'])}"
    if left:
        still = "and still" if left == count else f"{left:,} of them still"
        return f"{begun} on, {still} at the end of the run"
    span_us = harm["until_us"] - harm["begun_us"]
    between = f" (with pauses, {_s(harm['held_us'])} in all)" if harm["held_us"] < span_us else ""
    return f"{begun} to {_s(harm['until_us'])}{between}"


# -- sections --------------------------------------------------------------------------------------------------------


def _gantt(found: Mapping[str, Any]) -> Html:
    partitions = len(found["partitions"])
    filter_box = element(
        "label", element("span", "Partitions"),
        element("input", type="search", id="filter", placeholder="such as orders-0", autocomplete="off"),
        class_="choice",
    )  # fmt: skip
    some = [(str(count), f"the {count} with most events") for count in (4, 12, 40) if count < partitions]
    controls = joined(
        filter_box,
        choice(
            "rows", "Show", [*some, ("999", "all" if partitions > 1 else "the only one")], some[0][0] if some else "999"
        ),
        choice("window", "Time", _windows(found["run"]["virtual_us"]), "0"),
    )
    return joined(
        figure(
            "gantt",
            "Replicas by partition and broker",
            "A row for each broker that has, or had, a replica of the partition. Above them the partition's moves with "
            "the steps of their protocol, and its failures. Shaded: faults, from their start until they are undone. "
            "Dashed: another controller. Roles are those in ZooKeeper: a leader whose broker died is shown as down. "
            "Click to look at a moment.",
            controls=controls,
            wide=True,
        ),
        element("p", id="matched", class_="quiet", aria_live="polite"),
    )


def _series() -> Html:
    return joined(
        figure(
            "throughput", "Throughput",
            "Bytes that brokers took in from producers and, as followers, from leaders, summed over the brokers. "
            "Dashed: the highest replication throttle of any one broker (KIP-73).", wide=True,
        ),
        figure(
            "lag", "Lag of followers",
            "Records between the ends of the leader's log and the follower's, the highest in each interval.", wide=True,
        ),
        figure(
            "latency", "Produce latency",
            "Of batches that were acknowledged, by the time of the answer. Crosses: batches that were given up.",
            wide=True,
        ),
    )  # fmt: skip


def _windows(end_us: int) -> Iterator[tuple[str, str]]:
    """Spans of time to look at: value in us, and words."""
    yield "0", "the whole run"
    for width_us, words in (
        (60_000_000, "a minute"), (10_000_000, "10 s"), (1_000_000, "1 s"), (100_000, "100 ms"), (10_000, "10 ms"),
    ):  # fmt: skip
        if width_us < end_us:
            yield str(width_us), f"{words} around the moment"


def _bar() -> Html:
    """The slider that chooses the moment, in sight on the whole page but for what is above it."""
    return element(
        "div",
        element("button", "\u2039", type="button", class_="button", id="back", aria_label="The event before"),
        element(
            "input", type="range", id="moment", min=0, step=1, aria_label="Moment of the run",
            aria_describedby="moment-keys",
        ),
        element("button", "\u203a", type="button", class_="button", id="forth", aria_label="The next event"),
        element("output", id="now", for_="moment"),
        class_="moment", role="group", aria_label="Moment",
    )  # fmt: skip


def _state() -> Html:
    """Frames that the script fills."""
    return joined(
        element(
            "p", "The slider below the navigation chooses the moment: arrow keys go from event to event, Page Up and "
            "Page Down ten events, Home and End to the ends.", id="moment-keys", class_="quiet",
        ),
        element("div", id="facts", class_="facts"),
        element("h3", "Brokers"),
        _frame("at-brokers", "Brokers at the moment"),
        element("h3", "Moves in flight"),
        _frame("at-moves", "Moves in flight at the moment"),
        element("h3", "Partitions"),
        _frame("at-partitions", "Partitions at the moment"),
        element("h3", "Events around it"),
        element("ol", id="around", class_="events"),
    )  # fmt: skip


def _frame(id: str, label: str) -> Html:
    return element("div", id=id, class_="scroll", tabindex="0", role="region", aria_label=label)


def _failures(found: Sequence[Mapping[str, Any]]) -> Html:
    if not found:
        return element(
            "p", "No invariant was broken, no acknowledged record was lost, no partition failed, no leader or "
            "controller had to be replaced, and no batch was given up.",
        )  # fmt: skip
    intro = element(
        "p", "Each failure with the events that led to it, oldest first; an event is indented below its cause. A time "
        "moves the slider there.", class_="quiet",
    )  # fmt: skip
    return joined(intro, *(_failure(one, place < MOST_OPEN) for place, one in enumerate(found)))


def _failure(one: Mapping[str, Any], is_open: bool) -> Html:
    tone = "bad" if one["kind"] in ("violation", "lost records") else "warn"
    alike = f" and {one['alike']:,} like it" if one["alike"] else ""
    others = joined(
        element(
            "p",
            f"Like it: {one['alike']:,} more",
            "" if one["alike"] == len(one["others"]) else ", the first of them",
            ":",
        ),
        element("ol", *(_event(link) for link in one["others"]), class_="events"),
    )
    return element(
        "details",
        element("summary", element("b", one["kind"], class_=tone), f" at {_s(one['t_us'])}{alike}: {one['text']}"),
        element("p", element("b", f"{one['question'][0].upper()}{one['question'][1:]}?"), " ", one["sentence"])
        if one["question"]
        else None,
        element("ol", *(_event(link) for link in one["links"]), class_="events"),
        others if one["others"] else None,
        class_="failure",
        open=is_open,
    )


def _event(link: Mapping[str, Any]) -> Html:
    return element("li", _at(link["t_us"], link["seq"]), " ", link["text"], style=f"--depth:{link['depth']}")


def _recoveries(found: Mapping[str, Any]) -> Html:
    over = {one["seq"]: one for one in found["recoveries"]}
    rows: list[list[Node]] = []
    for shade in found["shades"]:
        lasted = (
            _s(shade["end_us"] - shade["t_us"])
            if shade["end_us"] is not None
            else "to the end"
            if shade["lasts"]
            else ""
        )
        text = _recovered(over[shade["seq"]]) if shade["seq"] in over else ""
        rows.append([_at(shade["t_us"], shade["seq"]), shade["text"], lasted, text])
    if not rows:
        return element("p", "The scenario did nothing to the cluster.")
    return joined(
        table(["At", "Action of the scenario", "Lasted", "What followed"], rows, caption="Actions, in their order"),
        note(
            "Harm is read from ZooKeeper: a partition without a leader, with fewer in sync than min.insync.replicas, "
            "or with fewer in sync than replicas that are not being added (KIP-352). What begins before the next fault "
            "counts for both."
        ),
    )


def _expectations(said: Mapping[str, Any]) -> Html:
    rows: list[list[Node]] = [
        [
            element("b", "held" if ok else "failed", class_="good" if ok else "bad"),
            text,
            detail,
            _at(t_us) if t_us is not None else "",
        ]
        for ok, text, detail, t_us in said["expectations"]
    ]
    nothing = "The file has no [[expect]] and no [[steady_state]]; what must always hold was checked."
    drawn = [[place, text] for place, text in said["drawn"]]
    return joined(
        table(["", "Expected", "Found", "At"], rows, caption="What the scenario expects")
        if rows
        else element("p", nothing),
        table(["Entry", "Value"], drawn, caption="What the seed has drawn") if drawn else None,
        element(
            "details",
            element("summary", "The explanation that understudy run printed"),
            element("pre", "\n".join(said["explanation"]), tabindex="0", role="region", aria_label="Explanation"),
        )
        if said["explanation"]
        else None,
    )


def _left_out(found: Iterable[str]) -> Html:
    return joined(
        element("p", "The run is long; the page leaves out:"),
        element("ul", *(element("li", text) for text in found)),
    )


def _at(t_us: int, seq: int | None = None) -> Html:
    """A time that moves the slider there."""
    return element(
        "button", f"{t_us / 1e6:.6f} s", type="button", class_="at", data_t=t_us, data_seq=seq,
        title="Look at this moment",
    )  # fmt: skip


def _s(t_us: int) -> str:
    return f"{t_us / 1e6:,.3f}".rstrip("0").rstrip(".") + " s"
