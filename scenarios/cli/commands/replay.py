"""``replay DIR``: a recorded live run again, in virtual time and without sockets (``serve --record DIR``)."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.cli import exits, options, output
from scenarios.cli.output import say
from scenarios.cli.parser import Program
from scenarios.errors import BadInput

if TYPE_CHECKING:
    from scenarios.wire.recording.folder import RecordedLiveRun
    from scenarios.wire.recording.replay import Replay


def add(program: Program) -> None:
    parser = program.command(
        "replay", replay, "carry out a recorded live run again: the same events in virtual time, without clients"
    )
    parser.add_argument("folder", metavar="DIR", help="the folder of serve --record")
    parser.add_argument(
        "--until",
        dest="until_us",
        metavar="T",
        type=options.duration("--until"),
        help="stop at this virtual time, such as 12.5s (default: where the live run ended)",
    )
    parser.add_argument(
        "--trace", metavar="OUT", help="write the run's tables there, for timeline, state, why and report"
    )
    parser.add_argument(
        "--to-scenario",
        metavar="FILE",
        help="write it as a scenario instead: the operator's actions are its method, the clients' frames, in a file "
        "beside it, its load",
    )
    options.add_format(parser)


def replay(arguments: Namespace) -> int:
    """Replay. Exit code 3 where the replay differs from the live run."""
    from scenarios.cli.report import report, verdict
    from scenarios.wire.recording.folder import read_live_run
    from scenarios.wire.recording.replay import ReplayedRun

    recorded = read_live_run(Path(arguments.folder))
    if arguments.trace:
        _check_apart(arguments)
    if arguments.to_scenario:
        return _to_scenario(recorded, arguments)
    _note_differences(recorded)
    trace = Path(arguments.trace) if arguments.trace else None
    replayed = ReplayedRun(recorded, arguments.until_us).play(trace)
    if arguments.format == "json":
        say(json.dumps({**replayed.run.to_json(), "same_as_live": replayed.same}))
    elif arguments.quiet:
        say(verdict(replayed.run))
    else:
        for line in report(replayed.run, trace):
            say(line)
        say(_compared(replayed))
    if replayed.same is False:
        return exits.NOT_DETERMINISTIC
    return exits.of(replayed.run)


def _to_scenario(recorded: RecordedLiveRun, arguments: Namespace) -> int:
    from scenarios.runs.dataset.identity import command_line
    from scenarios.wire.recording.to_scenario import write_scenario

    if arguments.trace or arguments.until_us is not None:
        raise BadInput("writes a scenario, and replays nothing; leave --trace and --until out", where="--to-scenario")
    path = Path(arguments.to_scenario)
    frames = write_scenario(recorded, path)
    say(f"written to {path} and {frames}; run it with: {command_line('run', str(path))}")
    return exits.PASSED


def _check_apart(arguments: Namespace) -> None:
    if os.path.realpath(arguments.trace) == os.path.realpath(arguments.folder):
        raise BadInput("would be written over the recording; name another folder", where="--trace")


def _note_differences(recorded: RecordedLiveRun) -> None:
    """Note what can make the replay differ from the live run: a log that is cut short, or another program version."""
    from scenarios.runs.dataset.identity import code_digest

    if recorded.inputs.cut_short:
        output.note("the last entry of the log is cut short, and left out: the program was killed while it wrote it")
    if recorded.served.code != code_digest():
        output.note(
            f"recorded by another version of the program ({recorded.served.code}, this is {code_digest()}): "
            "the replay may differ from the live run"
        )


def _compared(replayed: Replay) -> str:
    if replayed.same is None:
        return "not compared with the live run: it was killed, or only its beginning was replayed"
    if replayed.same:
        return "the same as the live run: every event, and every byte that the clients were answered"
    return "NOT the same as the live run: its events or answers were different"
