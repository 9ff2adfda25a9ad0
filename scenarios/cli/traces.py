"""Choosing one recorded run of a data set, and reading its events."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scenarios.cli import options
from scenarios.errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

    from scenarios.runs.dataset.reader import DataSet, RunRead
    from scenarios.runs.dataset.recorded_events import RecordedEvents

_MOST_NAMED = 8


def add_choice(parser: ArgumentParser) -> None:
    """The options that choose among the runs of a data set."""
    parser.add_argument("--run", dest="run_id", metavar="RUN_ID", help="which run, where there are several")
    parser.add_argument("--seed", metavar="N", type=options.whole("--seed", 0), help="or: the run of that seed")
    parser.add_argument("--strategy", metavar="S", help="or: the run of that strategy")


def add_moment(parser: ArgumentParser) -> None:
    """The folder of a recorded run, and a moment of it."""
    parser.add_argument("trace", metavar="TRACE", help="the folder of run --trace or of serve --record")
    parser.add_argument(
        "--at",
        dest="at_us",
        metavar="T",
        type=options.duration("--at"),
        help="virtual time, such as 90s (default: the end of the run)",
    )


def moment_us(arguments: Namespace, end_us: int) -> int:
    """The virtual time (us) that ``--at`` asks for. Raises: BadInput when the run ended before."""
    at_us: int = end_us if arguments.at_us is None else arguments.at_us
    check_moment("--at", at_us, end_us)
    return at_us


def check_moment(option: str, at_us: int, end_us: int) -> None:
    """Refuse a moment after the end of the run. Raises: BadInput."""
    if at_us > end_us:
        raise BadInput(f"the run ended at {end_us / 1e6:g} s; ask for a moment up to then", where=option)


class Recorded(NamedTuple):
    """A recorded run: its profile, its strategy and its events, in order."""

    profile: str
    strategy: str
    events: list[Any]


class Columns(NamedTuple):
    """A recorded run whose events are made as they are needed."""

    strategy: str
    events: RecordedEvents


def read_only(trace: str) -> Recorded:
    """The only run of a folder. Raises: BadInput, also where the folder holds several runs."""
    return read(Namespace(trace=trace, run_id=None, seed=None, strategy=None))


@contextmanager
def traced(folder: str) -> Iterator[str]:
    """A folder of ``run --trace``: the given one. If that is the recording of a live run, a folder with the trace of
    its replay, which exists until the end of the context. Raises: BadInput."""
    if not is_live(folder):
        yield folder
        return
    from tempfile import TemporaryDirectory

    from scenarios.wire.recording.folder import read_live_run
    from scenarios.wire.recording.replay import ReplayedRun

    with TemporaryDirectory(prefix="understudy-replay-") as trace:
        ReplayedRun(read_live_run(Path(folder))).play(Path(trace))
        yield trace


def read(arguments: Namespace) -> Recorded:
    """The run that the options choose. Raises: BadInput."""
    from scenarios.runs.dataset.events import read_events

    if is_live(arguments.trace) and (arguments.run_id, arguments.seed, arguments.strategy) == (None, None, None):
        return _replayed(arguments.trace)

    run, table = _read(arguments)
    with known_events(arguments.trace):
        return Recorded(run.arm.profile, run.arm.strategy, list(read_events(table)))


def is_live(folder: str) -> bool:
    """Whether the folder is the recording of a live run."""
    return (Path(folder) / "run.toml").is_file()


def _replayed(folder: str) -> Recorded:
    """A recorded live run, from its replay: no data set is written, so nothing of the extra ``study`` is needed."""
    from scenarios.wire.recording.folder import read_live_run
    from scenarios.wire.recording.replay import ReplayedRun

    events: list[Any] = []
    run = ReplayedRun(read_live_run(Path(folder)), on_event=events.extend).play().run
    return Recorded(run.profile, run.strategy, events)


def columns(arguments: Namespace) -> Columns:
    """The run that the options choose, for a question about a moment. Raises: BadInput."""
    from scenarios.runs.dataset.recorded_events import RecordedEvents

    run, table = _read(arguments)
    with known_events(arguments.trace):
        return Columns(run.arm.strategy, RecordedEvents(table))


@contextmanager
def known_events(trace: str) -> Iterator[None]:
    """Make events inside the block. Raises: BadInput for an unknown event."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        raise BadInput(
            f"holds an event that this version does not know ({error}); run it again", source=trace
        ) from error


def _read(arguments: Namespace) -> tuple[RunRead, pa.Table]:
    """The run that the options choose, and its events in their order."""
    from scenarios.runs.dataset.reader import open_data_set, read_events_table

    with traced(arguments.trace) as folder:
        data_set = open_data_set(Path(folder))
        run = choose(data_set, arguments)
        table = read_events_table(data_set, run.row["run_id"])
    if not table.num_rows:
        raise BadInput(
            f"holds no events of the run of {run.name}; run it again with run --trace", source=arguments.trace
        )
    return run, table


def choose(data_set: DataSet, arguments: Namespace) -> RunRead:
    """The one run that the options choose. Raises: BadInput."""
    from scenarios.runs.dataset.reader import read_specs

    runs = sorted(read_specs(data_set), key=lambda run: (run.arm.strategy, run.row["seed"]))
    fitting = [
        run
        for run in runs
        if arguments.run_id in (None, run.row["run_id"])
        and arguments.strategy in (None, run.arm.strategy)
        and arguments.seed in (None, run.row["seed"])
    ]
    if len(fitting) == 1:
        _check_known(fitting[0], data_set.place)
        return fitting[0]
    names = [run.name for run in runs]
    shown = [
        run.name if names.count(run.name) == 1 else f"{run.name} (--run {run.row['run_id']})"
        for run in runs[:_MOST_NAMED]
    ]
    more = f" and {len(runs) - len(shown)} more" if len(runs) > len(shown) else ""
    what = f"{len(fitting)} runs fit" if fitting else "no run fits"
    raise BadInput(
        f"{what}; choose one with --seed, --strategy or --run: {'; '.join(shown)}{more}",
        source=data_set.place,
    )


def _check_known(run: RunRead, place: str) -> None:
    """Refuse a run with an unknown protocol: explanations of its moves would be wrong. Raises: BadInput."""
    from scenarios.language.strategies import parse_strategy

    try:
        parse_strategy(run.arm.strategy)
    except BadInput as error:
        what = f"its run has the strategy {run.arm.strategy!r}, which a plug-in brings: name it with --plugin FILE"
        raise BadInput(what, source=place) from error


def fault(number: int, events: Sequence[Any]) -> Any:
    """The N-th fault of a run. Raises: BadInput."""
    from emulator.protocol.events import Fault

    faults = [event for event in events if isinstance(event, Fault)]
    if number > len(faults):
        named = [f"{i} {fault.action} at {fault.t_us / 1e6:g} s" for i, fault in enumerate(faults, start=1)]
        raise BadInput(f"there is no fault {number}; the run has {', '.join(named) or 'none'}", where="--fault")
    return faults[number - 1]
