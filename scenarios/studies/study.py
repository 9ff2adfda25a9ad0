"""A study in Python: ``Study.load(FILE).sweep(DIR)``, then ``compare`` and the tables as pandas' or Spark's frames.

Everything blocks until it is done, also in a notebook, whose own loop goes on afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field

from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language.files import load
from scenarios.language.schema.overrides import value_text
from scenarios.language.study_spec import parse_seeds
from scenarios.studies.design import Axis, Design, Words
from scenarios.studies.report.results import LOCAL, Results

if TYPE_CHECKING:
    from scenarios.studies.statistics.result import Comparison

_ARGUMENTS = Words(seeds="seeds", strategies="strategies", profiles="profiles", grid="grid")


@define
class Study:
    """A scenario, what is run of it, and what came of that.

    Example:
        >>> study = Study.load("mine.toml")
        >>> study.sweep("data/mine", seeds="0:20", strategies=["wiki", "kafka-6794"])
        >>> study.compare()

    Attributes:
        results: results of the last ``sweep``; None before.
    """

    scenario: Scenario
    results: Results | None = field(default=None, init=False)

    @classmethod
    def load(cls, name: str | Path, changes: Mapping[str, object] | None = None) -> Study:
        """The study in a scenario file, or the one of that name that comes with the tool (``understudy list studies``).

        Args:
            changes: keys by their paths, as ``--set``.

        Raises: BadInput.
        """
        return cls(load(str(name), (changes or {}).items()))

    def design(
        self,
        *,
        seeds: str | Iterable[int] = (),
        strategies: Sequence[str] = (),
        profiles: Sequence[str] = (),
        grid: Mapping[str, Sequence[object]] | None = None,
    ) -> Design:
        """The design that ``sweep`` runs with these options. Options that are not named are those of the file's
        ``[study]``.

        Args:
            seeds: ``"0:20"``, or numbers.
            grid: key of the scenario to its values: ``{"strategy.throttle": ["10MB/s", "20MB/s"]}``.

        Raises: BadInput for a design of which not every run can be done.
        """
        return Design.of(
            self.scenario,
            seeds=parse_seeds(seeds) if isinstance(seeds, str) else tuple(seeds),
            strategies=strategies,
            profiles=profiles,
            grid=[Axis(key, tuple(map(value_text, values))) for key, values in (grid or {}).items()],
            words=_ARGUMENTS,
        )

    def sweep(
        self,
        out: str | Path,
        *,
        seeds: str | Iterable[int] = (),
        strategies: Sequence[str] = (),
        profiles: Sequence[str] = (),
        grid: Mapping[str, Sequence[object]] | None = None,
        master: str = LOCAL,
        experiment: str = "sweep",
        progress: Callable[[str], object] = lambda line: None,
    ) -> Results:
        """Run the design on Spark and write the data set ``out``; runs that are in it already are not run again.

        Args:
            seeds, strategies, profiles, grid: options, as for ``design``.
            master: Spark's; a session that is there already is used as it is.
            progress: called with a line now and then, such as ``print``.

        Raises: BadInput; JavaMissing; SweepInterrupted on Ctrl-C; SweepFailed.
        """
        from scenarios.studies.spark.sweep import sweep

        design = self.design(seeds=seeds, strategies=strategies, profiles=profiles, grid=grid)
        sweep(design, out, master=master, experiment=experiment, progress=progress)
        self.results = Results.open(out)
        return self.results

    def compare(self, **options: Any) -> Comparison:
        """``Results.compare`` of the last sweep. Raises: BadInput, also before any sweep."""
        if self.results is None:
            raise BadInput("nothing was swept yet; call sweep(DIR), or Results.open(DIR) for a folder that is there")
        return self.results.compare(**options)
