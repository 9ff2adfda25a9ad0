"""One candidate tried: does its run give the finding?"""

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
        finding: that which the candidate has to give.
        by_bugs: the finding has to be gone where the scenario's ``bugs`` are switched off, so that what is found stays
            a case of them.
        by_itself: no known behaviour of the release may explain the finding, so that what nothing explains does not
            become a case of what is known.
    """

    document: str
    finding: Finding
    by_bugs: bool = False
    by_itself: bool = False


def found_in(scenario: Scenario, *, by_itself: bool = False) -> tuple[Finding, ...]:
    """The findings of a run, ``by_itself`` without the known ones; one that the program could not finish has the
    exception as its finding.

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
