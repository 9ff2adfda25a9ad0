"""The page on real clients: its scenario and its operations are read as they stand there."""

import json

from scenarios.language import Scenario
from scenarios.language.checks import check_operation
from scenarios.language.entries import METHOD_ENTRY
from tests.docs.pages import fenced


def test_the_scenario_of_the_page_is_one() -> None:
    block, *_settings = fenced("serve.md", "toml")
    assert Scenario.loads(block.text).attached == ("billing",)


def test_the_operations_of_the_page_are_entries() -> None:
    *_, operations = fenced("serve.md", "text")
    read = [json.loads(line) for line in operations.text.splitlines()]
    assert len(read) == 2
    for asked in read:
        check_operation(
            Scenario.from_table({"title": "t", "cluster": {"brokers": 3}}),
            METHOD_ENTRY.read({"at": "1s"} | asked if "when" not in asked else asked),
        )
