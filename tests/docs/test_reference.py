"""The pages about scenario files say what the program does: the tables of docs/reference/scenario-file.md are the
declarations', the TOML of the guides is valid, and the example of docs/use/scenarios.md runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from emulator.protocol.configs import config_keys
from emulator.protocol.znodes import broker_entity
from fetchers.quota import QuotaManagers
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language.kafka_settings import BROKER_SETTINGS, CONFIG_CLASSES, QUOTA_RATES
from scenarios.language.scenario_reference import main, sections
from scenarios.pages import into_page
from tests.docs.pages import ROOT, fenced, text_of

PAGE = "scenario-file.md"
GUIDE = "scenarios.md"
SMALLEST, EXAMPLE, *ADDITIONS = fenced(GUIDE, "toml")
TOML = [SMALLEST, EXAMPLE, *ADDITIONS, *fenced("actions.md", "toml")]


def test_the_page_holds_every_table_as_it_is_rendered() -> None:
    page = text_of(PAGE)
    assert into_page(page, sections()) == page, (
        f"run: python -m scenarios.language.scenario_reference docs/reference/{PAGE}"
    )
    assert set(re.findall(r"<!-- reference: (\S+) -->", page)) == set(sections())


def test_an_outdated_page_is_noticed_and_can_be_updated(tmp_path: Path) -> None:
    page = text_of(PAGE)
    old = tmp_path / PAGE
    old.write_text(page.replace("| `brokers` | integer 1 to 10,000 |", "| `brokers` | integer 1 to 9 |"))
    assert old.read_text() != page
    main([str(old)])
    assert old.read_text() == page


def test_a_mark_of_no_section_is_refused() -> None:
    with pytest.raises(BadInput, match="no section is called 'nothing'"):
        into_page("<!-- reference: nothing -->\n<!-- end -->", sections())


def test_every_section_can_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    out = capsys.readouterr().out
    assert all(table in out for table in sections().values())


@pytest.mark.parametrize("block", TOML, ids=lambda block: block.place)
def test_every_block_of_toml_is_valid(block: object) -> None:
    """A block without a title is added to the smallest file."""
    text = getattr(block, "text", "")
    Scenario.loads(text if "title =" in text else SMALLEST.text + text, source=getattr(block, "place", ""))


@pytest.mark.parametrize("strategy", ["wiki", "kafka-6794"])
def test_the_worked_example_passes(strategy: str) -> None:
    run = Scenario.loads(EXAMPLE.text).run(strategy=strategy)
    assert run.passed, run.explanation


def test_the_worked_example_can_fail() -> None:
    late = Scenario.loads(EXAMPLE.text).with_overrides({"method[2].duration": "2m"}).run()
    assert (late.verdict, late.reason) == ("failed", "expectation")


def test_every_setting_on_the_page_is_read_by_something() -> None:
    rooms = ("brokers", "controller", "fetchers", "scenarios/profiles", "scenarios/cluster", "scenarios/wire/security")
    code = "".join(path.read_text() for room in rooms for path in (ROOT / room).rglob("*.py"))
    declared = [(key.name, holder) for cls in CONFIG_CLASSES for holder, key in config_keys(cls).items()]
    assert {name for name, _holder in declared} == set(BROKER_SETTINGS)
    assert [name for name, holder in declared if not re.search(rf"\.{holder}\b", code)] == []


@pytest.mark.parametrize("name", QUOTA_RATES)
def test_every_rate_on_the_page_has_an_effect(name: str) -> None:
    quotas = QuotaManagers.windowed(0, 11, 1_000_000)
    quotas.configured(broker_entity(0), {name: "4096"})
    throttles = (quotas.leader, quotas.follower, quotas.alter_log_dirs)
    assert sorted(quota.rate for each in throttles for quota in (each.listed, each.reassigned))[0] == 4096
