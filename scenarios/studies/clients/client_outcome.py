"""The outcome of one run under chaos: what its application saw, counted, and the findings, as one line of results."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from attrs import asdict, frozen

from scenarios.chaos.draw import kinds_of
from scenarios.runs.known_findings import explained_findings
from scenarios.studies.clients.attached_run import RECORDING, AttachedRun
from scenarios.studies.clients.attribution import STALLS, TOOL, OutcomeFinding, of_cluster, whose
from scenarios.studies.clients.judges import judged
from scenarios.wire.recording.folder import read_live_run, replay_command
from scenarios.wire.recording.replay import ReplayedRun


@frozen(kw_only=True)
class ClientOutcome:
    """The outcome of one run.

    Attributes:
        driver: as ``--clients`` has it; ``client`` and ``version`` are what it says itself.
        settings: what the seed has drawn for the applications, in words.
        kinds: the kinds of faults that the seed has.
        well: whether the cluster was well in time once it was healed.
        sent, acked, failed: records, as the producer reports them.
        lost: records acknowledged outside of transactions that are not in the log, whatever was promised.
        doubled: records that are in the log more than once, whatever was promised.
        stalled, died: whether an application stood still for longer than the bound, or ended by itself.
        known: tickets of what the release does wrong by itself that this run shows.
        replay: the command that shows the run again; empty where its recording is not kept.
        same: whether the replay gave the same events; None: it was not replayed.
    """

    driver: str
    client: str
    version: str
    seed: int
    profile: str
    settings: tuple[str, ...]
    kinds: tuple[str, ...]
    well: bool = True
    sent: int = 0
    acked: int = 0
    failed: int = 0
    lost: int = 0
    doubled: int = 0
    stalled: bool = False
    died: bool = False
    findings: tuple[OutcomeFinding, ...] = ()
    known: tuple[str, ...] = ()
    replay: str = ""
    same: bool | None = None
    wall_s: float = 0.0

    def to_line(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_line(cls, line: str) -> ClientOutcome:
        """The outcome in a line. Raises: BadInput, ValueError, KeyError or TypeError for a line that is not whole."""
        try:
            table = json.loads(line)
        except RecursionError as error:
            raise ValueError("no result is nested so deeply") from error
        table["findings"] = tuple(OutcomeFinding(**one) for one in table["findings"])
        table |= {name: tuple(table[name]) for name in ("settings", "kinds", "known")}
        return cls(**table)

    @property
    def tool_failed(self) -> bool:
        return any(found.judge == TOOL for found in self.findings)


def outcome_of(found: AttachedRun, folder: Path, wall_s: float) -> ClientOutcome:
    """The outcome of a run that has been carried out in ``folder``. Where there are findings it is replayed."""
    evidence, case, run = found.evidence, found.case, found.run
    explained = explained_findings(run)
    seen = judged(evidence)
    findings = [
        *(OutcomeFinding(judge=one.judge, detail=one.detail, whose=whose(one, found, explained)) for one in seen),
        *of_cluster(found, explained),
    ]
    acked = [line.record for plan in evidence.writers for line in evidence.of(plan.name, "acked")]
    of_none = [record for record in acked if record in evidence.sent and evidence.sent[record].transaction < 0]
    counted = Counter(line.seen for line in evidence.lines)
    judges = {one.judge for one in seen}
    return ClientOutcome(
        driver=case.driver.name,
        client=found.client,
        version=found.version,
        seed=case.seed,
        profile=run.profile,
        settings=tuple(plan.words for plan in evidence.plans.values()),
        kinds=kinds_of(case.scenario, case.seed),
        well=found.well,
        sent=counted["sent"],
        acked=counted["acked"],
        failed=counted["failed"],
        lost=0 if evidence.log is None else sum(record not in evidence.places for record in of_none),
        doubled=sum(len(places) > 1 for places in evidence.places.values()),
        stalled=bool(judges.intersection(STALLS)),
        died="client_died" in judges,
        findings=tuple(findings),
        known=tuple(dict.fromkeys(reason.ticket for reason, _ in explained.known)),
        replay=replay_command(folder / RECORDING) if findings else "",
        same=ReplayedRun(read_live_run(folder / RECORDING)).play().same if findings else None,
        wall_s=round(wall_s, 1),
    )
