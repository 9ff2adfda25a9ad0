"""The steady-state hypothesis: what must hold while nothing is wrong, or all the time."""

from __future__ import annotations

from attrs import field, frozen

from scenarios.errors import BadInput
from scenarios.language.kinds import Choice
from scenarios.language.metrics import METRICS
from scenarios.language.reader import key
from scenarios.language.tolerance import TOLERANCE, Tolerance

METRIC_NAME = Choice(tuple(METRICS), "metric")
MODES = ("edge", "start", "end", "continuous")
"""Litmus' words: `edge` is before the method and after the rollbacks, `start` and `end` one of them,
`continuous` always."""


@frozen(kw_only=True)
class SteadyState:
    """A metric and the limits within which the cluster is well."""

    metric: str = field(metadata=key(METRIC_NAME, "a gauge or a counter"))
    tolerance: Tolerance = field(metadata=key(TOLERANCE, "the limits, both included"))
    mode: str = field(default="edge", metadata=key(Choice(MODES, "mode"), "when it is looked at"))

    def __attrs_post_init__(self) -> None:
        if METRICS[METRIC_NAME.read(self.metric)].form == "total":
            raise BadInput(
                f"{self.metric!r} is known at the end of a run only; put it in [[expect]]", where="metric"
            )
