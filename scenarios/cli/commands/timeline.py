"""`timeline TRACE [PARTITION]`: what happened, event by event, read back from what `run --trace` wrote."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scenarios.cli import exits, options
from scenarios.cli.output import say
from scenarios.cli.parser import Program
from scenarios.errors import BadInput

DEFAULT_WINDOW_US = 2_000_000
_MOST_NAMED = 8


def add(program: Program) -> None:
    parser = program.command("timeline", run, "show what happened in a run, of one partition or of the cluster")
    parser.add_argument("trace", metavar="TRACE", help="the folder of run --trace or of a sweep")
    parser.add_argument(
        "partition", metavar="PARTITION", nargs="?", help="a partition such as orders-0; without: the cluster"
    )
    parser.add_argument(
        "--from",
        dest="from_us",
        metavar="T",
        type=options.duration("--from"),
        help="virtual time, such as 5s",
    )
    parser.add_argument(
        "--to", dest="to_us", metavar="T", type=options.duration("--to"), help="virtual time, such as 90s"
    )
    parser.add_argument(
        "--fault", metavar="N", type=options.whole("--fault", 1), help="around the N-th thing that was done"
    )
    parser.add_argument(
        "--window",
        metavar="D",
        type=options.duration("--window"),
        default=DEFAULT_WINDOW_US,
        help="how far around --fault (default: 2s)",
    )
    parser.add_argument("--run", dest="run_id", metavar="RUN_ID", help="which run, where there are several")
    parser.add_argument("--seed", metavar="N", type=options.whole("--seed", 0), help="or: the run of that seed")
    parser.add_argument("--strategy", metavar="S", help="or: the run of that strategy")


def run(arguments: Namespace) -> int:
    events = _events(arguments)
    from_us, to_us = _window(arguments, events)

    from scenarios.timeline import lines

    for line in lines(events, arguments.partition, from_us=from_us, to_us=to_us):
        say(line)
    return exits.PASSED


def _events(arguments: Namespace) -> list[Any]:
    """The events of the run that is asked for, in their order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from scenarios.dataset.events import read_events
    from scenarios.dataset.reader import open_data_set, read_table

    data_set = open_data_set(Path(arguments.trace))
    run_id = _choose(data_set, arguments)
    table = read_table(data_set, "events")
    table = table.filter(pc.equal(table["run_id"], pa.scalar(run_id))).sort_by("seq")
    if not table.num_rows:
        raise BadInput(f"holds no events of run {run_id}; run it again with run --trace", source=arguments.trace)
    try:
        return list(read_events(table))
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(
            f"holds an event that this version does not know ({error}); run it again", source=arguments.trace
        ) from error


def _choose(data_set: Any, arguments: Namespace) -> str:
    """The one run that fits what is asked."""
    runs = _runs(data_set)
    fitting = [
        run_id
        for run_id, strategy, seed in runs
        if arguments.run_id in (None, run_id)
        and arguments.strategy in (None, strategy)
        and arguments.seed in (None, seed)
    ]
    if len(fitting) == 1:
        return fitting[0]
    named = [f"{run_id} ({strategy}, seed {seed})" for run_id, strategy, seed in runs[:_MOST_NAMED]]
    more = f" and {len(runs) - len(named)} more" if len(runs) > len(named) else ""
    what = f"{len(fitting)} runs fit" if fitting else "no run fits"
    raise BadInput(
        f"{what}; choose one with --seed, --strategy or --run: {', '.join(named)}{more}",
        source=arguments.trace,
    )


def _runs(data_set: Any) -> list[tuple[str, str, int]]:
    """Run, strategy and seed; the strategy stands in the name of the part's folder."""
    from urllib.parse import unquote

    import pyarrow.parquet as pq

    found = []
    for part in data_set.parts["runs"]:
        strategy = unquote(part.parent.name.partition("=")[2])
        rows = pq.ParquetFile(part).read(columns=["run_id", "seed"]).to_pylist()
        found += [(str(row["run_id"]), strategy, int(row["seed"])) for row in rows]
    return sorted(found, key=lambda run: (run[1], run[2]))


def _window(arguments: Namespace, events: Sequence[Any]) -> tuple[int | None, int | None]:
    """From when to when, in microseconds."""
    from_us, to_us = arguments.from_us, arguments.to_us
    if arguments.fault is not None:
        if from_us is not None or to_us is not None:
            raise BadInput("asks for another window than --from and --to; leave one out", where="--fault")
        fault = _fault(arguments.fault, events)
        return max(0, fault.t_us - arguments.window), fault.t_us + arguments.window
    if from_us is not None and to_us is not None and to_us < from_us:
        raise BadInput("ends before --from begins; exchange them", where="--to")
    return from_us, to_us


def _fault(number: int, events: Sequence[Any]) -> Any:
    from emulator.protocol.events import Fault

    faults = [event for event in events if isinstance(event, Fault)]
    if number > len(faults):
        named = [f"{i} {fault.action} at {fault.t_us / 1e6:g} s" for i, fault in enumerate(faults, start=1)]
        raise BadInput(f"there is no fault {number}; the run has {', '.join(named) or 'none'}", where="--fault")
    return faults[number - 1]
