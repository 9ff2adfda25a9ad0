"""Many runs: each seed under each driver, shared among processes, written as they are done, each reported once."""

from __future__ import annotations

import json
import math
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from attrs import asdict, frozen

from scenarios.chaos.draw import kinds_of
from scenarios.errors import BadInput
from scenarios.language.scenario import Scenario
from scenarios.runs.batch import Chunk, Workers
from scenarios.runs.dataset.identity import VERSION, code_digest
from scenarios.studies.chaos.campaign_results import CampaignResults
from scenarios.studies.clients.attached_run import AttachedCase, AttachedRun, attached_run
from scenarios.studies.clients.attribution import TOOL, OutcomeFinding
from scenarios.studies.clients.client_drivers import ClientDriver
from scenarios.studies.clients.client_outcome import ClientOutcome, outcome_of

SEEN = "seen.jsonl"


@frozen(kw_only=True)
class ClientCampaign:
    """The request.

    Attributes:
        seeds: each is run under every driver.
        for_s: the real time after which no further run begins; None: all are run.
        out: the folder for results and for the recordings of runs with findings; None: the latter are kept among the
            temporary files.
    """

    scenario: Scenario
    drivers: Sequence[ClientDriver]
    seeds: Sequence[int]
    rate: float
    bound_s: float
    api_versions: str | None = None
    for_s: float | None = None
    out: Path | None = None

    def identity(self) -> dict[str, object]:
        """The properties that all results in one folder share."""
        return {
            "clients": True,
            "scenario": self.scenario.digest(),
            "profile": self.scenario.profile,
            "rate": self.rate,
            "version": VERSION,
            "code": code_digest(),
        }


@frozen(kw_only=True)
class ClientTask:
    """One run of a campaign."""

    driver: ClientDriver
    seed: int


@frozen
class ClientChunk(Chunk[ClientCampaign, ClientTask]):
    """Runs of one worker.

    Attributes:
        ends_s: the time from which on no run begins, as ``time.time`` has it.
    """

    ends_s: float = math.inf


def work(chunk: ClientChunk) -> tuple[ClientOutcome, ...]:
    """Carry out the runs of a chunk, in any process. Raises: BadInput."""
    return tuple(_outcomes(chunk))


def _outcomes(chunk: ClientChunk) -> Iterator[ClientOutcome]:
    for task in chunk.items:
        if time.time() < chunk.ends_s:
            yield one_run(chunk.common, task)


def one_run(campaign: ClientCampaign, task: ClientTask) -> ClientOutcome:
    """Carry out one run. Its folder stays where there is a finding. Raises: BadInput."""
    name = f"{''.join(letter if letter.isalnum() else '-' for letter in task.driver.name)[:40]}-seed-{task.seed}"
    folder = Path(tempfile.mkdtemp(prefix="understudy-clients-")) / name
    if campaign.out is not None:
        folder.parent.rmdir()
        folder = campaign.out / name
        shutil.rmtree(folder, ignore_errors=True)  # a run that was interrupted
    case = AttachedCase(
        scenario=campaign.scenario, driver=task.driver, seed=task.seed, rate=campaign.rate, bound_s=campaign.bound_s,
        api_versions=campaign.api_versions,
    )  # fmt: skip
    began = time.monotonic()
    try:
        found = attached_run(case, folder)
        outcome = outcome_of(found, folder, time.monotonic() - began)
    except BadInput:
        raise
    except Exception as error:  # a defect of the program is a result too: it has a seed
        return _failed(case, error)
    if outcome.findings:
        write_seen(found, folder / SEEN)
    else:
        shutil.rmtree(folder if campaign.out is not None else folder.parent, ignore_errors=True)
    return outcome


def _failed(case: AttachedCase, error: Exception) -> ClientOutcome:
    where = traceback.extract_tb(error.__traceback__)[-1]
    detail = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
    return ClientOutcome(
        driver=case.driver.name, client=case.driver.name, version="", seed=case.seed, profile=case.scenario.profile,
        settings=tuple(plan.words for plan in case.plans), kinds=kinds_of(case.scenario, case.seed),
        findings=(OutcomeFinding(judge=TOOL, detail=detail, whose="this program's"),),
    )  # fmt: skip


def write_seen(found: AttachedRun, path: Path) -> None:
    """Write what the applications saw, a line for each thing, with its time since the first."""
    lines = found.evidence.lines
    first_s = lines[0].at_s if lines else 0.0
    with path.open("w", encoding="utf-8") as file:
        for line in lines:
            table = {
                name: value for name, value in asdict(line).items() if value not in ("", -1, ()) and name != "at_s"
            }
            file.write(json.dumps({"t_s": round(line.at_s - first_s, 3), **table}) + "\n")


def run_campaign(
    campaign: ClientCampaign, workers: Workers, tell: Callable[[ClientOutcome], object]
) -> list[ClientOutcome]:
    """Carry out the runs that are not done yet. ``tell`` is called with each outcome, first with those that are done.

    Raises: BadInput where a driver is none, or the folder cannot be used.
    """
    results = None
    if campaign.out is not None:
        results = CampaignResults(campaign.out, campaign.identity(), ClientOutcome.from_line)
    outcomes: list[ClientOutcome] = []
    try:
        asked = {(driver.name, seed) for driver in campaign.drivers for seed in campaign.seeds}
        done: dict[tuple[str, int], None] = {}
        for outcome in () if results is None else results.read():
            if (outcome.driver, outcome.seed) in asked:
                done[outcome.driver, outcome.seed] = None
                outcomes.append(outcome)
                tell(outcome)
        with closing(workers.in_order(work, _tasks(campaign, done))) as finished:
            for chunk in finished:
                if results is not None:
                    results.add(chunk)
                for outcome in chunk:
                    outcomes.append(outcome)
                    tell(outcome)
    finally:
        if results is not None:
            results.close()
    return outcomes


def _tasks(campaign: ClientCampaign, done: dict[tuple[str, int], None]) -> Iterator[ClientChunk]:
    ends_s = math.inf if campaign.for_s is None else time.time() + campaign.for_s
    for seed in campaign.seeds:
        for driver in campaign.drivers:
            if time.time() >= ends_s:
                return
            if (driver.name, seed) not in done:
                yield ClientChunk(campaign, (ClientTask(driver=driver, seed=seed),), ends_s)
