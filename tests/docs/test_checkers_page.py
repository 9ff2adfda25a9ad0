"""docs/reference/checker-list.md is rendered from the checkers; the checker that the guide teaches works as printed."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.fencing import Fenced, Registered
from scenarios.language import INVARIANTS
from scenarios.language.files import load
from scenarios.observe import checkers, invariants
from scenarios.observe.checkers import REGISTRY, Checker, register
from scenarios.observe.checkers_page import catches, sections
from scenarios.observe.promises import PROMISES, Promise
from scenarios.pages import into_page
from tests.docs.pages import fenced, text_of

GUIDE, PAGE = "checkers.md", "checker-list.md"
NAME = "one_controller_per_epoch"


@pytest.fixture
def taught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Checker]]:
    """The guide's one block, as a file of its own outside the package, registered."""
    (block,) = fenced(GUIDE, "python")
    path = tmp_path / f"{NAME}.py"
    path.write_text(block.text)
    spec = importlib.util.spec_from_file_location(NAME, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Annotations are looked up in the module's namespace.
    monkeypatch.setitem(sys.modules, NAME, module)
    spec.loader.exec_module(module)
    yield register(module.OneControllerPerEpoch)
    del REGISTRY[NAME], invariants.ADDED[NAME]


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

    async def always_the_first(fencing: Fenced, zk: Any, process: Any) -> Registered:
        _, version = await register(fencing, zk, process)
        return Registered(1, version)

    monkeypatch.setattr(Fenced, "register", always_the_first)
    run = load("controller-dies-mid-move").run()
    assert (run.verdict, run.reason) == ("failed", "violated")
    found = {violation.invariant: violation for violation in run.violations}
    assert found[NAME].state.startswith("epoch 1: broker 6 and broker ")


def test_the_page_is_rendered_from_the_checkers() -> None:
    page = text_of(PAGE)
    assert into_page(page, sections()) == page, f"run: python -m scenarios.observe.checkers_page docs/reference/{PAGE}"
    assert re.findall(r"<!-- reference: (\S+) -->", page) == list(sections())


@pytest.mark.parametrize("kind", REGISTRY.values(), ids=REGISTRY)
def test_every_checker_is_on_the_page_with_what_it_catches(kind: type[Checker]) -> None:
    page = text_of(PAGE)
    assert f"**`{kind.name}`.**" in page
    assert ", ".join(catches(kind)) in page
    assert kind.sentence() in page


def test_a_file_in_the_package_is_all_that_a_new_checker_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name may be expected, and ``list invariants`` has its statement; the others keep their order."""
    (block,) = fenced(GUIDE, "python")
    (tmp_path / f"{NAME}.py").write_text(block.text)
    before = invariants.names()
    monkeypatch.setattr(checkers, "__path__", [*checkers.__path__, str(tmp_path)])
    monkeypatch.setattr(checkers.__spec__, "submodule_search_locations", [*checkers.__path__])
    invariants.own_names.cache_clear()
    try:
        assert set(invariants.names()) == {*before, NAME}
        assert tuple(name for name in invariants.names() if name != NAME) == before
        assert INVARIANTS[NAME] == "no two controllers have the same controller epoch"
    finally:
        invariants.own_names.cache_clear()
        sys.modules.pop(f"{checkers.__name__}.{NAME}", None)


def test_every_name_in_the_order_of_arming_is_a_checker() -> None:
    assert list(REGISTRY) == list(invariants.names())
    assert set(invariants.ORDER) <= set(REGISTRY)


@pytest.mark.parametrize("role", PROMISES)
def test_each_promise_names_checkers_that_exist_or_says_that_none_sees_it(role: str) -> None:
    for promise in PROMISES[role]:
        assert not [name for name in promise.checkers if name not in invariants.own_names()], promise.text
        assert promise.checkers or promise.unseen.startswith("No checker: "), promise.text
        assert promise.source, promise.text


def unnamed(promises: dict[str, tuple[Promise, ...]]) -> list[str]:
    """The checkers that see no promise broken."""
    named = {name for of_role in promises.values() for promise in of_role for name in promise.checkers}
    return [name for name in invariants.own_names() if name not in named]


def test_each_checker_sees_a_promise_broken() -> None:
    assert unnamed(PROMISES) == []
    without = {role: of for role, of in PROMISES.items() if role != "The coordinator of a group"}
    assert "groups_settle" in unnamed(without)
