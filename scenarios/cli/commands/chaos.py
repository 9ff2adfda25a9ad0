"""``chaos [FILE]``: draw scenarios from a file with ``[[chaos]]`` blocks, run them, and report the seeds that fail."""

from __future__ import annotations

import json
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import asdict

from scenarios.cli import exits, options, output
from scenarios.cli.commands.serve import api_versions, rate
from scenarios.cli.output import say
from scenarios.cli.parser import Program
from scenarios.errors import BadInput, did_you_mean
from scenarios.progress import Progress
from scenarios.resuming import resumable
from scenarios.runs.dataset.identity import command_line
from scenarios.units import counted

if TYPE_CHECKING:
    from scenarios.language import Scenario
    from scenarios.studies.chaos.campaign import Campaign, Tally
    from scenarios.studies.chaos.seed_run import Drawn, SeedResult

DEFAULT_SEEDS = 100
NAMED = 12
"""The most names of never reached things that are shown."""
COLUMNS = 110


def add(program: Program) -> None:
    parser = program.command("chaos", run, "draw random scenarios, run them, and report those that fail")
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="a scenario file with [[chaos]] blocks (default: the default swarm)"
    )
    parser.add_argument(
        "--seeds",
        metavar="A:B",
        type=options.seeds,
        help=f"{options.SEEDS_HELP} (default: 0:{DEFAULT_SEEDS}; with --for as many as there is time for)",
    )
    parser.add_argument(
        "--for",
        dest="for_s",
        metavar="TIME",
        type=options.real_time("--for"),
        help="begin no seed after that real time",
    )
    options.add_jobs(parser, "share the seeds", every_processor=True)
    parser.add_argument("--master", metavar="URL", help="run the seeds on Spark, whose master this is")
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="keep the results there, and the scenario of each seed that fails; a campaign that is there goes on",
    )
    parser.add_argument(
        "--until-reached", dest="until", metavar="NAME", help="begin no seed once one has reached this (--reach)"
    )
    parser.add_argument(
        "--until-chance",
        metavar="P",
        type=options.chance("--until-chance"),
        default=0.0,
        help="begin no seed once the next one has a finding of another kind with a chance below P, such as 1e-3",
    )
    parser.add_argument("--reach", action="store_true", help="list all that seeds can reach, and run nothing")
    parser.add_argument(
        "--lean",
        action="store_true",
        help="with --out: draw the kinds more often whose seeds have reached what is seldom reached",
    )
    parser.add_argument(
        "--search",
        metavar="HOW",
        type=options.one_of("--search", ("plain", "branching")),
        default="plain",
        help="plain (default): seed after seed; branching, with --out: also go on again from where runs came to "
        "something new",
    )
    options.add_against_specification(parser)
    parser.add_argument(
        "--clients",
        metavar="DRIVER",
        nargs="+",
        help="run each seed under real clients, and judge what they saw: librdkafka, kafka-python, aiokafka, java, "
        "kafkajs, @platformatic/kafka, franz-go, or command:PROGRAM",
    )
    parser.add_argument(
        "--rate", metavar="X", type=rate, help="with --clients: virtual seconds for each second (default: 4.0)"
    )
    parser.add_argument(
        "--bound",
        metavar="TIME",
        type=options.real_time("--bound"),
        help="with --clients: the real time after healing in which clients have to get on (default: 90s)",
    )
    parser.add_argument(
        "--api-versions",
        metavar="V",
        type=api_versions,
        help="with --clients: the release whose API versions the brokers announce (default: the profile's)",
    )
    parser.add_argument("--verbose", "-v", action="store_true", help="print what each seed has drawn")
    options.add_profile(parser)
    options.add_bugs(parser)
    options.add_changes(parser)
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    """Run the campaign. Wrong options are refused before anything runs or is written."""
    if arguments.clients:
        from scenarios.cli.chaos_under_clients import run as run_under_clients

        return run_under_clients(arguments)
    for option, given in (
        ("--rate", arguments.rate), ("--bound", arguments.bound), ("--api-versions", arguments.api_versions),
    ):  # fmt: skip
        if given is not None:
            raise BadInput("is of campaigns under real clients; add --clients DRIVER", where=option)
    campaign = _asked(arguments)
    if arguments.reach:
        names = campaign.drawn.names
        for line in [json.dumps(names)] if arguments.format == "json" else names:
            say(line)
        return exits.PASSED
    told = _Told(campaign, arguments)
    if arguments.format == "text" and not arguments.quiet:
        for line in told.head():
            say(line)
    began = time.monotonic()
    with resumable(told.kept, campaign.out):
        tally = _carried_out(campaign, arguments, told.take)
    seconds = max(time.monotonic() - began, 1e-9)
    if arguments.format == "json":
        say(json.dumps(told.summary(tally, seconds)))
    else:
        for line in told.end(tally, seconds):
            say(line)
    return _code(tally)


