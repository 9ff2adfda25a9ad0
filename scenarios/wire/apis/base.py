"""The declaration of an API of the wire: a class with ``@wire_api`` in a module of this package.

It turns the body of a request into one message of the emulator, which goes to the broker over the emulated network, and
the broker's answer into the body of a response. Bodies are plain dictionaries with the names of Kafka's message schemas
in snake_case (``scenarios.wire.codec``). The meaning of a request is decided by the broker, not by these classes.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar, TypeVar

from attrs import define, field, frozen

from emulator.nodes import Process
from emulator.protocol.api import Request
from scenarios.wire.storage import ClientBatches

Body = dict[str, Any]
Address = tuple[str, int]
Versions = tuple[int, int]
"""The lowest and the highest version of an API."""


class InvalidRequest(Exception):
    """A request that no client sends, such as one with a negative size. Its connection is closed, as brokers do."""


@frozen
class ServedCluster:
    """Facts about the cluster that no broker knows by itself, for the translation of requests and responses.

    Attributes:
        cluster_id: the id in /cluster/id.
        addresses: the host and port at which clients reach each broker.
        racks: the racks of the brokers that have one.
        versions: the versions of each API that brokers announce, by the API's number.
        registration: the version of the znodes that brokers register with.
        batches: the batches that producers have sent.
    """

    cluster_id: str
    addresses: Mapping[int, Address]
    racks: Mapping[int, str]
    versions: Mapping[int, Versions]
    registration: int = 4
    batches: ClientBatches = field(factory=ClientBatches)


@define(eq=False)
class Connection:
    """One client's connection to one broker, for the translation of its requests and responses.

    Attributes:
        client_id: the ``client.id`` of its requests; empty: none was sent.
        client_host: the client's address, as brokers write it into the descriptions of groups.
        version: the version of the request whose body is being translated, or of its response.
    """

    broker: int
    client_id: str
    served: ServedCluster
    client_host: str = "/127.0.0.1"
    version: int = field(default=0, kw_only=True)

    def advertised(self, broker: int) -> Address:
        """The host and port at which clients reach a broker, even one that is down."""
        return self.served.addresses[broker]


class WireApi:
    """One API. It has no state of its own: one object serves all connections.

    Attributes:
        key: Kafka's number (org.apache.kafka.common.protocol.ApiKeys).
        versions: the versions that it can translate. A profile can announce fewer (``scenarios.wire.versions``).
    """

    key: ClassVar[int]
    versions: ClassVar[Versions]

    @classmethod
    def translates(cls, version: int) -> bool:
        """Whether it can translate a version."""
        return cls.versions[0] <= version <= cls.versions[1]

    def to_request(self, body: Body, connection: Connection) -> Request:
        """The message for the broker. Raises: InvalidRequest."""
        raise NotImplementedError

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        """The body of the response.

        Args:
            response: the broker's answer.
            body: the body of the request.
        """
        raise NotImplementedError

    def sent(self, request: Any, connection: Connection, client: Process) -> None:
        """Called when ``client`` has sent a request that is not answered: the place to record its consequences."""

    def answered(self, request: Any, response: Any, waited_us: int, connection: Connection, client: Process) -> None:
        """Called when a response has reached ``client``: the place to record what its application now knows.

        Args:
            waited_us: the time since the request was sent.
        """

    def is_answered(self, body: Body) -> bool:
        """Whether the client waits for a response (not with acks=0)."""
        return True


A = TypeVar("A", bound=type[WireApi])
_REGISTRY: dict[int, WireApi] = {}


def wire_api(declared: A) -> A:
    """Register a class. Raises: ValueError if another class has its number."""
    if declared.key in _REGISTRY:
        raise ValueError(f"two classes for API {declared.key}")
    _REGISTRY[declared.key] = declared()
    return declared


FILES: Mapping[int, str] = {
    key: file
    for file, keys in {
        "produce": (0, 22), "fetch": (1,), "offsets": (2, 23), "metadata": (3,), "api_versions": (18,),
        "describe_cluster": (60,), "groups": (10, 11, 12, 13, 14), "groups_offsets": (8, 9, 47), "groups_admin": (15,
        16, 42),
        "transactions": (24, 25, 26, 28), "topics": (19, 20, 37), "configs": (32, 33, 44), "log_dirs": (34, 35),
        "partition_reassignments": (43, 45, 46), "acls": (29, 30, 31),
    }.items()
    for key in keys
}  # fmt: skip
"""The modules of this package, by the numbers of the APIs that they declare."""


class WireApis(dict[int, WireApi]):
    """APIs by number. Each is imported when the first request for it comes: most clients ask for few."""

    def __missing__(self, key: int) -> WireApi:
        import_module(f"{__package__}.{FILES[key]}")
        found = self[key] = _REGISTRY[key]
        return found


def wire_apis() -> Mapping[int, WireApi]:
    """All APIs of this package, by number."""
    apis = WireApis()
    return {key: apis[key] for key in sorted(FILES)}
