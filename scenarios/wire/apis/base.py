"""The declaration of an API of the wire: a class with ``@wire_api`` in a module of this package.

It turns the body of a request into one message of the emulator, which goes to the broker over the emulated network, and
the broker's answer into the body of a response. Bodies are plain dictionaries with the names of Kafka's message schemas
in snake_case (``scenarios.wire.codec``). The meaning of a request is decided by the broker, not by these classes.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from attrs import define, field, frozen

from emulator.nodes import Process
from emulator.protocol.api import Request
from scenarios.faults.request_faults import RequestFaults
from scenarios.wire.inputs import PLAINTEXT
from scenarios.wire.released_versions import Versions
from scenarios.wire.storage import ClientBatches

if TYPE_CHECKING:
    from scenarios.wire.security.accounts import Credentials, LoginPolicy

USER = "User:"
ANONYMOUS = f"{USER}ANONYMOUS"
"""The principal of a client that neither logs in nor shows a certificate (KafkaPrincipal.ANONYMOUS)."""
Body = dict[str, Any]
Address = tuple[str, int]


class InvalidRequest(Exception):
    """A request that no client sends, such as one with a negative size. Its connection is closed, as brokers do."""


@frozen
class ServedCluster:
    """Facts about the cluster that no broker knows by itself, for the translation of requests and responses.

    Attributes:
        cluster_id: the id in /cluster/id.
        addresses: the host and port at which clients reach each broker.
        stated: the settings of each broker that follow from where it is: ``listeners``, ``log.dirs``, ...
        racks: the racks of the brokers that have one.
        versions: the versions of each API that brokers announce, by the API's number.
        registration: the version of the znodes that brokers register with.
        batches: the batches that producers have sent.
        topic_names: the names of topics by id, as Metadata has given them to clients.
        faults: what goes wrong with requests on purpose.
        released: the versions that brokers of the release have. Those that are not served get an error
            (``scenarios.wire.refusals``).
        listeners: the addresses at the other listeners of the brokers, by the listeners' security protocols.
        logins: how clients log in at those with SASL; None: there are none.
        scram: the keys of the users who log in by SCRAM, as admin clients have changed them.
    """

    cluster_id: str
    addresses: Mapping[int, Address]
    racks: Mapping[int, str]
    versions: Mapping[int, Versions]
    registration: int = 4
    batches: ClientBatches = field(factory=ClientBatches)
    topic_names: dict[str, str] = field(factory=dict)
    stated: Mapping[int, Mapping[str, str]] = field(factory=dict)
    faults: RequestFaults = field(factory=RequestFaults)
    released: Mapping[int, Versions] = field(factory=dict)
    listeners: Mapping[str, Mapping[int, Address]] = field(factory=dict)
    logins: "LoginPolicy | None" = None
    scram: "Credentials" = field(factory=dict)

    def announces(self, key: int, version: int) -> bool:
        """Whether brokers announce a version of an API."""
        return _has(self.versions, key, version)

    def has(self, key: int, version: int) -> bool:
        """Whether brokers of the release know a version of an API."""
        return _has(self.released, key, version)


def _has(versions: Mapping[int, Versions], key: int, version: int) -> bool:
    low, high = versions.get(key, (0, -1))
    return low <= version <= high


@define(eq=False)
class Connection:
    """One client's connection to one broker, for the translation of its requests and responses.

    Attributes:
        client_id: the ``client.id`` of its requests; empty: none was sent.
        client_host: the client's address, as brokers write it into the descriptions of groups.
        listener: the broker's listener, whose addresses the client is given.
        principal: who the client is, as the listener knows it.
        version: the version of the request whose body is being translated, or of its response.
    """

    broker: int
    client_id: str
    served: ServedCluster
    client_host: str = "/127.0.0.1"
    version: int = field(default=0, kw_only=True)
    listener: str = field(default=PLAINTEXT, kw_only=True)
    principal: str = field(default=ANONYMOUS, kw_only=True)

    @property
    def user(self) -> str:
        """The name of the user, as quotas are looked up for it."""
        return self.principal.removeprefix(USER)

    def advertised(self, broker: int) -> Address:
        """The host and port at which clients of this listener reach a broker, even one that is down."""
        return self.served.listeners.get(self.listener, self.served.addresses)[broker]


class WireApi:
    """One API. It has no state of its own: one object serves all connections.

    Attributes:
        key: Kafka's number (org.apache.kafka.common.protocol.ApiKeys).
    """

    key: ClassVar[int]

    @property
    def versions(self) -> Versions:
        """The versions that it can translate. A profile can announce fewer (``scenarios.wire.versions``)."""
        return TRANSLATED[self.key]

    def translates(self, version: int) -> bool:
        """Whether it can translate a version."""
        low, high = self.versions
        return low <= version <= high

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


DECLARED: Mapping[str, Mapping[int, Versions]] = {
    "produce": {0: (3, 11), 22: (0, 5)},
    "fetch": {1: (4, 17)},
    "offsets": {2: (1, 9), 23: (0, 4)},
    "metadata": {3: (0, 12)},
    "api_versions": {18: (0, 4)},
    "describe_cluster": {60: (0, 1)},
    "groups": {10: (0, 5), 11: (0, 9), 12: (0, 4), 13: (0, 5), 14: (0, 5)},
    "groups_offsets": {8: (2, 9), 9: (1, 9), 47: (0, 0)},
    "groups_admin": {15: (0, 5), 16: (0, 5), 42: (0, 2)},
    "transactions_admin": {61: (0, 0), 65: (0, 0), 66: (0, 1)},
    "transactions": {24: (0, 5), 25: (0, 4), 26: (0, 4), 28: (0, 4)},
    "topics": {19: (0, 7), 20: (0, 6), 37: (0, 3)},
    "client_quotas": {48: (0, 1), 49: (0, 1)},
    "configs": {32: (0, 4), 33: (0, 2), 44: (0, 1)},
    "log_dirs": {34: (0, 2), 35: (0, 4)},
    "partition_reassignments": {43: (0, 2), 45: (0, 0), 46: (0, 0)},
    "delete_records": {21: (0, 2)},
    "scram_credentials": {50: (0, 0), 51: (0, 0)},
    "features": {57: (0, 1)},
}
"""The modules of this package: the APIs that each declares, by number, with the versions that it can translate."""
FILES: Mapping[int, str] = {key: file for file, apis in DECLARED.items() for key in apis}
"""The module of each API."""
TRANSLATED: Mapping[int, Versions] = {key: versions for apis in DECLARED.values() for key, versions in apis.items()}


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
