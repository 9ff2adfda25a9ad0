"""Why a run failed, on one screen: what was violated, when, what led to it, and how to repeat it."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

from attrs import frozen

from emulator.protocol.events import Fault
from emulator.trace import Event
from emulator.trace.events import Step
from scenarios.observe.timeline.words import seconds, words

COLUMNS = 110
LINES = 25
REASON_LINES = 7
FAULT_LINES = 4
CHAIN_LINES = 10
COMMAND_LINES = 4
"""All of them together with the headings are at most ``LINES``; faults get the lines that are left."""


@frozen
class CausalChain:
    """The causal chain of an event.

    Attributes:
        events: oldest first.
        whole: whether it begins at an event without a cause; else an older event is no longer known.
    """

    events: tuple[Event, ...]
    whole: bool


def chain(events: Mapping[int, Event], seq: int) -> CausalChain:
    """The chain that ends with event ``seq``. Causes are older than what they cause, or the chain ends there."""
    found: list[Event] = []
    before = seq + 1
    while 0 < seq < before:
        event = events.get(seq)
        if event is None:
            return CausalChain(tuple(reversed(found)), whole=False)
        found.append(event)
        before, seq = seq, event.cause
    return CausalChain(tuple(reversed(found)), whole=True)


def explain(
    reason: object,
    events: Mapping[int, Event] | Iterable[Event],
    seq: int,
    replay_command: str = "",
    *,
    seed: int | None = None,
    waits: Sequence[str] = (),
) -> str:
    """Why the run failed, in at most 25 lines of 110 columns.

    Args:
        reason: a ``Violation`` or any text: the violated statement, the expectation that was not met.
        events: the events of the run, as far as they are kept.
        seq: the event that showed it; 0 where none did (something expected did not happen).
        replay_command: one shell command that runs it again.
        seed: shown beside the time.
        waits: sentences about what the cluster waits for; shown in the place of the chain of ``seq``, which
            says nothing of what did not happen.
    """
    known = events if isinstance(events, Mapping) else {event.seq: event for event in events}
    found = chain(known, seq)
    before = [*_wrapped(f"FAILED: {reason}", REASON_LINES), *_place(known.get(seq), seed)]
    replay = ["replay it:", *_command(replay_command)] if replay_command else []
    after = [*(_waits(waits) if waits else _why(found)), *replay]
    done = _done(known, found, LINES - len(before) - len(after))
    return "\n".join([*before, *done, *after])


def _place(event: Event | None, seed: int | None) -> list[str]:
    parts = [] if event is None else [f"at {seconds(event.t_us)} s of virtual time (event {event.seq})"]
    parts += [] if seed is None else [f"seed {seed}"]
    return [", ".join(parts)] if parts else []


def _why(found: CausalChain) -> list[str]:
    events = without_passed(found.events)
    if not events:
        return []
    shown = events[-CHAIN_LINES:]
    hidden = len(events) - len(shown)
    if hidden or not found.whole:
        count = f"{hidden} more" if found.whole else f"{hidden} more, and what is no longer remembered"
        title = f"its causes, the last {len(shown)} of them (before: {count}):"
    else:
        title = "its causes, from the first:"
    return [title, *(_line(event) for event in shown)]


def _waits(sentences: Sequence[str]) -> list[str]:
    """Whole sentences, as many as there is room for."""
    lines: list[str] = []
    for number, sentence in enumerate(sentences):
        more = textwrap.wrap(sentence, COLUMNS, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
        if lines and len(lines) + len(more) > CHAIN_LINES:
            lines.append(f"  … {len(sentences) - number} more: understudy state and why on the trace of run --trace")
            break
        lines += more
    return ["what is waited for:", *lines]


def without_passed(events: Sequence[Event]) -> list[Event]:
    """The events without the ``before`` edges of steps whose ``after`` edges come next."""
    return [
        event
        for event, after in zip_longest(events, events[1:])
        if not (isinstance(event, Step) and isinstance(after, Step))
        or (event.step, event.edge, after.edge) != (after.step, "before", "after")
    ]


def _done(events: Mapping[int, Event], found: CausalChain, room: int) -> list[str]:
    """The newest faults before the event that the chain does not show, as many as there is room for.

    A fault can lead to what follows without a message that shows it: a session expires because a broker was killed.
    """
    if not found.events:
        return []
    in_chain = {event.seq: event for event in found.events}
    last = found.events[-1].seq
    faults = [event for event in events.values() if isinstance(event, Fault) and event.seq <= last]
    others = [event for event in faults if event.seq not in in_chain]
    shown = others[-min(FAULT_LINES, room - 1) :] if room > 1 else []
    return ["what the scenario had done:", *(_line(event) for event in shown)] if shown else []


def _line(event: Event) -> str:
    return cut(f"{seconds(event.t_us):>13} {event.seq:>8}  {words(event)}")


def cut(line: str) -> str:
    """The line, shortened to ``COLUMNS``."""
    return line if len(line) <= COLUMNS else line[: COLUMNS - 1] + "…"


def _wrapped(text: str, limit: int) -> list[str]:
    flat = " ".join(text.split())
    return textwrap.wrap(
        flat, COLUMNS, subsequent_indent="  ", max_lines=limit, placeholder=" …", break_on_hyphens=False
    )


def _command(command: str) -> list[str]:
    """The command, continued with backslashes where it is long, so that it can be pasted as shown.

    A command that does not fit even so stays on one line: a long line is better than a wrong command.
    """
    found = _continued(command, COLUMNS - 4)
    if len(found) > COMMAND_LINES or any(len(line) > COLUMNS - 4 for line in found):
        return [f"  {command}"]
    return [f"  {line} \\" for line in found[:-1]] + [f"  {found[-1]}"]


def _continued(command: str, room: int) -> list[str]:
    """The command broken between shell words, if it consists of plain words; continued lines are indented."""
    try:
        words = [shlex.quote(word) for word in shlex.split(command)]
    except ValueError:
        return [command]
    if len(command) <= room or " ".join(words) != command:
        return [command]
    lines = words[:1]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(f"  {word}")
    return lines
