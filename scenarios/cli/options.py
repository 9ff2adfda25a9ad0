"""Values of options, and options that several commands share.

Each reader is an argparse ``type``. It raises BadInput, which argparse does not catch, so every refusal is one line of
the same form.
"""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from scenarios.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    from scenarios.cli.parser import Parser

LARGEST_SEED = 2**63 - 1
MOST_IN_PATH, MOST_IN_NAME = 4096, 255
"""The most bytes of a path, and of each name in it: Linux and its file systems take no more."""
MASTER = "local[2]"
SEEDS_HELP = "A:B are the seeds from A to B - 1, as in Python (0:20 are 20 seeds); a number is that one seed"


def one_of(option: str, names: Sequence[str]) -> Callable[[str], str]:
    """A reader that takes one of ``names``."""

    def read(text: str) -> str:
        if text not in names:
            raise BadInput(f"unknown value {text!r}; {did_you_mean(text, names)}", where=option)
        return text

    return read


def path(option: str) -> Callable[[str], str]:
    """A reader that takes any path but an empty one, which names nothing."""

    def read(text: str) -> str:
        if not text:
            raise BadInput("the path is empty; write one", where=option)
        if len(os.fsencode(text)) >= MOST_IN_PATH or any(len(os.fsencode(n)) > MOST_IN_NAME for n in text.split("/")):
            raise BadInput(f"{text!r} is too long for a path; write a shorter one", where=option)
        return text

    return read


def whole(option: str, least: int, most: int = LARGEST_SEED) -> Callable[[str], int]:
    """A reader that takes a whole number from ``least`` to ``most``."""

    def read(text: str) -> int:
        number = _number(text)
        if number is None or not least <= number <= most:
            raise BadInput(f"{text!r} is no whole number from {least}; write one", where=option)
        return number

    return read


def seeds(text: str) -> range:
    """The seeds of ``A:B``, without B, or a single seed. Raises: BadInput."""
    from scenarios.language.study_spec import parse_seeds

    try:
        return parse_seeds(text)
    except BadInput as error:
        raise error.under("--seeds") from None


