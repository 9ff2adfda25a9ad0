"""The contents of Kafka's znodes, converted between the emulated tree and clients.

The tree has the JSON of Kafka as text, so most contents pass as they are. The registration of a broker names its
machine in the emulated network: clients get the address at which they reach it, in the form of the profile's release.
What clients write at a path of Kafka's has to be what brokers and tools write there. ZooKeeper would accept anything,
and Kafka's controller logs what it cannot read; here it is refused.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import define, field

from brokers.client_quotas import CONNECTIONS, CONSUMER, MUTATIONS, PRODUCER, REQUESTS
from brokers.config_def import RATES, TOPIC_CONFIGS, ConfigDefinition, ConfigException, ServerProperties
from brokers.topic_creation import check_name
from emulator.protocol import znodes
from emulator.protocol.errors import ApiException
from emulator.zookeeper import ZkCode
from scenarios.wire.apis.base import Address
from scenarios.wire.inputs import PLAINTEXT
from scenarios.wire.listener_addresses import written
from scenarios.wire.zookeeper.opaque import to_bytes, to_text
from scenarios.wire.zookeeper.zookeeper_codes import Code, RefusedOperation

_REGISTRATION = re.compile(re.escape(znodes.BROKER_IDS) + r"/(\d+)")
_UNREADABLE = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    RecursionError,
    ApiException,
    ConfigException,
)
_SEQUENCE = "0000000000"
"""An example of the number of a sequential znode."""
_INT_MAX = 2**31 - 1

_V4 = ("listener_security_protocol_map", "endpoints", "rack", "jmx_port", "host", "timestamp", "port", "version")
_V5 = (
    "features", "listener_security_protocol_map", "endpoints", "rack", "jmx_port", "port", "host", "version",
    "timestamp",
)  # fmt: skip
_FORMS: Mapping[int, tuple[str, ...]] = {1: ("jmx_port", "timestamp", "host", "version", "port"), 4: _V4, 5: _V5}
"""The keys of each version of a registration, in Kafka's order (ZkUtils.registerBrokerInZk, 0.8; BrokerIdZNode.encode,
1.1 to 2.7)."""


class _Unreadable(Exception):
    """The reason why no broker could read a content."""


@define(eq=False)
class Payloads:
    """The conversion for one cluster.

    Attributes:
        addresses: the addresses at which clients reach each broker.
        registration: the version of /brokers/ids/N that the release writes.
        server: the settings that its brokers know.
        listeners: the addresses at the other listeners, by the listeners' security protocols.
    """

    addresses: Mapping[int, Address]
    registration: int = 4
    server: Callable[[], ServerProperties] = dict
    listeners: Mapping[str, Mapping[int, Address]] = field(factory=dict)

    def to_client(self, path: str, text: str) -> bytes | None:
        """The bytes that a client gets for a text of the tree."""
        found = _REGISTRATION.fullmatch(path)
        if found is not None and int(found[1]) in self.addresses:
            return self._registered(int(found[1]), text)
        return b"" if path == "/" and not text else to_bytes(text)

    def _registered(self, broker: int, text: str) -> bytes:
        registered = json.loads(text)
        host, port = self.addresses[broker]
        at = {PLAINTEXT: self.addresses, **self.listeners}
        value = {
            "features": {}, "listener_security_protocol_map": {protocol: protocol for protocol in at},
            "endpoints": [f"{protocol}://{written(found[broker])}" for protocol, found in at.items()],
            "rack": registered.get("rack"), "jmx_port": -1, "host": host, "timestamp": registered["timestamp"],
            "port": port, "version": self.registration,
        }  # fmt: skip
        form = _FORMS[max(version for version in _FORMS if version <= self.registration)]
        kept = {key: value[key] for key in form if value[key] is not None}
        return json.dumps(kept, separators=(",", ":")).encode()

    def to_tree(self, path: str, data: bytes | None, *, sequential: bool = False) -> str:
        """The text of the tree for what a client writes. Raises: RefusedOperation."""
        whole = path + _SEQUENCE if sequential else path
        text = to_text(data)
        for shape, read in _SHAPES:
            found = shape.fullmatch(whole)
            if found is None:
                continue
            try:
                if read in _NUMBERS:
                    _check_numbers(json.loads(text))
                return read(self, text, *found.groups())
            except _UNREADABLE as error:
                why = f"{type(error).__name__}: {error}" if isinstance(error, KeyError | RecursionError) else str(error)
            except _Unreadable as error:
                why = str(error)
            raise RefusedOperation(ZkCode.BAD_ARGUMENTS, f"{path} would hold what no broker reads ({why})")
        return text

    # -- what is written, path by path: each returns the text, or raises ----------------------------------------------

    def _brokers_own(self, _text: str, *_: str) -> str:
        raise RefusedOperation(Code.NO_AUTH, "only brokers write /controller, its epoch, /brokers/ids and producer ids")

    def _unknown(self, _text: str, *_: str) -> str:
        raise _Unreadable("Kafka has no such znode")

    def _anything(self, text: str, *_: str) -> str:
        return text

    def _named(self, text: str, topic: str, *_: str) -> str:
        check_name(topic)
        return text

    def _topic(self, text: str, topic: str) -> str:
        check_name(topic)
        assignment = znodes.decode_topic(text)
        if list(assignment) != list(range(len(assignment))) or not assignment:
            raise _Unreadable("partitions are numbered from 0")
        moving = [
            brokers for each in znodes.decode_reassigning(text).values() for brokers in (each.adding, each.removing)
        ]
        for brokers in (*assignment.values(), *moving):
            self._check_brokers(brokers)
        if not all(assignment.values()):
            raise _Unreadable("a partition has no replicas")
        return text

    def _state(self, text: str, topic: str, _partition: str) -> str:
        check_name(topic)
        state = znodes.LeaderAndIsr.decode(text, 0)
        self._check_brokers(state.isr)
        self._check_brokers([state.leader] if state.leader >= 0 else [])
        for number in (state.leader, state.leader_epoch, state.controller_epoch):
            _check_number(number, -2)
        return text

    def _reassignment(self, text: str) -> str:
        for tp, brokers in znodes.decode_reassignment(text).items():
            check_name(tp.topic)
            _check_number(tp.partition)
            self._check_brokers(brokers)
            if not brokers:
                raise _Unreadable(f"{tp} would have no replicas")
        return text

    def _partitions(self, text: str) -> str:
        for tp in znodes.decode_isr_change(text):
            check_name(tp.topic)
            _check_number(tp.partition)
        return text

    def _log_dir_event(self, text: str) -> str:
        self._check_brokers([znodes.decode_log_dir_event(text)])
        return text

    def _settings(self, text: str, kind: str, name: str) -> str:
        settings = znodes.decode_config(text)
        known: Mapping[str, ConfigDefinition] = {}
        if kind == "topics":
            check_name(name)
            known = TOPIC_CONFIGS
        elif kind == "brokers":
            known = {**{each: found.definition for each, found in self.server().items()}, **RATES}
        for setting, value in settings.items():
            if not isinstance(value, str):
                raise _Unreadable(f"the value of {setting} is no text")
            if setting in QUOTAS.get(kind, ()):
                float(value)
            if setting in known:
                known[setting].parse(value)
        return text

    def _change(self, text: str) -> str:
        """The announcement of a change. The form of 0.9, which has type and entity apart, is converted to that of
        0.10."""
        found = json.loads(text)
        if found["version"] == 1:
            return znodes.encode_config_change(f"{found['entity_type']}/{found['entity_name']}")
        if not isinstance(found["entity_path"], str):
            raise _Unreadable("entity_path is no text")
        return text

    def _check_brokers(self, brokers: Iterable[int]) -> None:
        listed = list(brokers)
        for broker in listed:
            _check_number(broker)
            if broker not in self.addresses:
                raise _Unreadable(f"there is no broker {broker}")
        if len(dict.fromkeys(listed)) < len(listed):
            raise _Unreadable(f"{listed} names a broker twice")


def _check_numbers(value: Any) -> None:
    """Refuse truth values and fractions: Python takes true for 1, and 1.0 too, even in a look-up of a known list."""
    if isinstance(value, bool | float):
        raise _Unreadable(f"{value!r} is no number that can be there")
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            _check_numbers(each)


def _check_number(number: Any, least: int = 0) -> None:
    if type(number) is not int or not least <= number <= _INT_MAX:
        raise _Unreadable(f"{number!r} is no number that can be there")


_NUMBERS = (
    Payloads._topic, Payloads._state, Payloads._reassignment, Payloads._partitions, Payloads._log_dir_event,
)  # fmt: skip
"""The functions that read numbers."""
_OF_CLIENTS = (PRODUCER, CONSUMER, REQUESTS, MUTATIONS)
QUOTAS = {"clients": _OF_CLIENTS, "users": _OF_CLIENTS, "ips": (CONNECTIONS,)}
"""The settings of each kind of entity that are numbers."""
_TOPIC = re.escape(znodes.TOPICS) + "/([^/]+)"
_SHAPES: tuple[tuple[re.Pattern[str], Callable[..., str]], ...] = tuple(
    (re.compile(shape), read)
    for shape, read in (
        (rf"{znodes.CONTROLLER}|{znodes.CONTROLLER_EPOCH}|{znodes.BROKER_IDS}/.+", Payloads._brokers_own),
        (f"{znodes.PRODUCER_ID_BLOCK}|/cluster/id", Payloads._brokers_own),
        ("|".join(map(re.escape, znodes.PERSISTENT_PATHS)), Payloads._anything),
        (_TOPIC, Payloads._topic),
        (rf"{_TOPIC}/partitions(?:/\d{{1,9}})?", Payloads._named),
        (rf"{_TOPIC}/partitions/(\d{{1,9}})/state", Payloads._state),
        (re.escape(znodes.REASSIGN_PARTITIONS), Payloads._reassignment),
        (re.escape(znodes.PREFERRED_REPLICA_ELECTION), Payloads._partitions),
        (re.escape(znodes.DELETE_TOPICS) + "/([^/]+)", Payloads._named),
        (re.escape(znodes.ISR_CHANGE_NOTIFICATION) + r"/isr_change_\d{10}", Payloads._partitions),
        (re.escape(znodes.LOG_DIR_EVENT_NOTIFICATION) + r"/log_dir_event_\d{10}", Payloads._log_dir_event),
        (re.escape(znodes.CONFIG_CHANGES) + r"/config_change_\d{10}", Payloads._change),
        (r"/config/(topics|brokers|clients|users|ips)/([^/]+)", Payloads._settings),
        (r"/config/(users)/[^/]+/clients/([^/]+)", Payloads._settings),
        # Other paths below these would be taken for one of those above by the controller and the brokers.
        (
            f"(?:{znodes.TOPICS}|{znodes.DELETE_TOPICS}|{znodes.CONFIG_CHANGES}|{znodes.CONFIG_TOPICS})/.+",
            Payloads._unknown,
        ),
        (
            f"(?:{znodes.ISR_CHANGE_NOTIFICATION}|{znodes.LOG_DIR_EVENT_NOTIFICATION}|/config/brokers)/.+",
            Payloads._unknown,
        ),
    )
)
"""The shapes of Kafka's paths, each with the function that reads what is written there; the first that fits counts. At
other paths anything can be written."""
