"""A failing run's answer: what was violated, when, what led to it, and how to see it again. It fits a
screen.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping

from emulator.trace import Event
from scenarios.explain.chain import chain
from scenarios.timeline.words import seconds, words

COLUMNS = 110
LINES = 25
REASON_LINES = 7
CHAIN_LINES = 10
COMMAND_LINES = 4
"""All together with the headings: at most ``LINES``."""


def explain(
    reason: object,
    events: Mapping[int, Event] | Iterable[Event],
    seq: int,
    replay_command: str,
    *,
    seed: int | None = None,
) -> str:
    """Why the run failed, in at most 25 lines of 110 columns.

    Args:
        reason: a ``Violation`` or any text: the violated statement, the expectation that was not met.
        events: what is remembered of the run (``Memory.events()``), or all of it.
        seq: the event that showed it; 0 where none did (nothing happened that should have).
        replay_command: one shell command that runs it again.
        seed: shown beside the time.
    """
    known = events if isinstance(events, Mapping) else {event.seq: event for event in events}
    return "\n".join(
        [
            *_wrapped(f"FAILED: {reason}", REASON_LINES),
            *_place(known.get(seq), seed),
            *_why(known, seq),
            "replay it:",
            *_command(replay_command),
        ]
    )


def _place(event: Event | None, seed: int | None) -> list[str]:
    parts = [] if event is None else [f"at {seconds(event.t_us)} s of virtual time (event {event.seq})"]
    parts += [] if seed is None else [f"seed {seed}"]
    return [", ".join(parts)] if parts else []


def _why(events: Mapping[int, Event], seq: int) -> list[str]:
    found = chain(events, seq)
    if not found.events:
        return []
    shown = found.events[-CHAIN_LINES:]
    hidden = len(found.events) - len(shown)
    if hidden or not found.whole:
        count = f"{hidden} more" if found.whole else f"{hidden} more and what is no longer remembered"
        title = f"its causes, the last {len(shown)} of them (before: {count}):"
    else:
        title = "its causes, from the first:"
    return [title, *(_line(event) for event in shown)]


def _line(event: Event) -> str:
    return _cut(f"{seconds(event.t_us):>13} {event.seq:>8}  {words(event)}")


def _cut(line: str) -> str:
    return line if len(line) <= COLUMNS else line[: COLUMNS - 1] + "…"


def _wrapped(text: str, limit: int) -> list[str]:
    flat = " ".join(text.split())
    return textwrap.wrap(
        flat, COLUMNS, subsequent_indent="  ", max_lines=limit, placeholder=" …", break_on_hyphens=False
    )


def _command(command: str) -> list[str]:
    """The command, continued with backslashes where it is long: what is shown can be pasted as it stands.

    A command that does not fit even so stays on one line: a line too long is better than a command that lies.
    """
    found = _continued(command.split(" "), COLUMNS - 4)
    if found is None or len(found) > COMMAND_LINES:
        return [f"  {command}"]
    return [f"  {line} \\" for line in found[:-1]] + [f"  {found[-1]}"]


def _continued(parts: list[str], room: int) -> list[str] | None:
    """Break at single spaces outside quotes; None where that is not possible."""
    lines = [""]
    quoted = False
    for part in parts:
        candidate = f"{lines[-1]} {part}" if lines[-1] else part
        if len(candidate) > room and lines[-1] and not quoted:
            lines.append(f"  {part}")
        else:
            lines[-1] = candidate
        quoted ^= (part.count("'") + part.count('"')) % 2 == 1
    return None if any(len(line) > room for line in lines) else lines