def change(text: str) -> tuple[str, str]:
    """The key and the value of ``--set key=value``. Raises: BadInput."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise BadInput(f"{text!r} sets nothing; write key=value such as horizon=5m", where="--set")
    return key.strip(), value.strip()


def axis(text: str) -> tuple[str, tuple[str, ...]]:
    """The key and the values of ``--grid key=a,b``. Raises: BadInput."""
    key, equals, values = text.partition("=")
    if not equals or not key.strip() or not values.strip():
        hint = "write key=a,b such as strategy.throttle=10MB/s,20MB/s"
        raise BadInput(f"{text!r} names no key with its values; {hint}", where="--grid")
    from scenarios.studies.design import split_values

    return key.strip(), split_values(values)


def duration(option: str) -> Callable[[str], int]:
    """A function that reads a virtual time such as ``5s`` or ``90ms`` and returns microseconds."""

    def read(text: str) -> int:
        from scenarios.units import parse_duration

        try:
            return parse_duration(text)
        except BadInput as error:
            raise error.under(option) from None

    return read


def chance(option: str) -> Callable[[str], float]:
    """A function that reads a probability above 0 and below 1."""

    def read(text: str) -> float:
        try:
            found = float(text)
        except ValueError:
            found = 0.0
        if not 0 < found < 1:
            raise BadInput(f"{text!r} is no chance between 0 and 1; write one such as 1e-3", where=option)
        return found

    return read


def real_time(option: str) -> Callable[[str], float]:
    """A function that reads a real time such as ``10m``, above zero, and returns seconds."""
    read_us = duration(option)

    def read(text: str) -> float:
        found_us = read_us(text)
        if found_us == 0:
            raise BadInput(f"nothing can be done in {text!r}; write a time such as 10s or 10m", where=option)
        return found_us / 1e6

    return read


def strategy_of(option: str) -> Callable[[str], str]:
    """A reader of a strategy, by its full name."""

    def read(text: str) -> str:
        from scenarios.language.strategies import parse_strategy

        try:
            return parse_strategy(text).name
        except BadInput as error:
            raise error.under(option) from None

    return read


strategy = strategy_of("--strategy")


def throttle(text: str) -> int:
    """The bytes per second of ``--throttle``. Raises: BadInput, also for zero."""
    from scenarios.units import parse_rate

    try:
        rate = parse_rate(text)
    except BadInput as error:
        raise error.under("--throttle") from None
    if rate == 0:
        raise BadInput("a throttle of nothing lets nothing move; write a rate such as 50MB/s", where="--throttle")
    return rate


def profile(text: str) -> str:
    from scenarios.profiles import check_profile

    try:
        return check_profile(text)
    except BadInput as error:
        raise error.under("--profile") from None


def bug_of(option: str) -> Callable[[str], str]:
    """A reader of a bug, by its ticket."""

    def read(text: str) -> str:
        from scenarios.profiles.tickets import check_bug

        try:
            return check_bug(text)
        except BadInput as error:
            raise error.under(option) from None

    return read


def ticket(text: str) -> str:
    """A ticket that has a policy of its own, by its key."""
    from scenarios.profiles.tickets import TICKETS

    known = [key for key, one in TICKETS.items() if one.policies]
    if text not in known:
        raise BadInput(f"unknown ticket {text!r}; {did_you_mean(text, known)}", where="--without")
    return text


def schedule(text: str) -> str:
    from scenarios.language.schedules import check_schedule

    try:
        return check_schedule(text)
    except BadInput as error:
        raise error.under("--schedule") from None


def add_file(parser: Parser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="a scenario file, or the name of a library scenario (list scenarios)"
    )


def add_failing_run(parser: Parser, do: str) -> None:
    """Add a run that fails, and which of its findings ``do`` something, such as ``"to keep"``."""
    parser.add_argument(
        "file", metavar="RUN|FILE", help="a scenario file, also one with [[chaos]], or the folder of run --trace"
    )
    parser.add_argument("--seed", metavar="N", type=whole("--seed", 0), help="the seed of the run that fails")
    parser.add_argument(
        "--finding", metavar="CHECKER", help=f"which of several findings {do} (default: the gravest; see run)"
    )


def add_jobs(parser: Parser, do: str, *, every_processor: bool = False) -> None:
    """Add ``--jobs``: processes that ``do`` something, such as ``"share the seeds"``.

    Args:
        every_processor: one process per processor unless the option says otherwise, instead of one process.
    """
    default, said = (os.cpu_count() or 1, "one per processor") if every_processor else (1, "1")
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=whole("--jobs", 1, 1024),
        default=default,
        help=f"processes that {do} (default: {said})",
    )


def add_strategy(parser: Parser) -> None:
    parser.add_argument("--strategy", metavar="S", type=strategy, help="how partitions are moved (list strategies)")


def add_strategies(parser: Parser, help: str) -> None:
    """Add a repeatable ``--strategy``, whose names are the list ``strategies``."""
    parser.add_argument(
        "--strategy", dest="strategies", metavar="S", type=strategy, action="append", default=[], help=help
    )


def add_profile(parser: Parser) -> None:
    parser.add_argument("--profile", metavar="P", type=profile, help="the Kafka release to behave like (list profiles)")


def add_bugs(parser: Parser) -> None:
    parser.add_argument(
        "--bug",
        dest="bugs",
        metavar="BUG",
        type=bug_of("--bug"),
        action="append",
        default=[],
        help="switch on a bug that Kafka had (list bugs); repeatable",
    )


def add_schedule(parser: Parser) -> None:
    parser.add_argument(
        "--schedule",
        metavar="S",
        type=schedule,
        help="in which order things happen that are under way at once: fifo, random, pct-D or pos (list schedules)",
    )


def add_sampled(parser: Parser) -> None:
    parser.add_argument(
        "--sampled",
        action="store_true",
        help="let long moves leap between measured stretches: faster, figures within some percent "
        '(fidelity = "sampled"; docs/understand/sampled.md)',
    )


def add_against_specification(parser: Parser) -> None:
    parser.add_argument(
        "--against-specification",
        action="store_true",
        help="also hold every event against the TLA+ of docs/specification, and report where it allows none",
    )


def changes(arguments: Namespace) -> list[tuple[str, str]]:
    """The changes of ``--set``, and those that ``--bug`` means."""
    bugs = [("bugs", json.dumps(arguments.bugs))] if arguments.bugs else []
    return [*arguments.changes, *bugs]


def add_changes(parser: Parser) -> None:
    parser.add_argument(
        "--set",
        dest="changes",
        metavar="KEY=VALUE",
        type=change,
        action="append",
        default=[],
        help="change a key of the scenario, as in --set 'topics[0].size=2MiB'; repeatable",
    )


def add_format(parser: Parser, help: str = "text or json") -> None:
    parser.add_argument(
        "--format",
        metavar="F",
        type=one_of("--format", ("text", "json")),
        default="text",
        help=help,
    )


def add_master(parser: Parser) -> None:
    parser.add_argument("--master", metavar="URL", default=MASTER, help=f"Spark's master (default: {MASTER})")


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 19 else None
