"""``import -o FILE``: a scenario file from texts of Kafka's tools, Cruise Control, rates, or a live cluster."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.cli import exits, options, output
from scenarios.cli.output import say
from scenarios.cli.parser import Program
from scenarios.errors import BadInput

if TYPE_CHECKING:
    from scenarios.importing.found import Found

LOOK_S = 10
_OPTIONS = ("topics", "cluster_state", "log_dirs", "configs", "load", "reassignment", "rates")
"""Options that name files, in the order in which they are read: replica lists first."""


def add(program: Program) -> None:
    parser = program.command(
        "import",
        run,
        "write a scenario file from a real cluster: texts of its tools, or the cluster itself",
        epilog="Several sources go together; the file says where each figure came from and what was guessed.",
    )
    for name, help in {
        "topics": "what kafka-topics --describe printed",
        "log-dirs": "what kafka-log-dirs --describe printed",
        "configs": "what kafka-configs --describe printed, of topics or brokers; repeatable",
        "reassignment": "the JSON of kafka-reassign-partitions: the scenario's plan",
        "cluster-state": "Cruise Control's kafka_cluster_state?verbose=true&json=true",
        "load": "Cruise Control's load?json=true",
        "rates": "CSV (topic, partition, bytes_per_s, messages_per_s) or Prometheus' answer; repeatable",
    }.items():
        parser.add_argument(f"--{name}", metavar="FILE", action="append", default=[], help=help)
    parser.add_argument(
        "--bootstrap", metavar="HOST:PORT", type=_address, help="look at this live cluster (extra live)"
    )
    parser.add_argument(
        "--look",
        metavar="N",
        type=options.whole("--look", 1, 3600),
        default=LOOK_S,
        help=f"the seconds between two looks at a live cluster, for rates (default: {LOOK_S})",
    )
    parser.add_argument(
        "--throttle", metavar="RATE", type=options.throttle, help="the throttle of the plan, such as 50MB/s"
    )
    options.add_profile(parser)
    parser.add_argument("-o", "--out", metavar="OUT", required=True, help="the scenario file to write")


def _address(text: str) -> str:
    from scenarios.importing.live_cluster import check_address

    return check_address(text)


def run(arguments: Namespace) -> int:
    from scenarios import whole_files
    from scenarios.importing.assembling import assembled
    from scenarios.importing.found import Found
    from scenarios.importing.writing import as_text
    from scenarios.language import Scenario

    target, found = Path(arguments.out), Found(throttle=arguments.throttle)
    whole_files.check_target(target, "cluster.toml")
    _read(arguments, found)
    one = assembled(found, arguments.profile or "")
    text = as_text(one)
    scenario = Scenario.loads(text, source=str(target))
    whole_files.save(target, text)
    for note in one.notes:
        output.told(note)
    say(f"{target}: {scenario.title}, {scenario.profile}; guesses are comments at its top")
    return exits.PASSED


def _read(arguments: Namespace, found: Found) -> None:
    """Read every source. Raises: BadInput, where there is none."""
    from scenarios.importing import cruise_control, rate_sources, tool_texts

    readers: dict[str, Callable[[Path, Found], None]] = {
        "topics": tool_texts.read_topics,
        "cluster_state": cruise_control.read_cluster_state,
        "log_dirs": tool_texts.read_log_dirs,
        "configs": tool_texts.read_configs,
        "load": cruise_control.read_load,
        "reassignment": tool_texts.read_reassignment,
        "rates": rate_sources.read_rates,
    }
    files = [(name, file) for name in _OPTIONS for file in getattr(arguments, name)]
    if not files and arguments.bootstrap is None:
        raise BadInput("no source is named; add --topics FILE, or --bootstrap HOST:PORT, ... (import --help)")
    if arguments.bootstrap is not None:
        from scenarios.importing.live_cluster import look_at

        look_at(arguments.bootstrap, arguments.look, found, output.note)
    for name, file in files:
        readers[name](Path(file), found)
