"""The table of signatures in docs/use/pytest.md says what the code has: ``python -m tests.docs.test_pytest_page``
prints it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scenarios.testing.consumer_instance import ConsumerInstance
from scenarios.testing.gate import HeldGate
from scenarios.testing.instance import ClusterInstance
from scenarios.testing.kafka import KafkaServer
from scenarios.testing.producer_instance import ProduceHandle, ProducerInstance
from scenarios.testing.request_fault_handle import RequestFaultHandle

PAGE = Path(__file__).parents[2] / "docs/use/pytest.md"
CLASSES: dict[str, type[Any]] = {
    "c": ClusterInstance,
    "gate": HeldGate,
    "producer": ProducerInstance,
    "handle": ProduceHandle,
    "consumer": ConsumerInstance,
    "kafka": KafkaServer,
    "fault": RequestFaultHandle,
}
"""The classes by the names that the page gives their instances."""
OWN = {"ProduceHandle.follow", "ProduceHandle.over", "ConsumerInstance.see"}
"""Methods that the package calls itself."""


def rows() -> Iterator[str]:
    """A row for each public method and property, in the order of the code."""
    yield "| Call | Meaning |"
    yield "| --- | --- |"
    for name, cls in CLASSES.items():
        for member, value in _members(cls):
            if member.startswith("_") or f"{cls.__name__}.{member}" in OWN:
                continue
            if isinstance(value, property):
                yield f"| `{name}.{member}` | {_sentence(value.fget)} |"
            elif inspect.isfunction(value):
                waits = "await " if inspect.iscoroutinefunction(value) else ""
                yield f"| `{waits}{name}.{member}({_arguments(value)})` | {_sentence(value)} |"


def _members(cls: type[Any]) -> Iterator[tuple[str, Any]]:
    for base in cls.__mro__[:-1]:
        yield from vars(base).items()


def _arguments(function: Any) -> str:
    bare = inspect.Parameter.empty
    given = list(inspect.signature(function).parameters.values())[1:]
    parameters = [one.replace(annotation=bare) for one in given]
    plain = [one.replace(default=...) if inspect.isfunction(one.default) else one for one in parameters]
    return str(inspect.Signature(plain))[1:-1].replace("Ellipsis", "...")


def _sentence(function: Any) -> str:
    """The first sentence of the docstring, as a cell."""
    text = " ".join(inspect.getdoc(function).split("\n\n")[0].split())  # type: ignore[union-attr]
    first = re.split(r"(?<=[.:])(?<!e\.g\.) (?=[A-Z`])|::$", text)[0].rstrip(".:")
    return first.replace("``", "`").replace("|", "\\|")


def test_the_table_is_that_of_the_code() -> None:
    page = PAGE.read_text(encoding="utf-8")
    stated = [line for line in page.splitlines() if re.match(r"\| `(await )?(" + "|".join(CLASSES) + r")\.", line)]
    assert stated == list(rows())[2:]


def test_a_changed_signature_is_noticed() -> None:
    def crash(self: Any, broker: int, *, kind: str = "process") -> None:
        """Kill a broker. It is dead."""

    assert _arguments(crash) == "broker, *, kind='process'"
    assert _sentence(crash) == "Kill a broker"


if __name__ == "__main__":
    print("\n".join(rows()))
