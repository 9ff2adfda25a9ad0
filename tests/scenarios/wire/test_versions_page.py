"""docs/understand/limits.md lists what brokers of a profile's release have and clients are not served."""

import re
from pathlib import Path

from scenarios.pages import into_page, write_into
from scenarios.wire.versions_page import sections
from tests.docs.pages import text_of

PAGE = "limits.md"


def test_the_page_holds_the_list_as_it_is_rendered() -> None:
    page = text_of(PAGE)
    assert into_page(page, sections()) == page, "run: python -m scenarios.wire.versions_page docs/understand/limits.md"
    assert set(re.findall(r"<!-- reference: (\S+) -->", page)) == set(sections())


def test_an_outdated_list_is_noticed_and_can_be_updated(tmp_path: Path) -> None:
    page = text_of(PAGE)
    old = tmp_path / PAGE
    old.write_text(page.replace("| Produce | 0 to 2 |", "| Produce | 0 to 9 |"))
    assert old.read_text() != page
    write_into(str(old), sections())
    assert old.read_text() == page
