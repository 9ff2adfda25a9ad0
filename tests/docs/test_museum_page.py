"""docs/reference/museum.md is what the museum renders."""

import re

from scenarios.museum.exhibits import names
from scenarios.museum.page import sections
from scenarios.pages import into_page
from tests.docs.pages import text_of

PAGE = "museum.md"


def test_the_page_is_rendered_from_the_museum() -> None:
    page = text_of(PAGE)
    assert into_page(page, sections()) == page, "run: python -m scenarios.museum.page docs/reference/museum.md"


def test_every_bug_and_every_guard_has_a_section() -> None:
    assert re.findall(r"^### (\S+)$", text_of(PAGE), re.MULTILINE) == list(names())
