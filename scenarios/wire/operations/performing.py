"""The performance of operations: a registered one by its name, any other as an action of the scenario language."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from attrs import define, field, frozen

from emulator.kernel import KernelError
from scenarios.errors import BadInput
from scenarios.language.schema.table_reader import Block, Checked
from scenarios.reading import parse_json
from scenarios.wire.inputs import Operation
from scenarios.wire.live_stage import LiveStage

Asked = Mapping[str, Any]
Answer = dict[str, Any]
"""``{"ok": true}`` with the requested facts, or ``{"error": ...}``. An error that is not the operator's has ``why``,
``LATE`` or ``FAILED``."""
Reply = Callable[[Answer], object]
Handler = Callable[[LiveStage, Any, Reply], object]
"""A function that performs an operation, and calls ``reply`` once, now or at a later virtual time. It is called with
the operation's keys, an instance of the class that declares them. It runs in the world: it may do what an event may do,
and its decisions do not depend on anything outside."""

ACTION = "action"
ANY_ACTION = ""
"""The name under which the operation for all actions of the scenario language is registered. Its function gets the
whole table."""
LATE, FAILED = "late", "failed"


@frozen
class NoKeys(Checked):
    """The keys of an operation that has none."""


@frozen
class OperationKind:
    """A kind of operation.

    Attributes:
        keys: the class that declares its keys; None: they are those of an action.
        help: its effect, in one line.
    """

    perform: Handler
    keys: type[Any] | None
    help: str

    def read(self, asked: Asked) -> Any:
        """The keys of an operation. Raises: BadInput."""
        if self.keys is None:
            return asked
        return Block(self.keys).read({name: value for name, value in asked.items() if name != ACTION})


_REGISTRY: dict[str, OperationKind] = {}


def operation(name: str, keys: type[Any] | None = NoKeys) -> Callable[[Handler], Handler]:
    """Register a function for operations of this name: ``{"action": name, ...}``. The first line of its docstring is
    its help."""

    def register(handler: Handler) -> Handler:
        if name in _REGISTRY:
            raise ValueError(f"two operations are called {name}")
        _REGISTRY[name] = OperationKind(handler, keys, " ".join((handler.__doc__ or "").partition(". ")[0].split()))
        return handler

    return register


@cache
def operations() -> Mapping[str, OperationKind]:
    """All registered operations, by name."""
    for module in iter_modules([str(Path(__file__).parent)]):
        import_module(f"{__package__}.{module.name}")
    return dict(sorted(_REGISTRY.items()))


def parsed(text: str, broken: str) -> Any:
    """The value in a JSON text. Raises: BadInput, which says ``broken`` with the parser's words where it is no JSON."""
    try:
        return parse_json(text)
    except ValueError as error:
        raise BadInput(broken.format(error)) from None


def read(text: str) -> Asked:
    """The operation in a line. Raises: BadInput unless it is a JSON object with an action."""
    asked = parsed(text, "this is no JSON ({}); write an object in one line")
    if not isinstance(asked, dict) or not isinstance(asked.get(ACTION), str):
        raise BadInput(
            'this is no operation; write an object with an action, such as {"action": "broker.crash", "target": 1}'
        )
    return asked


@define(eq=False)
class Operations:
    """The operations of one run.

    Attributes:
        answered: called with the number of each operation that was performed, and its answer.
    """

    stage: LiveStage
    answered: Callable[[int, Answer], object] = lambda _number, _answer: None
    _known: Mapping[str, OperationKind] = field(factory=operations)

    def perform(self, operation: Operation) -> None:
        """Perform an operation. If it is wrong, the error is its answer."""

        def reply(answer: Answer) -> None:
            self.answered(operation.number, answer)

        asked: Asked = {ACTION: ""}
        try:
            asked = read(operation.text)
            kind = self._known.get(asked[ACTION], self._known[ANY_ACTION])
            kind.perform(self.stage, kind.read(asked), reply)
        except KernelError:
            raise
        except BadInput as error:
            reply({"error": "; ".join(map(str, error.all))})
        except Exception as error:
            what = f"{type(error).__name__}: {error}".rstrip(": ")
            reply({"error": f"the program failed at {asked[ACTION]} ({what}); report it", "why": FAILED})