def _code(tally: Tally) -> int:
    from scenarios.studies.chaos.seed_run import TOOL

    if tally.checkers[TOOL]:
        return exits.TOOL_FAILED
    return exits.FAILED if tally.failed else exits.PASSED


# -- what is asked ----------------------------------------------------------------------------------------------------


def _asked(arguments: Namespace) -> Campaign:
    from scenarios.language.study_spec import MOST_SEEDS
    from scenarios.studies.chaos.campaign import BRANCHING, Campaign
    from scenarios.studies.chaos.leaning import names_of
    from scenarios.studies.chaos.seed_run import Drawn

    scenario = _scenario(arguments)
    if not scenario.chaos:
        raise BadInput(
            'has no [[chaos]] blocks, so every seed would be the same; add [[chaos]] kind = "attrition", or run it',
            source=scenario.source,
        )
    ends_early = arguments.for_s is not None or arguments.until or arguments.until_chance
    most = MOST_SEEDS if ends_early else DEFAULT_SEEDS
    seeds = range(most) if arguments.seeds is None else arguments.seeds
    names = names_of(scenario.profile, scenario.strategy.parsed.protocol)
    if arguments.until is not None and arguments.until not in names:
        hint = did_you_mean(arguments.until, names)
        raise BadInput(f"nothing is called {arguments.until!r}; {hint}", where="--until-reached")
    if arguments.lean and not arguments.out:
        raise BadInput("draws seeds by what others have reached, so they have to be kept; add --out", where="--lean")
    if arguments.search == BRANCHING:
        _check_search(arguments)
    return Campaign(
        drawn=Drawn(scenario=scenario, names=names, against_specification=arguments.against_specification),
        until=arguments.until or "",
        until_chance=arguments.until_chance,
        leans=arguments.lean,
        search=arguments.search,
        seeds=seeds,
        for_s=arguments.for_s,
        out=Path(arguments.out) if arguments.out else None,
    )


def _check_search(arguments: Namespace) -> None:
    """Refuse a branching search without a folder, or together with what changes its draws or its workers. Raises:
    BadInput."""
    if not arguments.out:
        raise BadInput("branching writes a file for each finding; add --out", where="--search")
    refused = (
        ("--lean", arguments.lean),
        ("--master", arguments.master is not None),
        ("--against-specification", arguments.against_specification),
    )
    for option, given in refused:
        if given:
            raise BadInput("cannot be combined with --search branching; leave one out", where=option)


def _scenario(arguments: Namespace) -> Scenario:
    from scenarios.chaos.draw import default_swarm
    from scenarios.language.files import load

    changes = options.changes(arguments)
    if arguments.file is not None:
        scenario = load(arguments.file, changes)
    else:
        scenario = default_swarm()
        scenario = scenario.with_overrides(dict(changes)) if changes else scenario
    return scenario.for_run(profile=arguments.profile)


def _carried_out(campaign: Campaign, arguments: Namespace, take: Callable[[SeedResult, Tally], object]) -> Tally:
    from scenarios.cli import log_output
    from scenarios.runs.batch import local_workers
    from scenarios.studies.chaos.campaign import run as carry_out

    if arguments.master is None:
        workers = local_workers(min(arguments.jobs, len(campaign.seeds)), partial(log_output.configure, arguments.log))
        return carry_out(campaign, workers, take)
    from scenarios.studies.java import ensure_java

    ensure_java()
    from scenarios.studies.spark.session import session
    from scenarios.studies.spark.task_waves import Waves

    with session(arguments.master) as spark:
        return carry_out(campaign, Waves(spark), take)


# -- what is said -----------------------------------------------------------------------------------------------------


