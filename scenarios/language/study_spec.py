"""``[study]``: what a sweep of this scenario runs, and what its comparison is about, so that a study is one file.

It is no part of what one run does: neither the digest of the scenario nor a run knows it.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from scenarios.errors import BadInput, did_you_mean
from scenarios.language.schema.kinds import AnyValue, Kind, ListOf, MapOf, Schema, Text, as_tuple, refuse
from scenarios.language.schema.table_reader import Checked, key
from scenarios.language.strategies import parse_strategy
from scenarios.observe.measures.figures import declared
from scenarios.observe.measures.minimum import parse_minimum
from scenarios.profiles import check_profile

MOST_SEEDS = 100_000
LARGEST_SEED = 2**63 - 1
_DIGITS = 40
"""The most digits of a number: one with more is too large anyway, and Python refuses to read one of thousands."""


def parse_seeds(text: str) -> range:
    """The seeds of ``A:B``, B not included, or a single seed. Raises: BadInput."""
    first, colon, last = text.partition(":")
    start, stop = _number(first), _number(last) if colon else None
    if start is None or (colon and stop is None):
        raise BadInput(f"{text!r} names no seeds; write A:B such as 0:20, or one number")
    if max(start, (stop or 1) - 1) > LARGEST_SEED:
        raise BadInput(f"{text!r} are too large; the largest seed is {LARGEST_SEED}")
    found = range(start, start + 1 if stop is None else stop)
    if not found:
        raise BadInput(f"{text!r} is empty, B is not part of A:B; write {start}:{start + 1} for one seed")
    if len(found) > MOST_SEEDS:
        raise BadInput(f"{text!r} are too many seeds; at most {MOST_SEEDS:,} at once")
    return found


def _number(text: str) -> int | None:
    return int(text[:_DIGITS]) if text.isascii() and text.isdigit() else None


class SeedsKind(Kind[range]):
    """Seeds as ``--seeds`` takes them."""

    def read(self, value: object) -> range:
        if not isinstance(value, str):
            raise refuse(value, 'seeds in quotes, such as "0:20"')
        return parse_seeds(value)

    def checked(self, value: object) -> range:
        if not isinstance(value, range) or value.step != 1:
            raise refuse(value, "seeds such as range(0, 20)")
        return parse_seeds(str(self.dump(value)))

    def dump(self, value: range) -> object:
        return f"{value.start}:{value.stop}"

    def schema(self) -> Schema:
        return {"type": "string", "pattern": r"^\d+(:\d+)?$"}


class ValuesKind(ListOf):
    """The values of an axis."""

    def __init__(self) -> None:
        super().__init__(AnyValue(), unique=True, empty=False)

    def read(self, value: object) -> tuple[object, ...]:
        if isinstance(value, Mapping):
            raise BadInput('a table; write the path of the key in quotes: "strategy.throttle" = ["10MB/s", "20MB/s"]')
        return super().read(value)


def _check_metric(name: str) -> None:
    known = [figure.metric for figure in declared().values()]
    if name not in known:
        raise BadInput(f"unknown metric {name!r}; {did_you_mean(name, known)}")


@frozen(kw_only=True)
class StudySpec(Checked):
    """The runs of ``understudy sweep FILE``: every strategy under every profile with every value of the grid."""

    seeds: range | None = field(
        default=None, metadata=key(SeedsKind(), "the seeds from A to B - 1; absent: sweep asks for --seeds")
    )
    strategies: tuple[str, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(
            ListOf(Text(parse_strategy, "a strategy"), unique=True, empty=False),
            "the strategies; the others are compared with the first",
        ),
    )
    profiles: tuple[str, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(ListOf(Text(check_profile, "a profile"), unique=True, empty=False), "the profiles"),
    )
    grid: dict[str, tuple[object, ...]] = field(
        factory=dict,
        metadata=key(
            MapOf(ValuesKind(), Text()),
            'keys of the scenario by their paths, each with its values: { "strategy.throttle" = ["10MB/s", "20MB/s"] }',
        ),
    )
    compare: tuple[str, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(ListOf(Text(_check_metric, "a metric"), unique=True, empty=False), "the metrics that it is about"),
    )
    minimum: tuple[str, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(
            ListOf(Text(parse_minimum, "a smallest difference"), empty=False),
            'the smallest differences that matter: ["1%"], or ["2%", "100ms"] where a unit has its own',
        ),
    )
