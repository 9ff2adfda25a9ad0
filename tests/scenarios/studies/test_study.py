"""The study in Python: one call sweeps, one compares; also inside a running asyncio loop, as in a notebook."""

from __future__ import annotations

import asyncio
import signal
import warnings
from pathlib import Path

import pytest

from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.runs.dataset.run_record import FailedRun
from scenarios.runs.dataset.writer import write_chunk
from scenarios.studies.report.results import Results
from scenarios.studies.study import Study
from tests.asynchronous import in_asyncio
from tests.scenarios.language.builders import SMALL, small_and
from tests.scenarios.runs.dataset.runs import spec, write

STUDY = small_and(
    "[study]", 'seeds = "0:2"', 'strategies = ["wiki", "kafka-6794"]', 'compare = ["time_to_complete_s"]',
    'minimum = ["2%"]', "[study.grid]", '"strategy.throttle" = ["10MB/s", "20MB/s"]',
)  # fmt: skip


def loaded(folder: Path, text: str = STUDY) -> Study:
    path = folder / "study.toml"
    path.write_text(text)
    return Study.load(path)


def test_a_design_is_the_files_and_arguments_take_its_place(tmp_path: Path) -> None:
    study = loaded(tmp_path)
    assert len(study.design().arms()) == 4
    other = study.design(seeds=[5], strategies=["wiki"], grid={"topics[0].size": ["1MiB", "2MiB"], "max_events": [9]})
    assert [arm.value_of("topics[0].size") for arm in other.arms()] == ["1MiB", "2MiB"]
    assert other.arms()[0].value_of("max_events") == "9"
    assert study.design(seeds="3:6").seeds == (3, 4, 5)
    with pytest.raises(BadInput, match=r"^grid horizn=5m: unknown key 'horizn'; did you mean 'horizon'"):
        study.design(grid={"horizn": ["5m"]})
    assert Study.load(tmp_path / "study.toml", {"horizon": "5m"}).scenario.horizon_us == 300_000_000


def test_a_study_is_found_by_its_name_as_by_sweep() -> None:
    assert len(Study.load("throttles", {"horizon": "9m"}).design().arms()) > 1
    with pytest.raises(BadInput, match="throttle: there is no such scenario file; did you mean 'throttles'"):
        Study.load("throttle")


def test_nothing_to_compare_before_a_sweep(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="nothing was swept yet; call sweep"):
        loaded(tmp_path).compare()


def test_a_run_in_a_running_loop() -> None:
    """With a signal handler of the loop's own, which Trio would be in the way of."""

    async def notebook() -> str:
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, lambda: None)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            digest: str = Scenario.loads(SMALL).run().digest
            with pytest.raises(BadInput, match="unknown strategy"):
                Scenario.loads(SMALL).run(strategy="wikki")
        await asyncio.sleep(0)
        return digest

    assert in_asyncio(notebook) == Scenario.loads(SMALL).run().digest


def test_results_show_their_arms_and_what_failed(tmp_path: Path) -> None:
    write(tmp_path, 0, 1)
    write_chunk(tmp_path, "e", "wiki", "failed", [FailedRun(spec(2), "ValueError: <b>")])
    results = Results.open(tmp_path)
    assert results.failed == (("wiki", 2, "ValueError: <b>"),)
    shown = results._repr_html_()
    assert "<b>a title</b>: 3 runs" in shown
    assert "<td>wiki</td><td>3</td><td>2</td><td>1</td>" in shown
    assert list(results.to_pandas()["status"]) == ["done", "done", "failed"]
    assert set(results.to_arrow("figures")["run_id"].to_pylist()) == {spec(0).run_id, spec(1).run_id}