class _Told:
    """Prints a campaign's findings, during the campaign and at its end."""

    def __init__(self, campaign: Campaign, arguments: Namespace) -> None:
        self.campaign, self.arguments = campaign, arguments
        self.text = arguments.format == "text"
        self.began, self.seeds = time.monotonic(), 0
        total = len(campaign.seeds) if campaign.for_s is None else campaign.for_s
        ends_early = campaign.for_s is not None or bool(campaign.until) or campaign.until_chance > 0
        self.counted = arguments.seeds is not None or not ends_early
        self.progress = Progress("chaos", output.progress, total, about="at most" if ends_early else "about")

    def kept(self) -> str:
        return f"{self.seeds} of {len(self.campaign.seeds)} seeds" if self.counted else counted(self.seeds, "seeds")

    def head(self) -> Iterator[str]:
        scenario = self.campaign.drawn.scenario
        bugs = f", bugs {', '.join(scenario.bugs)}" if scenario.bugs else ""
        yield f"{scenario.title}: profile {scenario.profile}, strategy {scenario.strategy.name}{bugs}"

    def take(self, result: SeedResult, tally: Tally) -> None:
        from scenarios.studies.chaos.campaign import write_failing

        self.seeds = tally.seeds
        if result.new:
            write_failing(self.campaign, result)
        if self.text and not self.arguments.quiet:
            for line in self._lines(result):
                say(line)
            output.show()
        self.progress.report_seldom(self._done(tally), lambda _: f"{self.kept()}, {len(tally.failed)} failed")

    def _done(self, tally: Tally) -> float:
        """The progress: seeds, or the seconds of a campaign that ends after a time."""
        return tally.seeds if self.campaign.for_s is None else time.monotonic() - self.began

    def _lines(self, result: SeedResult) -> Iterator[str]:
        if self.arguments.verbose:
            yield from _drawn(self.campaign.drawn.with_weights(result.weights), result.seed)
        for found in (found for found in result.found if found.tickets and self.arguments.verbose):
            tickets = " and ".join(dict.fromkeys(found.tickets))
            yield f"{_run(result)}: known, {tickets}: {found.checker}: {found.in_short}"
        if not result.new:
            if self.arguments.verbose:
                yield f"{_run(result)}: passed"
            return
        for found in result.new:
            yield f"{_run(result)}: {output.red(found.checker)}: {found.in_short}"
        if result.error and self.arguments.verbose:
            yield from result.error.rstrip().splitlines()
        yield f"  replay: {self.replay(result)}"

    def replay(self, result: SeedResult) -> str:
        """The command that runs a seed, or a continuation, again."""
        from scenarios.studies.chaos.paths import name_of

        arguments, seed = self.arguments, result.seed
        against = ["--against-specification"] if self.campaign.drawn.against_specification else []
        if self.campaign.out is not None:
            return command_line("run", str(self.campaign.out / f"{name_of(seed, result.path)}.toml"), *against)
        words = ["chaos", "--seeds", str(seed)]
        if arguments.file is not None:
            words = ["run", arguments.file, "--seed", str(seed)]
        words += ["--profile", arguments.profile] if arguments.profile else []
        for option, values in (("--bug", arguments.bugs), ("--set", [f"{k}={v}" for k, v in arguments.changes])):
            for value in values or ():
                words += [option, value]
        return command_line(*words, *against)

    def end(self, tally: Tally, seconds: float) -> Iterator[str]:
        before = f" ({tally.before} were there already)" if tally.before else ""
        if tally.continued:
            yield f"{tally.continued:,} continuations of runs of {counted(tally.seeds, 'seeds')}"
            yield f"{tally.passed} of {counted(tally.seeds + tally.continued, 'runs')} passed{before}"
        else:
            yield f"{tally.passed} of {tally.seeds} seeds passed{before}"
        for checker, count in tally.checkers.most_common():
            first = next(result for result in tally.failed if any(f.checker == checker for f in result.new))
            yield f"  {checker}: {counted(count, 'seeds')}, first: {self.replay(first)}"
        for ticket, count in tally.known_in.most_common():
            yield f"  known, {ticket}: {counted(count, 'seeds')}, first: {tally.known[ticket][0]}"
        yield from self._ruled_out(tally)
        yield from _chances(tally)
        yield from self._reached(tally)
        rate = (tally.seeds - tally.before) / seconds
        yield f"{rate:.1f} seeds/s, {tally.virtual_us / 1e6:,.0f} virtual seconds, {tally.events:,} events"

    def _reached(self, tally: Tally) -> Iterator[str]:
        """The wanted things that were reached, and those that never were."""
        reached, until = tally.reached, self.campaign.until
        if until:
            yield f"{until}: first in seed {reached.first[until]}" if until in reached.first else f"{until}: never"
        if not self.arguments.quiet and reached.never:
            several = self.arguments.verbose and tally.seeds > 1
            shown = reached.never if several else reached.never[:NAMED]
            yield f"never reached, {len(reached.never)} of {len(reached.names)}:"
            yield from _in_lines(shown)
            if len(shown) < len(reached.never):
                how = "-v, of more than one seed," if self.arguments.verbose else "-v"
                yield f"  and {len(reached.never) - len(shown):,} more, which {how} names"

    def _ruled_out(self, tally: Tally) -> Iterator[str]:
        """Lines about what a campaign without a failure rules out."""
        from scenarios.studies.chaos.ruled_out import ruled_out

        if tally.seeds and not tally.failed:
            yield from ruled_out(tally.seeds, default_swarm=self.is_default)

    @property
    def is_default(self) -> bool:
        """Whether its seeds are drawn like those that measured the densities of bugs."""
        asked = self.arguments
        return asked.file is None and not (asked.bugs or asked.changes or asked.lean)

    def summary(self, tally: Tally, seconds: float) -> dict[str, Any]:
        """The object of ``--format json``."""
        from scenarios.studies.chaos.ruled_out import share

        failed = [
            {"seed": result.seed, "checker": found.checker, "statement": found.statement, "state": found.state,
             **found.about, "replay": self.replay(result)}
            for result in tally.failed
            for found in result.new
        ]  # fmt: skip
        return {
            "seeds": tally.seeds,
            **({"continuations": tally.continued} if self.campaign.search != "plain" else {}),
            "passed": tally.passed,
            "failed": failed,
            "known": [
                {"ticket": ticket, "seeds": count, "first": tally.known[ticket]}
                for ticket, count in tally.known_in.most_common()
            ],
            "chance_of_a_new_kind_of_finding": asdict(tally.findings.chance()),
            "chance_of_a_new_reach": asdict(tally.reaches.chance()),
            "rules_out": share(tally.seeds) if tally.seeds and not failed else None,
            "never_reached": list(tally.reached.never),
            "seeds_per_s": round((tally.seeds - tally.before) / seconds, 3),
            "virtual_s": tally.virtual_us / 1e6,
        }


