"""docs/reference/bugs-and-guards.md is what the museum renders, and ``understudy museum --page`` has all of it."""

import re

import pytest

from scenarios.museum.exhibits import exhibit, names
from scenarios.museum.museum_page import sections, whole
from scenarios.pages import into_page
from tests.docs.pages import text_of

PAGE = "bugs-and-guards.md"


def test_the_list_is_rendered_from_the_museum() -> None:
    page = text_of(PAGE)
    assert into_page(page, sections()) == page, f"run: python -m scenarios.museum.museum_page docs/reference/{PAGE}"
    assert re.findall(r"^\| \[(\S+)\]", page, re.MULTILINE) == list(names())


@pytest.mark.parametrize("name", ["KAFKA-6526", "fetch_fence"])
def test_the_whole_page_has_the_story_the_case_and_its_run(name: str) -> None:
    one = exhibit(name)
    page = "\n\n".join(whole([one]))
    assert page.startswith(f"# The museum\n\n## {name}\n\n")
    assert one.entry.here in page
    assert f'title = "{one.scenario.title}"' in page
    assert f"FAILED: {one.entry.checker}" in page
