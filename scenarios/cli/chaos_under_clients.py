"""``chaos --clients``: what a person asks for, and what is said about the runs."""

from __future__ import annotations

import json
import time
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import asdict, define, field

from scenarios.cli import exits, log_output, output
from scenarios.cli.options import changes
from scenarios.cli.output import say
from scenarios.errors import BadInput
from scenarios.progress import Progress
from scenarios.resuming import resumable
from scenarios.units import counted

if TYPE_CHECKING:
    from scenarios.language import Scenario
    from scenarios.studies.clients.client_campaign import ClientCampaign
    from scenarios.studies.clients.client_outcome import ClientOutcome

RATE = 4.0
BOUND_S = 90.0
"""More than clients wait by default for an answer: librdkafka 60 s, aiokafka 40 s, kafka-python 30 s."""
DEFAULT_SEEDS = 20
REFUSED = ("master", "until", "until_chance", "reach", "lean", "against_specification")


def run(arguments: Namespace) -> int:
    """Run the campaign. Wrong options are refused before anything runs or is written."""
    from scenarios.runs.batch import local_workers
    from scenarios.studies.clients.client_campaign import run_campaign

    campaign = _asked(arguments)
    told = _ClientsTold(arguments, campaign)
    if told.text:
        profile = campaign.scenario.profile
        say(f"{campaign.scenario.title}: profile {profile}, {campaign.rate:g} virtual seconds a second")
        say("clients have clocks of their own: a finding's evidence is its recording, not its seed")
        output.show()
    jobs = min(arguments.jobs, len(campaign.seeds) * len(campaign.drivers))
    workers = local_workers(jobs, partial(log_output.configure, arguments.log))
    with resumable(told.kept, campaign.out):
        outcomes = run_campaign(campaign, workers, told.take)
    if arguments.format == "json":
        say(json.dumps(told.summary(outcomes)))
    else:
        for line in told.end(outcomes):
            say(line)
    if any(outcome.tool_failed for outcome in outcomes):
        return exits.TOOL_FAILED
    return exits.FAILED if any(outcome.findings for outcome in outcomes) else exits.PASSED


def _asked(arguments: Namespace) -> ClientCampaign:
    from scenarios.studies.clients.client_campaign import ClientCampaign
    from scenarios.studies.clients.client_drivers import drivers_named
    from scenarios.wire.versions import release_of

    given = [name for name in REFUSED if getattr(arguments, name)]
    if given or arguments.search != "plain":
        option = f"--{(given or ['search'])[0].replace('_', '-')}".replace("--until", "--until-reached", 1)
        option = option.replace("--until-reached-chance", "--until-chance")
        raise BadInput("is of campaigns without real clients; leave it out, or --clients", where=option)
    scenario = _scenario(arguments)
    if not scenario.chaos:
        what = "has no [[chaos]] blocks, so no fault would be drawn; add some, as in docs/use/clients-under-chaos.md"
        raise BadInput(what, source=scenario.source)
    drivers = drivers_named(arguments.clients)
    for driver in drivers:
        driver.check_versions(arguments.api_versions or release_of(scenario.policies.brokers.api_versions))
    return ClientCampaign(
        scenario=scenario,
        drivers=drivers,
        seeds=range(DEFAULT_SEEDS) if arguments.seeds is None else arguments.seeds,
        rate=RATE if arguments.rate is None else arguments.rate,
        bound_s=BOUND_S if arguments.bound is None else arguments.bound,
        api_versions=arguments.api_versions,
        for_s=arguments.for_s,
        out=Path(arguments.out) if arguments.out else None,
    )


def _scenario(arguments: Namespace) -> Scenario:
    from scenarios.language import Scenario
    from scenarios.language.files import load
    from scenarios.studies import clients
    from scenarios.wire.served import PROFILE

    changed = changes(arguments)
    if arguments.file is not None:
        scenario = load(arguments.file, changed, arguments.profile or PROFILE)
    else:
        text = files(clients).joinpath("swarm.toml").read_text(encoding="utf-8")
        scenario = Scenario.loads(text, profile=arguments.profile or PROFILE)
        scenario = scenario.with_overrides(dict(changed)) if changed else scenario
    return scenario.for_run(profile=arguments.profile)


@define(eq=False)
class _ClientsTold:
    """Prints a campaign's findings, during the campaign and at its end."""

    arguments: Namespace
    campaign: ClientCampaign
    runs: int = 0
    failed: int = 0
    began: float = field(factory=time.monotonic)
    progress: Progress = field(init=False)

    def __attrs_post_init__(self) -> None:
        total = self.total if self.campaign.for_s is None else self.campaign.for_s
        self.progress = Progress("chaos", output.progress, total)

    @property
    def text(self) -> bool:
        return self.arguments.format == "text" and not self.arguments.quiet

    @property
    def total(self) -> int:
        return len(self.campaign.seeds) * len(self.campaign.drivers)

    def kept(self) -> str:
        return f"{self.runs} of {self.total} runs"

    def take(self, outcome: ClientOutcome) -> None:
        self.runs += 1
        self.failed += bool(outcome.findings)
        if self.text:
            for line in self._lines(outcome):
                say(line)
            output.show()
        done = self.runs if self.campaign.for_s is None else time.monotonic() - self.began
        self.progress.report_seldom(done, lambda _: f"{self.kept()}, {self.failed} failed")

    def _lines(self, outcome: ClientOutcome) -> Iterator[str]:
        name = f"seed {outcome.seed}, {outcome.client} {outcome.version}".rstrip()
        if self.arguments.verbose:
            yield f"{name}: {'; '.join(outcome.settings)}; kinds: {', '.join(outcome.kinds)}"
        for found in outcome.findings:
            yield f"{name}, {outcome.profile}: {output.red(found.judge)}: {found.detail}"
            yield f"  it may be {found.whose}"
        if outcome.findings:
            if not self.arguments.verbose:
                yield f"  settings: {'; '.join(outcome.settings)}"
            if outcome.replay:
                yield f"  replay: {outcome.replay}"
            if outcome.same is False:
                yield "  its replay gave other events, which is a defect of this program"
        elif self.arguments.verbose:
            yield f"{name}: passed, {outcome.acked} of {outcome.sent} records acknowledged, {outcome.failed} failed"

    def end(self, outcomes: list[ClientOutcome]) -> Iterator[str]:
        from scenarios.studies.clients.outcome_table import lines

        failed = [outcome for outcome in outcomes if outcome.findings]
        yield from lines(outcomes)
        yield f"{len(outcomes) - len(failed)} of {counted(len(outcomes), 'runs')} passed"
        judges = dict.fromkeys(found.judge for outcome in failed for found in outcome.findings)
        for judge in judges:
            of_it = [outcome for outcome in failed if any(found.judge == judge for found in outcome.findings)]
            yield f"  {judge}: {counted(len(of_it), 'runs')}, first: {of_it[0].replay or f'seed {of_it[0].seed}'}"

    def summary(self, outcomes: list[ClientOutcome]) -> dict[str, object]:
        """The object of ``--format json``."""
        from scenarios.studies.clients.outcome_table import rows

        return {
            "runs": len(outcomes),
            "passed": sum(not outcome.findings for outcome in outcomes),
            "failed": [asdict(outcome) for outcome in outcomes if outcome.findings],
            "table": [asdict(row) for row in rows(outcomes)],
        }
