"""The shell of the reports: escaping, the content security policy, and that the drawing library is what npm built."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from scenarios.studies.report.html_page import Page, Section, as_json, asset, choice, figure, table
from scenarios.studies.report.markup import Html, element, joined

ASSETS = Path(__file__).parents[4] / "scenarios" / "studies" / "report" / "assets"
HOSTILE = """</script><script>alert("1")</script><img src=x onerror='alert(2)'>&amp;"""


def test_text_is_escaped_and_html_is_not() -> None:
    made = element("p", "a < b & c", element("b", "<i>"), Html("<hr>"), title='"quoted"', hidden=False, data_x=True)
    assert made == '<p title="&quot;quoted&quot;" data-x>a &lt; b &amp; c<b>&lt;i&gt;</b><hr></p>'
    assert joined("<", None, Html("<br>")) == "&lt;<br>"
    assert element("input", type="text", class_="wide") == '<input type="text" class="wide">'


def test_no_text_of_a_file_can_end_the_script_of_the_data() -> None:
    text = as_json({"title": HOSTILE, "separators": "\u2028"})
    assert not re.search("[<>&\u2028]", text)
    assert json.loads(text)["title"] == HOSTILE
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_json([float("nan")])


def page(**changed: str) -> str:
    parts: dict[str, Any] = {
        "title": "A title",
        "about": "two strategies",
        "command": "understudy report",
        "version": "1",
    }
    lead = element("p", "The answer")
    sections = [Section(id="one", title="One", body=figure("plot", "A plot", "What it shows"))]
    return Page(**{**parts, **changed}, lead=lead, sections=sections, script="compared", data=changed).render()


def test_a_page_holds_all_it_needs_and_its_policy_allows_nothing_else() -> None:
    made = page()
    assert made.count("<script>") == 4
    assert not re.search(
        r"""\b(src|srcset|action|formaction)=["']?(?!data:)""", made.replace(asset("libraries.js"), "")
    )
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', made)
    assert "default-src &#x27;none&#x27;" in policy
    assert policy.count("sha256-") == 4
    assert "unsafe-inline" not in policy.partition("script-src")[2]


def test_hostile_names_stay_text() -> None:
    made = page(title=HOSTILE, about=HOSTILE, command=HOSTILE)
    assert "<img" not in made.replace(asset("libraries.js"), "")
    assert made.count("<script>") == page().count("<script>")


def test_a_page_stays_below_a_megabyte_without_its_data() -> None:
    assert len(page().encode()) < 700_000


def test_the_parts_of_a_page_are_labelled() -> None:
    made = table(["Figure", "wiki"], [["lag", "3"]], caption="Medians", numeric=[1])
    assert '<th scope="row">lag</th><td class="number">3</td>' in made
    assert "<caption><span>Medians</span></caption>" in made
    made = choice("x", "Horizontal", [("a", "A"), ("b", "B")], "b")
    assert '<option value="b" selected>B</option>' in made


def test_the_drawing_library_is_what_its_lock_file_and_sources_build() -> None:
    """Its first lines hold digests of what it was built from, and of what was built."""
    head, _, body = (ASSETS / "libraries.js").read_text().partition(" */\n")
    digests = dict(line.removeprefix(" * ").split() for line in head.splitlines()[2:])
    sources = ["package-lock.json", "entry.js", "bundle.js"]
    built = {name: hashlib.sha256((ASSETS / "libraries" / name).read_bytes()).hexdigest() for name in sources}
    again = "run npm ci && npm run bundle in scenarios/studies/report/assets/libraries"
    assert digests == {**built, "below": hashlib.sha256(body.encode()).hexdigest()}, again


def test_the_lock_file_pins_what_is_asked_for_and_every_bundled_package_has_its_licence() -> None:
    asked = json.loads((ASSETS / "libraries" / "package.json").read_text())
    locked = json.loads((ASSETS / "libraries" / "package-lock.json").read_text())["packages"]
    for name, version in {**asked["dependencies"], **asked["devDependencies"]}.items():
        assert locked[f"node_modules/{name}"]["version"] == version
    licences = (ASSETS / "LICENSES.txt").read_text()
    for name in asked["dependencies"]:
        if name != "d3":  # only re-exports its parts
            assert f"{name} {locked[f'node_modules/{name}']['version']} (ISC)" in licences
    for name, version, licence in re.findall(r"^(\S+) (\d\S*) \((.*)\)$", licences, re.MULTILINE):
        assert locked[f"node_modules/{name}"]["version"] == version
        assert licence in ("ISC", "MIT", "BSD-3-Clause", "Unlicense")
