"""Values of options, and options that several commands share.

Each reader is an argparse ``type``. It raises BadInput, which argparse does not catch, so every refusal is one line of
the same form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from scenarios.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    from scenarios.cli.parser import Parser

MOST_SEEDS = 100_000
LARGEST_SEED = 2**63 - 1
SEEDS_HELP = "A:B are the seeds from A to B - 1, as in Python (0:20 are 20 seeds); a number is that one seed"


def one_of(option: str, names: Sequence[str]) -> Callable[[str], str]:
    """A reader that takes one of ``names``."""

    def read(text: str) -> str:
        if text not in names:
            raise BadInput(f"unknown value {text!r}; {did_you_mean(text, names)}", where=option)
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
    """``A:B`` half-open, or a single seed."""
    first, colon, last = text.partition(":")
    start, stop = _number(first), _number(last) if colon else None
    if start is None or (colon and stop is None):
        raise BadInput(f"{text!r} names no seeds; write A:B such as 0:20, or one number", where="--seeds")
    found = range(start, start + 1 if stop is None else stop)
    if not found:
        raise BadInput(
            f"{text!r} is empty, B is not part of A:B; write {start}:{start + 1} for one seed",
            where="--seeds",
        )
    if len(found) > MOST_SEEDS or found[-1] > LARGEST_SEED:
        raise BadInput(f"{text!r} are too many or too large; at most {MOST_SEEDS} at once", where="--seeds")
    return found


def change(text: str) -> tuple[str, str]:
    """``key=value`` of ``--set``."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise BadInput(f"{text!r} sets nothing; write key=value such as horizon=5m", where="--set")
    return key.strip(), value.strip()


def duration(option: str) -> Callable[[str], int]:
    """A reader of virtual times such as ``5s`` or ``90ms``, in microseconds."""

    def read(text: str) -> int:
        from scenarios.units import parse_duration

        try:
            return parse_duration(text)
        except BadInput as error:
            raise error.under(option) from None

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


def profile(text: str) -> str:
    from scenarios.profiles import check_profile

    try:
        return check_profile(text)
    except BadInput as error:
        raise error.under("--profile") from None


def add_file(parser: Parser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="a scenario file, or the name of a library scenario (list scenarios)"
    )


def add_profile(parser: Parser) -> None:
    parser.add_argument("--profile", metavar="P", type=profile, help="the Kafka release to behave like (list profiles)")


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
    parser.add_argument("--master", metavar="URL", default="local[2]", help="Spark's master (default: local[2])")


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 19 else None
