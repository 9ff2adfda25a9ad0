"""The declaration of one of Kafka's APIs: its name, its number, its messages, and the partitions they name.

Routers, message triggers, the trace and the figures take these from here. A new API is a module of this package: the
class of its request, the class of its response, and one call of ``declare``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, ClassVar, TypeVar

from attrs import define, frozen

from emulator.protocol.types import TopicPartition

M = TypeVar("M", bound="type[Message]")


class Message:
    """A request or a response.

    Attributes:
        api: the API that it belongs to; set by ``declare``.
    """

    __slots__ = ()

    api: ClassVar["Api"]

    def topic_partitions(self) -> Iterable[TopicPartition]:
        """The partitions that the message names, in its order. A message that never names any does not define this."""
        return ()


class OfPartitions(Message):
    """A message with a row for each partition: the partition, or a record that begins with it or has it as ``tp``.

    Attributes:
        partitions: the rows; None where the message stands for all partitions.
        SIZES: the bytes of the message without rows, and those of a row.
    """

    __slots__ = ()

    SIZES: ClassVar[tuple[int, int]]
    partitions: Sequence[Any] | None

    @property
    def size(self) -> int:
        without, each = self.SIZES
        return without + each * len(self.partitions or ())

    def topic_partitions(self) -> Iterable[TopicPartition]:
        for row in self.partitions or ():
            if type(row) is TopicPartition:
                yield row
            else:
                yield row[0] if isinstance(row, tuple) else row.tp


class Request(Message):
    """A message to a broker that is answered by one ``Response``."""

    __slots__ = ()


class Response(Message):
    """The answer to a ``Request``."""

    __slots__ = ()


@define(eq=False)
class AbstractControlRequest(Request):
    """A request of the controller to a broker (Kafka's class of this name, 2.3).

    Attributes:
        broker_epoch: -1 where the release does not send it (before KIP-380, 2.2).
    """

    controller_id: int
    controller_epoch: int
    broker_epoch: int


@frozen
class Api:
    """One API.

    Attributes:
        key: Kafka's number (org.apache.kafka.common.protocol.ApiKeys).
        name: Kafka's name, as scenarios and the trace write it.
        help: the purpose of the request, in one line for readers of a scenario.
    """

    key: int
    name: str
    request: type[Request]
    response: type[Response]
    help: str

    @property
    def snake_name(self) -> str:
        """The name in metrics and columns: ``leader_and_isr`` for ``LeaderAndIsr``."""
        return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in self.name).lstrip("_")

    @property
    def is_control(self) -> bool:
        """Whether the controller sends it to brokers."""
        return issubclass(self.request, AbstractControlRequest)


CONTROL = "leader_and_isr", "stop_replica", "update_metadata"
"""The files that declare the APIs by which the controller commands brokers."""
_declared: dict[str, Api] = {}
_variants: dict[type, list[type]] = {}


def declare(key: int, name: str, request: type[Request], response: type[Response], *, help: str) -> Api:
    """Declare an API. Raises: ValueError if another one has this name."""
    if name in _declared:
        raise ValueError(f"two APIs are called {name}")
    api = _declared[name] = request.api = response.api = Api(key, name, request, response, help)
    return api


def variant(of: type[Message]) -> Callable[[M], M]:
    """Declare another form of the message ``of``, with more or other fields. A trigger that waits for one form also
    takes the other."""

    def belongs(message: M) -> M:
        message.api = of.api
        _variants.setdefault(of, []).append(message)
        return message

    return belongs


def forms(message: type) -> tuple[type, ...]:
    """The class of a message, and the other forms of it."""
    return (message, *_variants.get(message, ()))


def withdraw(api: Api) -> None:
    """Undo ``declare``: for a test that declares an API of its own."""
    del _declared[api.name]


def apis() -> Mapping[str, Api]:
    """Every API by name, in the order of Kafka's numbers: those of this package, and what else has been declared."""
    _import_all()
    return {api.name: api for api in sorted(_declared.values(), key=lambda api: api.key)}


def control_apis() -> tuple[Api, ...]:
    """The APIs by which the controller commands brokers, in the order of Kafka's numbers."""
    for file in CONTROL:
        import_module(f"{__package__}.{file}")
    return tuple(sorted((api for api in _declared.values() if api.is_control), key=lambda api: api.key))


def names_partitions(message: type[Message]) -> bool:
    """Whether messages of this class can name partitions."""
    return message.topic_partitions is not Message.topic_partitions


@cache
def _import_all() -> None:
    """Import each module of this package, which declares its API. They are small, and import nothing but each other."""
    for module in walk_packages([str(Path(__file__).parent)], prefix=f"{__package__}."):
        import_module(module.name)
