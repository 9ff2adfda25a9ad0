"""The performance of operations: a registered one by its name, any other as an action of the scenario language."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from attrs import define, field

from emulator.kernel import KernelError
from scenarios.errors import BadInput
from scenarios.reading import parse_json
from scenarios.wire.inputs import Operation
from scenarios.wire.live_stage import LiveStage

Asked = Mapping[str, Any]
Answer = dict[str, Any]
Reply = Callable[[Answer], object]
Handler = Callable[[LiveStage, Asked, Reply], object]
"""A function that performs an operation, and calls ``reply`` once, now or at a later virtual time. It runs in the
world: it may do what an event may do, and its decisions do not depend on anything outside."""

ACTION = "action"
ANY_ACTION = ""
"""The name under which the operation for all actions of the scenario language is registered."""
_REGISTRY: dict[str, Handler] = {}


def operation(name: str) -> Callable[[Handler], Handler]:
    """Register a function for operations of this name: ``{"action": name, ...}``."""

    def register(handler: Handler) -> Handler:
        if name in _REGISTRY:
            raise ValueError(f"two operations are called {name}")
        _REGISTRY[name] = handler
        return handler

    return register


@cache
def operations() -> Mapping[str, Handler]:
    """All registered operations, by name."""
    for module in iter_modules([str(Path(__file__).parent)]):
        import_module(f"{__package__}.{module.name}")
    return dict(sorted(_REGISTRY.items()))


def read(text: str) -> Asked:
    """The operation in a line. Raises: BadInput unless it is a JSON object with an action."""
    try:
        asked = parse_json(text)
    except ValueError as error:
        raise BadInput(f"this is no JSON ({error}); write an object in one line") from None
    if not isinstance(asked, dict) or not isinstance(asked.get(ACTION), str):
        raise BadInput(
            'this is no operation; write an object with an action, such as {"action": "broker.crash", "target": 1}'
        )
    return asked


@define(eq=False)
class Operations:
    """The operations of one run.

    Attributes:
        answered: called with the number of each operation that was performed, and its answer: ``{"ok": true}`` with the
            requested facts, or ``{"error": ...}``.
    """

    stage: LiveStage
    answered: Callable[[int, Answer], object] = lambda _number, _answer: None
    _known: Mapping[str, Handler] = field(factory=operations)

    def perform(self, operation: Operation) -> None:
        """Perform an operation. If it is wrong, the error is its answer."""

        def reply(answer: Answer) -> None:
            self.answered(operation.number, answer)

        asked: Asked = {ACTION: ""}
        try:
            asked = read(operation.text)
            self._known.get(asked[ACTION], self._known[ANY_ACTION])(self.stage, asked, reply)
        except KernelError:
            raise
        except BadInput as error:
            reply({"error": "; ".join(map(str, error.all))})
        except Exception as error:
            what = f"{type(error).__name__}: {error}".rstrip(": ")
            reply({"error": f"the program failed at {asked[ACTION]} ({what}); report it"})
