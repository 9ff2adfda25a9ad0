"""The trial of one candidate: whether its run gives the finding."""

from __future__ import annotations

import json
from typing import NamedTuple

from attrs import evolve

from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.runs.finding import Finding
from scenarios.runs.findings import findings
from scenarios.runs.known_findings import known

TOOL = "tool"
"""The checker's name where the program raised an exception."""


class Trial(NamedTuple):
    """A candidate as it travels to a worker: plain values.

    Attributes:
        document: the scenario's table as JSON.
        finding: the finding that the candidate has to give.
        by_bugs: whether the finding must be absent where the scenario's ``bugs`` are switched off, so that the result
            stays a case of them.
        by_itself: whether no known behaviour of the release may explain the finding. So a new finding does not become a
            case of a known one.
    """

    document: str
    finding: Finding
    by_bugs: bool = False
    by_itself: bool = False


def found_in(scenario: Scenario, *, by_itself: bool = False) -> tuple[Finding, ...]:
    """The findings of a run, ``by_itself`` without the known ones. If the program raises, the exception is the finding.

    Raises: BadInput where the scenario is refused.
    """
    try:
        run = scenario.run()
        return tuple(one for one in findings(run) if not (by_itself and known(run, one)))
    except BadInput:
        raise
    except Exception as error:
        kind = type(error).__name__
        state = next(iter(str(error).splitlines()), "")
        return (Finding(TOOL, kind, statement=f"the program does not raise {kind}", state=state),)


def gives(trial: Trial) -> bool:
    """Whether a run of the candidate has the finding. A scenario that is refused when it is run has none."""
    try:
        scenario = Scenario.from_table(json.loads(trial.document))
        if trial.finding not in found_in(scenario, by_itself=trial.by_itself):
            return False
        return not (trial.by_bugs and trial.finding in found_in(evolve(scenario, bugs=())))
    except BadInput:
        return False
