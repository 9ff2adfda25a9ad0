"""The options of ``compare`` and ``report`` that select what is compared, and the data sets."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from scenarios.cli import output
from scenarios.errors import BadInput

if TYPE_CHECKING:
    from scenarios.cli.parser import Parser
    from scenarios.runs.dataset.reader import DataSet
    from scenarios.studies.statistics.study_comparison import ComparisonSpec


def add_options(parser: Parser) -> None:
    parser.add_argument(
        "--by",
        metavar="AXIS",
        help="compare the values of this axis (strategy, profile or a key of the grid) over all others; "
        "else each arm is compared with the one that differs from it in a single axis",
    )
    parser.add_argument(
        "--where",
        metavar="AXIS=VALUE",
        action="append",
        default=[],
        type=_where,
        help="only arms with this value; repeatable, two values of one axis are both taken",
    )
    parser.add_argument(
        "--metric",
        dest="metrics",
        metavar="NAME",
        action="append",
        default=[],
        help="only this metric (list metrics), or all; repeatable (default: those that the study is about, or all)",
    )
    parser.add_argument("--baseline", metavar="NAME", help="what all others are compared with")
    parser.add_argument(
        "--minimum",
        dest="minima",
        metavar="SIZE",
        action="append",
        default=[],
        help="the smallest difference that matters: 1%% of the larger mean, or a value such as 100ms or '5 records' "
        "for the metrics in that unit; repeatable (default: the study's, or 1%%)",
    )


def given(arguments: Namespace) -> list[tuple[str, str]]:
    """The options that choose what is compared, as they were given, with their values."""
    each = [
        ("--by", arguments.by and [arguments.by]),
        ("--where", ["=".join(pair) for pair in arguments.where]),
        ("--metric", arguments.metrics),
        ("--baseline", arguments.baseline and [arguments.baseline]),
        ("--minimum", arguments.minima),
    ]
    return [(option, value) for option, values in each for value in values or ()]


def asked(arguments: Namespace) -> ComparisonSpec:
    """The request in the options. Raises: BadInput."""
    from scenarios.observe.measures.minimum import parse_minima
    from scenarios.studies.statistics.study_comparison import ComparisonSpec

    try:
        minimum = parse_minima(arguments.minima) if arguments.minima else None
    except BadInput as error:
        raise error.under("--minimum") from None
    return ComparisonSpec(
        by=arguments.by,
        where=tuple(arguments.where),
        metrics=tuple(arguments.metrics),
        baseline=arguments.baseline,
        minimum=minimum,
    )


def prepare_spark(command: str, data_set: DataSet, wanted: ComparisonSpec, what: str) -> None:
    """Check, before Spark is started, which takes seconds: the data set has what is requested, and Java is there.
    Raises: BadInput; JavaMissing."""
    from scenarios.studies.java import ensure_java
    from scenarios.studies.statistics.study_comparison import check_asked

    check_asked(wanted, data_set.manifest.arms)
    ensure_java()
    output.told(f"{command}: Spark computes {what}, of {len(data_set.run_ids):,} runs")


def _where(text: str) -> tuple[str, str]:
    axis, equals, value = text.partition("=")
    if not equals or not axis.strip():
        raise BadInput(f"{text!r} names no arms; write AXIS=VALUE such as strategy=wiki", where="--where")
    return axis.strip(), value.strip()
