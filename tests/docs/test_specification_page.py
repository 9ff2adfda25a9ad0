"""docs/specification/README.md names the modules and configurations that there are, and where each constant is from."""

import re
from pathlib import Path

import pytest

from benchmarks.specification import pages
from benchmarks.specification.checker import SPECIFICATION
from benchmarks.specification.questions import AS_IT_IS, AS_MEANT, CONFIGURATIONS
from scenarios.language import Scenario
from scenarios.observe.specification.constants import CONSTANTS, MEANT, RELEASES, true_in
from scenarios.pages import into_page
from scenarios.runs import run_scenario

MODULES = {path.stem: path.read_text(encoding="utf-8") for path in SPECIFICATION.glob("*.tla")}
PAGE = pages.PAGE.read_text(encoding="utf-8")


def uses(text: str, name: str) -> int:
    """How often a module's text has a name, comments left out."""
    return len(re.findall(rf"\b{name}\b", re.sub(r"\\\*.*|\(\*.*?\*\)", "", text)))


def test_the_tables_are_those_of_the_constants_and_configurations() -> None:
    assert into_page(PAGE, pages.sections()) == PAGE, "run: python -m benchmarks.specification --render"


def test_each_configuration_is_there_as_it_is_rendered_and_no_other() -> None:
    there = {path.name: path.read_text(encoding="utf-8") for path in SPECIFICATION.glob("*.cfg")}
    assert there == pages.files(), "run: python -m benchmarks.specification --render"


def test_each_module_is_named_and_each_that_is_named_is_there() -> None:
    assert set(re.findall(r"\]\((\w+)\.tla\)", PAGE)) == set(MODULES)


def test_each_property_that_is_asked_for_is_defined_and_named_on_the_page() -> None:
    asked = {name for one in CONFIGURATIONS for name in (*one.invariants, *one.properties)}
    for name in asked:
        assert re.search(rf"^{name} ==", MODULES["Kafka"], re.MULTILINE), name
        assert f"| `{name}` |" in PAGE, name


def test_each_constant_decides_something_and_has_a_source() -> None:
    for constant in CONSTANTS:
        assert sum(uses(text, constant.name) for text in MODULES.values()) > 1, f"{constant.name} is only declared"
        assert re.search(r"KIP-\d+|KAFKA-\d+|no ticket", constant.source), constant.name
        assert re.search(r"`\w+\.\w+`|`\w+`", constant.source), f"{constant.name} names no method"
        assert any(f"({release}" in constant.source or f" {release}" in constant.source for release in RELEASES)


def test_the_constants_of_the_text_are_those_of_the_table() -> None:
    declared = re.findall(r"^  (\w+),? +\\\*", MODULES["Cluster"].split("What a release does")[1], re.MULTILINE)
    assert declared[: len(CONSTANTS)] == [constant.name for constant in CONSTANTS]


def test_each_property_is_broken_by_a_configuration_or_the_page_says_that_none_does() -> None:
    asked = {name for one in CONFIGURATIONS for name in (*one.invariants, *one.properties)}
    broken = {one.finds for one in AS_IT_IS if one.finds}
    unbroken = PAGE.split("No configuration breaks ")[1].split(":")[0]
    assert asked - broken == set(re.findall(r"`(\w+)`", unbroken)) & asked


def test_none_of_the_configurations_as_meant_finds_anything() -> None:
    assert not any(one.finds for one in AS_MEANT)
    assert not true_in(MEANT)
    with pytest.raises(LookupError, match=r"no release 9.9; there are 0\.8\.0, .*meant"):
        true_in("9.9")


def test_a_changed_configuration_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "README.md"
    page.write_text(PAGE.replace("| `LeaderCompleteness` |", "| x |"), encoding="utf-8")
    (tmp_path / "old.cfg").write_text("of a configuration that went")
    monkeypatch.setattr(pages, "SPECIFICATION", tmp_path)
    monkeypatch.setattr(pages, "PAGE", page)
    assert pages.render() == 0
    assert {path.name for path in tmp_path.glob("*.cfg")} == set(pages.files())


@pytest.mark.parametrize("file", sorted(SPECIFICATION.glob("*.toml")), ids=lambda file: file.stem)
def test_the_emulator_agrees_with_a_counterexample(file: Path) -> None:
    assert file.with_suffix(".cfg").name in PAGE
    run = run_scenario(Scenario.load(file))
    ((reason, findings),) = run.known
    assert reason.ticket == "Partition.maybeIncrementLeaderHW (0.10.2 to 3.9)"
    assert {finding.checker for finding in findings} == {"no_acked_record_lost", "leader_completeness", "log_matching"}
    assert {each.invariant for each in run.violations} == {finding.checker for finding in findings}
