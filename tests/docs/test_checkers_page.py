"""docs/checkers.md: it names every checker, and the checker that it teaches works as it stands there."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any, cast

import pytest

from controller.fencing import Fenced
from scenarios.cli.files import load
from scenarios.observe.checkers import REGISTRY, Checker
from tests.docs.pages import fenced, text_of

PAGE = "checkers.md"
NAME = "one_controller_per_epoch"


@pytest.fixture
def taught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[Checker]:
    """The page's one block, as a file of its own, named in the registry."""
    (block,) = fenced(PAGE, "python")
    path = tmp_path / f"{NAME}.py"
    path.write_text(block.text)
    spec = importlib.util.spec_from_file_location(NAME, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Annotations are looked up in the module's namespace.
    monkeypatch.setitem(__import__("sys").modules, NAME, module)
    spec.loader.exec_module(module)
    kind: type[Checker] = module.OneControllerPerEpoch
    monkeypatch.setitem(cast("dict[str, type[Checker]]", REGISTRY), kind.name, kind)
    return kind


def test_the_checker_of_the_page_is_one(taught: type[Checker]) -> None:
    assert taught.name == NAME
    assert ": " in taught.statement
    assert taught.__doc__ is not None
    assert "Verified: " in taught.__doc__
    assert "Not verified: " in taught.__doc__


def test_it_is_content_with_an_honest_cluster(taught: type[Checker]) -> None:
    run = load("controller-dies-mid-move").run()
    assert run.passed, run.explanation


def test_it_notices_a_controller_that_takes_the_epoch_of_another(
    taught: type[Checker], monkeypatch: pytest.MonkeyPatch
) -> None:
    register = Fenced.register

    async def always_the_first(fencing: Fenced, controller: Any) -> tuple[int, int]:
        _, version = await register(fencing, controller)
        return 1, version

    monkeypatch.setattr(Fenced, "register", always_the_first)
    run = load("controller-dies-mid-move").run()
    assert (run.verdict, run.reason) == ("failed", "violated")
    found = {violation.invariant: violation for violation in run.violations}
    assert found[NAME].state.startswith("epoch 1: broker 6 and broker ")


@pytest.mark.parametrize("kind", REGISTRY.values(), ids=REGISTRY)
def test_every_checker_is_on_the_page_with_what_it_catches(kind: type[Checker]) -> None:
    page = text_of(PAGE)
    assert f"**`{kind.name}`.**" in page
    assert ", ".join(kind.catches) in page
    assert kind.statement.rpartition(": ")[2] in page
