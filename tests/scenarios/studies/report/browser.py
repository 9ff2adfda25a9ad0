"""Reports in the Chromium of this machine. What a page writes on its console as a warning or an error, what it throws,
and what it asks of any address but its own file is a fault."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from attrs import define

AXE = Path(__file__).parent / "axe.min.js"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MOST_MS = 60_000
"""The longest that anything may take on a busy machine."""
OWN = ("file:", "data:", "blob:")


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser. Skips the test, with the reason, where none is installed."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip(f"no browser is installed: install one of {', '.join(NAMES)} with the system's packages")
    with driver.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield Browser(running)
        finally:
            running.close()


@define(eq=False)
class Browser:
    """Opens pages, each with a context of its own."""

    _running: Any

    @contextmanager
    def opened(self, path: Path, *, width: int = 1400, height: int = 900, theme: str = "light") -> Iterator[Any]:
        """The page (``playwright.sync_api.Page``) of a file. Raises: AssertionError at its end if it had faults."""
        context = self._running.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,
            reduced_motion="reduce",
            accept_downloads=True,
        )
        page = context.new_page()
        page.set_default_timeout(MOST_MS)
        faults: list[str] = []

        def said(message: Any) -> None:
            if message.type in ("error", "warning"):
                faults.append(f"console: {message.text}")

        def asked(request: Any) -> None:
            if not request.url.startswith(OWN):
                faults.append(f"request: {request.url}")

        page.on("console", said)
        page.on("request", asked)
        page.on("pageerror", lambda error: faults.append(f"thrown: {error}"))
        page.goto(path.as_uri())
        yield page
        context.close()
        assert faults == []


def wait_until(page: Any, expression: str) -> None:
    """Wait for ``expression`` to be true. Playwright's own ``wait_for_function`` evaluates text in the page once its
    first look has failed, which the page's security policy forbids. Raises: AssertionError."""
    late_s = time.monotonic() + MOST_MS / 1000
    while not page.evaluate(expression):
        assert time.monotonic() < late_s, f"still false: {expression}"
        page.wait_for_timeout(20)


def serious(page: Any) -> list[str]:
    """The serious and critical accessibility faults that axe-core finds, with the elements."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run({ resultTypes: ['violations'] })")
    return [
        f"{one['id']}: {one['help']}: {[node['html'][:160] for node in one['nodes'][:3]]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]


def cut(page: Any) -> list[str]:
    """The labels of figures that reach out of their drawing or are shortened: ``figure: text``."""
    return list(
        page.evaluate("""[...document.querySelectorAll('.drawing > svg')].flatMap((drawing) => {
          const whole = drawing.getBoundingClientRect();
          const out = ({ left, right, top, bottom }) => left < whole.left - 2 || right > whole.right + 2
            || top < whole.top - 2 || bottom > whole.bottom + 2;
          return [...drawing.querySelectorAll('text')]
            .filter((text) => text.textContent && (out(text.getBoundingClientRect()) || text.textContent.includes('…')))
            .map((text) => `${drawing.closest('figure').id}: ${text.textContent}`);
        })""")
    )
