"""Choosing one recorded run of a data set, and reading its events."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scenarios.cli import options
from scenarios.errors import BadInput

_MOST_NAMED = 8


def add_choice(parser: ArgumentParser) -> None:
    """The options that choose among the runs of a data set."""
    parser.add_argument("--run", dest="run_id", metavar="RUN_ID", help="which run, where there are several")
    parser.add_argument("--seed", metavar="N", type=options.whole("--seed", 0), help="or: the run of that seed")
    parser.add_argument("--strategy", metavar="S", help="or: the run of that strategy")


def add_moment(parser: ArgumentParser) -> None:
    """The folder of a recorded run, and a moment of it."""
    parser.add_argument("trace", metavar="TRACE", help="the folder of run --trace")
    parser.add_argument(
        "--at",
        dest="at_us",
        metavar="T",
        type=options.duration("--at"),
        help="virtual time, such as 90s (default: the end of the run)",
    )


def moment_us(arguments: Namespace, events: Sequence[Any]) -> int:
    """The virtual time (us) that ``--at`` asks for. Raises: BadInput when the run ended before."""
    end_us: int = events[-1].t_us
    at_us: int = end_us if arguments.at_us is None else arguments.at_us
    if at_us > end_us:
        raise BadInput(f"the run ended at {end_us / 1e6:g} s; ask for a moment up to then", where="--at")
    return at_us


class Recorded(NamedTuple):
    """A recorded run: its profile and its events, in order."""

    profile: str
    events: list[Any]


def read_only(trace: str) -> Recorded:
    """The only run of a folder. Raises: BadInput, also where the folder holds several runs."""
    return read(Namespace(trace=trace, run_id=None, seed=None, strategy=None))


def read(arguments: Namespace) -> Recorded:
    """The run that the options choose. Raises: BadInput."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from scenarios.runs.dataset.events import read_events
    from scenarios.runs.dataset.reader import open_data_set, read_table

    data_set = open_data_set(Path(arguments.trace))
    run_id, profile = _choose(data_set, arguments)
    table = read_table(data_set, "events")
    table = table.filter(pc.equal(table["run_id"], pa.scalar(run_id))).sort_by("seq")
    if not table.num_rows:
        raise BadInput(f"holds no events of run {run_id}; run it again with run --trace", source=arguments.trace)
    try:
        return Recorded(profile, list(read_events(table)))
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(
            f"holds an event that this version does not know ({error}); run it again", source=arguments.trace
        ) from error


def _choose(data_set: Any, arguments: Namespace) -> tuple[str, str]:
    """The one run that the options choose, and its profile."""
    runs = _runs(data_set)
    fitting = [
        (run_id, profile)
        for run_id, strategy, seed, profile in runs
        if arguments.run_id in (None, run_id)
        and arguments.strategy in (None, strategy)
        and arguments.seed in (None, seed)
    ]
    if len(fitting) == 1:
        return fitting[0]
    named = [f"{run_id} ({strategy}, seed {seed})" for run_id, strategy, seed, _profile in runs[:_MOST_NAMED]]
    more = f" and {len(runs) - len(named)} more" if len(runs) > len(named) else ""
    what = f"{len(fitting)} runs fit" if fitting else "no run fits"
    raise BadInput(
        f"{what}; choose one with --seed, --strategy or --run: {', '.join(named)}{more}",
        source=arguments.trace,
    )


def _runs(data_set: Any) -> list[tuple[str, str, int, str]]:
    """Run, strategy, seed and profile."""
    from scenarios.runs.dataset.reader import read_runs

    found = [(row["run_id"], strategy, row["seed"], row["profile"]) for strategy, row in read_runs(data_set)]
    return sorted(found, key=lambda run: (run[1], run[2]))


def fault(number: int, events: Sequence[Any]) -> Any:
    """The N-th fault of a run. Raises: BadInput."""
    from emulator.protocol.events import Fault

    faults = [event for event in events if isinstance(event, Fault)]
    if number > len(faults):
        named = [f"{i} {fault.action} at {fault.t_us / 1e6:g} s" for i, fault in enumerate(faults, start=1)]
        raise BadInput(f"there is no fault {number}; the run has {', '.join(named) or 'none'}", where="--fault")
    return faults[number - 1]
