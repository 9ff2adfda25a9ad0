"""A ``[[clients]]`` block: a client with a behaviour of its own, the project's or a plug-in's (docs/extend/plugins.md).

A behaviour is one class: its parameters in the file are attrs fields with a ``key``, ``@behaviour`` gives it a name and
a line of help, and its ``run`` is what each of its clients does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, ClassVar, Protocol, TypeVar

from attrs import field, frozen

from emulator.protocol.produce import ProducedBatch
from scenarios.errors import BadInput, did_you_mean
from scenarios.language.schema.kinds import DURATION, SOME_TIME, Integer, Schema
from scenarios.language.schema.table_reader import Checked, key, keys_of
from scenarios.language.schema.variant import Variant
from scenarios.language.targets import CLIENT_NAME
from scenarios.plugins import check_name, check_rule

_KEY = "behaviour"
HOME = f"{__package__.rpartition('.')[0]}.cluster.clients.behaviours"
"""The package of the project's own behaviours. They need the protocol of groups and transactions: it is imported when
a block is read whose behaviour no plug-in has brought."""


class Client(Protocol):
    """The means of a behaviour: a program on a machine of its own, in virtual time."""

    brokers: tuple[int, ...]

    @property
    def now_s(self) -> float:
        """Virtual time in seconds."""
        ...

    def below(self, bound: int) -> int:
        """A draw in ``[0, bound)``, from a stream of its own."""
        ...

    async def sleep(self, time: str) -> None:
        """Let virtual time pass, such as ``"100ms"``. A run does not wait for a client that sleeps."""
        ...

    async def produce(
        self, partition: str, records: int = 1, *, acks: str = "all", size: int = 1024, within: str = "2m",
        retries: bool = True,
    ) -> range:  # fmt: skip
        """Send one batch to the leader, as Kafka's producer does, and return the offsets of its records.

        Raises: KafkaError with the last error.
        """
        ...

    async def produce_batch(
        self, make: Callable[[int], ProducedBatch], within: str = "2m", *, transactional_id: str | None = None
    ) -> range:
        """Send one batch of the behaviour's own making to the leader, and return the offsets of its records; ``make``
        gets the id that the batch has in the run. A batch of a transaction needs the ``transactional_id``.

        Raises: KafkaError with the last error.
        """
        ...

    async def ask(self, broker: int, request: Any, within: str = "30s", *, retries: bool = True) -> Any:
        """A broker's response to any request of ``understudy.protocol``. ``retries``: it is asked again after a lost
        connection, while there is time. What a ``ConsumerFetchRequest`` brings is followed by the checkers.

        Raises: KafkaError, REQUEST_TIMED_OUT.
        """
        ...

    async def ask_controller(self, request: Any) -> Any:
        """The controller's response to a request, on whatever broker it is. Raises: KafkaError, REQUEST_TIMED_OUT."""
        ...


@frozen(kw_only=True)
class Behaviour(Checked):
    """One block with the values of its parameters.

    Attributes:
        behaviour: its name in the file.
        help: the behaviour of such a client, in one line.
    """

    behaviour: ClassVar[str]
    help: ClassVar[str]
    name: str = field(default="", metadata=key(CLIENT_NAME, 'the client\'s own name, for "client(NAME)" in targets'))
    count: int = field(default=1, metadata=key(Integer(1, 10_000), "how many such clients there are"))
    start_us: int = field(default=0, metadata=key(DURATION, "when they start", name="start"))
    stop_us: int | None = field(
        default=None, metadata=key(SOME_TIME, "when they are killed; absent = when the run ends", name="stop")
    )

    async def run(self, client: Client) -> None:
        """The program of a client. It may return, or go on for ever."""
        raise NotImplementedError(f"the behaviour {self.behaviour!r} has no run")


B = TypeVar("B", bound=Behaviour)
BEHAVIOURS: dict[str, type[Behaviour]] = {}
"""The classes that have been imported, by name."""


def behaviour(name: str, help: str) -> Callable[[type[B]], type[B]]:
    """Register a behaviour's class under its name in the file.

    Raises: ValueError where a behaviour has the name already.
    """

    def register(cls: type[B]) -> type[B]:
        check_name("behaviour", name)
        if name in BEHAVIOURS:
            raise ValueError(f"there is a behaviour {name!r} already: {BEHAVIOURS[name].__module__}")
        check_rule(f"{cls.__name__}.run", cls.run, waits=True)
        cls.behaviour, cls.help = name, help
        BEHAVIOURS[name] = cls
        return cls

    return register


def all_behaviours() -> Mapping[str, type[Behaviour]]:
    """Every behaviour by its name: the project's own, and those of plug-ins that have been imported."""
    import_module(HOME)  # by name: they stand above, and only a file with such a block needs them
    return BEHAVIOURS


def _find(name: str) -> type[Behaviour]:
    if name not in BEHAVIOURS and name not in all_behaviours():
        raise BadInput(f"unknown behaviour {name!r}; {did_you_mean(name, BEHAVIOURS)}; a plug-in brings others")
    return BEHAVIOURS[name]


class ClientBlock(Variant[Behaviour]):
    """A table whose key ``behaviour`` decides what other keys it may have."""

    def schema(self) -> Schema:
        return {
            "type": "object",
            "properties": {_KEY: {"type": "string"}, **_properties(Behaviour)},
            "required": [_KEY],
            "anyOf": [
                {"properties": {_KEY: {"const": name}, **_properties(cls)}} for name, cls in all_behaviours().items()
            ],
        }


def _properties(cls: type[Behaviour]) -> Mapping[str, Schema]:
    return {one.name: {**one.kind.schema(), "description": one.help} for one in keys_of(cls)}


CLIENT_BLOCK = ClientBlock(_KEY, _find)