def _run(result: SeedResult) -> str:
    """A run in words: its seed, and the instants at which it went on otherwise."""
    ways = [f"branch {number} at {at_us / 1e6:.6f} s" for at_us, number in result.path]
    return ", ".join([f"seed {result.seed}", *ways])


def _chances(tally: Tally) -> Iterator[str]:
    """Lines about what the next seed may show that none has shown. One seed says nothing of the next."""
    if tally.seeds > 1:
        yield f"the next seed has a finding of another kind with a chance of {tally.findings.chance()}"
        reaches = tally.reaches.chance()
        more = f"; {counted(reaches.unseen, 'such things')} or more can be reached" if reaches.unseen else ""
        yield f"it reaches what none has reached with a chance of {reaches}{more}"


def _in_lines(names: Iterable[str]) -> list[str]:
    """Names that may have spaces, several in a line."""
    lines: list[str] = []
    for name in names:
        if lines and len(lines[-1]) + len(name) + 3 <= COLUMNS:
            lines[-1] += f", {name}"
        else:
            lines[-1:] = [f"{line}," for line in lines[-1:]]
            lines.append(f"  {name}")
    return lines


def _drawn(drawn: Drawn, seed: int) -> Iterator[str]:
    """The draws of a seed: in words, then the parts of its scenario that the file does not have, a line for each."""
    from scenarios.language.schema.toml_text import write_value

    scenario = drawn.concrete(seed)
    yield from scenario.description.splitlines()
    stated = drawn.scenario.to_table()
    for name, value in scenario.to_table().items():
        if name in ("title", "description", "seed") or value == stated.get(name):
            continue
        parts = value if isinstance(value, list) and all(isinstance(part, dict) for part in value) else [value]
        yield from (f"  {name} {write_value(part)}" for part in parts)
