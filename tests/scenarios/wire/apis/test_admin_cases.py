"""Cases about what admin clients ask, by frames of the codec: ClientQuotasRequestTest, ConfigAdminManagerTest,
AdminManagerTest, AlterUserScramCredentialsRequestTest, DescribeUserScramCredentialsRequestTest,
DescribeClusterRequestTest, PlaintextAdminIntegrationTest (2.7.2 to 3.9.0)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest

from emulator.protocol.errors import Errors
from tests.scenarios.wire.gateway.served import METADATA, Raw, Served, served

DESCRIBE_CONFIGS, ALTER_CONFIGS, INCREMENTAL = 32, 33, 44
CREATE_TOPICS, DELETE_TOPICS = 19, 20
DESCRIBE_QUOTAS, ALTER_QUOTAS, DESCRIBE_SCRAM, ALTER_SCRAM, DESCRIBE_CLUSTER = 48, 49, 50, 51, 60
TOPIC, BROKER = 2, 4
SET, DELETE, APPEND, SUBTRACT = range(4)
EXACT, DEFAULT, ANY = range(3)
INVALID, INVALID_CONFIG = Errors.INVALID_REQUEST, Errors.INVALID_CONFIG
Entity = Mapping[str, str | None]


class Clusters:
    """One served cluster for each release, begun when a test asks for it; a connection to its controller."""

    def __init__(self, stack: ExitStack) -> None:
        self.stack, self.served = stack, dict[str, Served]()

    def __call__(self, release: str) -> Raw:
        if release not in self.served:
            table = {
                "profile": release,
                "cluster": {"brokers": 2, "controller": 0},
                "topics": [{"name": "orders", "assignment": [[0, 1]]}],
            }
            self.served[release] = self.stack.enter_context(served(table))
        return self.served[release].connect(0)


@pytest.fixture(scope="module")
def of() -> Iterator[Clusters]:
    with ExitStack() as stack:
        yield Clusters(stack)


# -- ClientQuotasRequestTest ------------------------------------------------------------------------------------------


def alter(
    raw: Raw, *changes: tuple[Entity, dict[str, float | None]], validate_only: bool = False
) -> list[tuple[Errors, str | None]]:
    entries = [
        {
            "entity": [{"entity_type": type, "entity_name": name} for type, name in entity.items()],
            "ops": [
                {"key": key, "value": 0.0 if value is None else value, "remove": value is None}
                for key, value in quotas.items()
            ],
        }
        for entity, quotas in changes
    ]
    found = raw.ask(ALTER_QUOTAS, 0, {"entries": entries, "validate_only": validate_only})["entries"]
    return [(Errors(each["error_code"]), each["error_message"]) for each in found]


def filters(**wanted: str | type[object] | None) -> list[dict[str, Any]]:
    """``object``: any; None: the default."""
    return [
        {
            "entity_type": type.replace("_", "-"),
            "match_type": ANY if match is object else DEFAULT if match is None else EXACT,
            "match": match if isinstance(match, str) else None,
        }
        for type, match in wanted.items()
    ]


def describe(raw: Raw, components: list[dict[str, Any]], *, strict: bool) -> dict[Any, dict[str, float]] | Errors:
    answer = raw.ask(DESCRIBE_QUOTAS, 0, {"components": components, "strict": strict})
    if answer["error_code"]:
        return Errors(answer["error_code"])
    return {
        tuple((part["entity_type"], part["entity_name"]) for part in entry["entity"]): {
            each["key"]: each["value"] for each in entry["values"]
        }
        for entry in answer["entries"]
    }


@pytest.mark.parametrize("release", ["kafka-2.7", "kafka-3.9"])
def test_alter_client_quotas(of: Clusters, release: str) -> None:
    """testAlterClientQuotasRequest, testAlterClientQuotasRequestValidateOnly: added, changed, removed, one by one."""
    raw = of(release)
    entity: Entity = {"user": "user", "client-id": "client-id"}
    asked = filters(user="user", client_id="client-id")

    def now() -> Any:
        found = describe(raw, asked, strict=True)
        assert isinstance(found, dict)
        return next(iter(found.values()), {})

    steps: list[tuple[dict[str, float | None], dict[str, float]]] = [
        (
            {"producer_byte_rate": 10000.0, "consumer_byte_rate": 20000.0},
            {"producer_byte_rate": 10000.0, "consumer_byte_rate": 20000.0},
        ),
        (
            {"producer_byte_rate": 15000.0, "consumer_byte_rate": None, "request_percentage": 12.34},
            {"producer_byte_rate": 15000.0, "request_percentage": 12.34},
        ),
        (
            {"producer_byte_rate": None, "consumer_byte_rate": 20000.0, "request_percentage": 12.34},
            {"consumer_byte_rate": 20000.0, "request_percentage": 12.34},
        ),
        ({"consumer_byte_rate": None, "request_percentage": None}, {}),
    ]
    for changes, left in steps:
        before = now()
        assert alter(raw, (entity, changes), validate_only=True) == [(Errors.NONE, None)]
        assert now() == before
        assert alter(raw, (entity, changes)) == [(Errors.NONE, None)]
        assert now() == left


IP = {"ip": "1.2.3.4"}


@pytest.mark.parametrize(
    ("release", "entity", "quotas", "words"),
    [
        ("kafka-2.7", {}, {"producer_byte_rate": 1.0}, "Invalid empty client quota entity"),
        ("kafka-3.9", {}, {"producer_byte_rate": 1.0}, "Invalid empty client quota entity"),
        ("kafka-3.9", {"user": ""}, {"producer_byte_rate": 1.0}, "Empty user not supported"),
        ("kafka-3.9", {"client-id": ""}, {"producer_byte_rate": 1.0}, "Empty client-id not supported"),
        ("kafka-3.9", {"": "name"}, {"producer_byte_rate": 1.0}, "Unhandled client quota entity type: "),
        ("kafka-3.9", {"user": "u"}, {"bad": 1.0}, "Invalid configuration key bad"),
        (
            "kafka-3.9",
            {"user": "u"},
            {"producer_byte_rate": 10000.5},
            "Configuration producer_byte_rate must be a LONG value",
        ),
        ("kafka-2.7", IP, {"connection_creation_rate": 1.0}, "Unhandled client quota entity type: ip"),
        (
            "kafka-3.9",
            IP,
            {"connection_creation_rate": 15.5},
            "Configuration connection_creation_rate must be a INT value",
        ),
        ("kafka-3.9", IP, {"producer_byte_rate": 1.0}, "Invalid configuration key producer_byte_rate"),
        (
            "kafka-3.9",
            {"user": "u"},
            {"connection_creation_rate": 1.0},
            "Invalid configuration key connection_creation_rate",
        ),
        (
            "kafka-3.9",
            {"ip": "user name"},
            {"connection_creation_rate": 1.0},
            "user%20name is not a valid IP or resolvable host.",
        ),
        (
            "kafka-2.8",
            {"ip": "1,1.1.1"},
            {"connection_creation_rate": 2.0},
            "1%2C1.1.1 is not a valid IP or resolvable host.",
        ),
        ("kafka-3.9", {"ip": ""}, {"connection_creation_rate": 1.0}, "Empty ip not supported"),
        (
            "kafka-3.9",
            {"user": "u", **IP},
            {"producer_byte_rate": 1.0},
            "Invalid quota entity combination, IP entity should not be used with user/client ID entity.",
        ),
        (
            "kafka-3.9",
            {"client-id": "c", **IP},
            {"connection_creation_rate": 1.0},
            "Invalid quota entity combination, IP entity should not be used with user/client ID entity.",
        ),
    ],
)
def test_alter_client_quotas_invalid(of: Clusters, release: str, entity: Entity, quotas: Any, words: str) -> None:
    """testAlterClientQuotas(EmptyEntity|BadUser|BadClientId|BadEntityType|BadConfigKey|BadConfigValue|BadIp),
    testAlterClientQuotasInvalidRequests, ...InvalidEntityCombination,
    DynamicConfigTest.shouldFailIpConfigsWithInvalidIpv4Entity: nothing is written."""
    raw = of(release)
    assert alter(raw, (entity, quotas)) == [(INVALID, words)]
    assert describe(raw, [], strict=False) == {}


def test_alter_ip_quotas(of: Clusters) -> None:
    """testAlterIpQuotasRequest (2.8.2)."""
    raw = of("kafka-2.8")
    everyone: Entity = {"ip": None}
    rate = "connection_creation_rate"
    assert (
        alter(raw, (IP, {rate: 100.0}), ({"ip": "127.0.0.1"}, {rate: 20.0}), (everyone, {rate: 30.0}))
        == [(Errors.NONE, None)] * 3
    )
    first, local, rest = ((("ip", name),) for name in ("1.2.3.4", "127.0.0.1", None))
    assert describe(raw, filters(ip="1.2.3.4"), strict=True) == {first: {rate: 100.0}}
    assert describe(raw, filters(ip=None), strict=True) == {rest: {rate: 30.0}}
    everything = {first: {rate: 100.0}, local: {rate: 20.0}, rest: {rate: 30.0}}
    assert describe(raw, filters(ip=object), strict=True) == everything
    assert describe(raw, [], strict=False) == everything
    assert describe(raw, [], strict=True) == {}
    assert describe(raw, filters(user=object), strict=False) == {}
    for entity in (IP, {"ip": "127.0.0.1"}, everyone):
        assert alter(raw, (entity, {rate: None})) == [(Errors.NONE, None)]
    assert describe(raw, [], strict=False) == {}


ENTITIES: list[tuple[str | None, ...]] = [
    ("user-1", "client-id-1"), ("user-2", "client-id-1"), ("user-3", "client-id-2"), ("user-1", None), ("user-2", None),
    ("user-3", None), (None, "client-id-2"),
]  # fmt: skip
USER_1, ALL_USERS = {"user": "user-1"}, {"user": object}


@pytest.mark.parametrize("release", ["kafka-2.7", "kafka-3.9"])
def test_describe_client_quotas(of: Clusters, release: str) -> None:
    """testDescribeClientQuotasMatchExact, testDescribeClientQuotasMatchPartial, testClientQuotasWithDefaultName,
    testClientQuotasSanitized: "-" is no part of the entity, None its default."""
    raw = of(release)
    named: dict[tuple[tuple[str, str | None], ...], float] = {}
    for number, (user, client) in enumerate(
        [
            ("user-1", "client-id-1"), ("user-2", "client-id-1"), ("user-3", "client-id-2"), ("user-1", "-"),
            ("user-2", "-"), ("-", "client-id-2"), (None, "-"), (None, None), ("-", None), ("user with spaces/*", "-"),
            ("<default>", "-"),
        ]
    ):  # fmt: skip
        parts = tuple((type, name) for type, name in (("user", user), ("client-id", client)) if name != "-")
        named[parts] = 50.5 + number
        assert alter(raw, (dict(parts), {"request_percentage": 50.5 + number})) == [(Errors.NONE, None)]

    def found(strict: bool, **wanted: Any) -> set[Any]:
        described = describe(raw, filters(**wanted), strict=strict)
        assert isinstance(described, dict)
        assert all(values == {"request_percentage": named[parts]} for parts, values in described.items())
        return set(described)

    def those(strict: bool, **wanted: Any) -> set[Any]:
        """The entities that the filters mean."""
        wanted = {type.replace("_", "-"): match for type, match in wanted.items()}
        return {
            parts
            for parts in named
            if all(type in dict(parts) and match in (object, dict(parts)[type]) for type, match in wanted.items())
            and (not strict or set(dict(parts)) <= set(wanted))
        }

    for parts in named:
        exact: dict[str, Any] = {type.replace("-", "_"): name for type, name in parts}
        assert found(True, **exact) == those(True, **exact) == {parts}
    for strict in (True, False):
        for match in (None, object, "user-1"):
            for wanted in ({}, {"client_id": object}, {"user": match}, {"user": match, "client_id": object}):
                assert found(strict, **wanted) == those(strict, **wanted)
    for parts in named:
        assert alter(raw, (dict(parts), {"request_percentage": None})) == [(Errors.NONE, None)]
    assert describe(raw, [], strict=False) == {}


@pytest.mark.parametrize(
    ("release", "components", "error"),
    [
        ("kafka-2.7", filters(other="name"), Errors.UNSUPPORTED_VERSION),
        ("kafka-2.7", filters(ip="1.2.3.4"), Errors.UNSUPPORTED_VERSION),
        ("kafka-3.9", filters(other="name"), Errors.UNSUPPORTED_VERSION),
        ("kafka-3.9", filters(user="u") + filters(user="v"), INVALID),
        ("kafka-3.9", filters(ip="1.2.3.4", user="u"), INVALID),
        ("kafka-3.9", filters(ip="1.2.3.4", client_id=object), INVALID),
        ("kafka-3.9", [{"entity_type": "", "match_type": EXACT, "match": "x"}], INVALID),
    ],
)
def test_describe_client_quotas_invalid(of: Clusters, release: str, components: Any, error: Errors) -> None:
    """testClientQuotasUnsupportedEntityTypes, testDescribeClientQuotasInvalidFilterCombination."""
    assert describe(of(release), components, strict=False) is error


# -- DescribeConfigs and AlterConfigs ---------------------------------------------------------------------------------


def configs(raw: Raw, keys: list[str] | None, type: int = TOPIC, name: str = "orders") -> dict[str, Any]:
    wanted = {"resource_type": type, "resource_name": name, "configuration_keys": keys}
    (found,) = raw.ask(DESCRIBE_CONFIGS, 2, {"resources": [wanted], "include_synonyms": False})["results"]
    assert not found["error_code"], found["error_message"]
    return {each["name"]: each["value"] for each in found["configs"]}


@pytest.mark.parametrize(("release", "everything"), [("kafka-2.6", False), ("kafka-2.7", True), ("kafka-3.9", True)])
def test_describe_configs_by_name(of: Clusters, release: str, everything: bool) -> None:
    """AdminManagerTest.testDescribeConfigsWith(Null|Empty)ConfigurationKeys, ...WithConfigurationKeys (2.7.2): up to
    2.6 an empty list of names asked for nothing."""
    raw = of(release)
    every = configs(raw, None)
    assert {"retention.ms", "cleanup.policy", "min.insync.replicas"} <= set(every)
    assert configs(raw, []) == (every if everything else {})
    assert configs(raw, ["retention.ms", "flush.ms", "none"]).keys() == {"retention.ms", "flush.ms"}
    of_broker = configs(raw, None, BROKER, "0")
    assert {"listeners", "log.retention.ms"} <= set(of_broker)
    assert configs(raw, [], BROKER, "0") == (of_broker if everything else {})


def change(raw: Raw, *resources: tuple[int, str, list[tuple[str, int, str | None]]]) -> list[tuple[Errors, str | None]]:
    asked = [
        {
            "resource_type": type,
            "resource_name": name,
            "configs": [{"name": key, "config_operation": op, "value": value} for key, op, value in ops],
        }
        for type, name, ops in resources
    ]
    found = raw.ask(INCREMENTAL, 0, {"resources": asked, "validate_only": False})["responses"]
    return [(Errors(each["error_code"]), each["error_message"]) for each in found]


def replace(raw: Raw, *resources: tuple[int, str, list[tuple[str, str | None]]]) -> list[tuple[Errors, str | None]]:
    asked = [
        {
            "resource_type": type,
            "resource_name": name,
            "configs": [{"name": key, "value": value} for key, value in entries],
        }
        for type, name, entries in resources
    ]
    found = raw.ask(ALTER_CONFIGS, 0, {"resources": asked, "validate_only": False})["responses"]
    return [(Errors(each["error_code"]), each["error_message"]) for each in found]


LISTED = "leader.replication.throttled.replicas"


@pytest.mark.parametrize(
    ("release", "once", "kept"),
    [("kafka-2.7", False, ",0:0,1:1,0:0"), ("kafka-3.3", True, "0:0,1:1"), ("kafka-3.9", True, "0:0,1:1")],
)
def test_append_and_subtract(of: Clusters, release: str, once: bool, kept: str) -> None:
    """PlaintextAdminIntegrationTest.testAppendAlreadyExistsConfigsAndSubtractNotExistsConfigs,
    testAppendConfigToEmptyDefaultValue, testAppendConfigToExistentValue (3.3.2): before, a value was appended once
    more, and behind what an empty list split into."""
    raw = of(release)

    def list_now() -> str:
        return str(configs(raw, [LISTED])[LISTED])

    for value in ("0:0", "1:1", "0:0"):
        assert change(raw, (TOPIC, "orders", [(LISTED, APPEND, value)])) == [(Errors.NONE, None)]
    assert list_now() == kept
    assert change(raw, (TOPIC, "orders", [(LISTED, SUBTRACT, "7:7")])) == [(Errors.NONE, None)]
    assert list_now() == kept
    assert change(raw, (TOPIC, "orders", [(LISTED, SUBTRACT, "1:1")])) == [(Errors.NONE, None)]
    assert list_now() == kept.replace(",1:1", "")
    assert change(raw, (TOPIC, "orders", [("retention.ms", APPEND, "1")]))[0][0] is (
        INVALID_CONFIG if once else INVALID
    )
    assert change(raw, (TOPIC, "orders", [(LISTED, DELETE, None)])) == [(Errors.NONE, None)]


@pytest.mark.parametrize(("release", "strict"), [("kafka-2.7", False), ("kafka-3.3", True), ("kafka-3.9", True)])
def test_changes_that_are_refused(of: Clusters, release: str, strict: bool) -> None:
    """ConfigAdminManagerTest.testPreprocess(Incremental|Legacy)With(Nulls|Duplicates|UnknownResource),
    testValidateResourceNameIsCurrentNodeId, PlaintextAdminIntegrationTest.testInvalidAlterConfigs (3.3.2): what is
    right in the same request is done."""
    raw = of(release)
    outcomes = change(
        raw,
        (TOPIC, "orders", [("retention.ms", SET, None)]),
        (TOPIC, "none", [("retention.ms", SET, "1")]),
        (BROKER, "1", [("log.cleaner.threads", SET, "1")]),
        (BROKER, "", [("max.connections", SET, "9999")]),
    )
    assert [error for error, _ in outcomes] == [INVALID, Errors.UNKNOWN_TOPIC_OR_PARTITION, INVALID, Errors.NONE]
    assert change(raw, (TOPIC, "orders", [("retention.ms", SET, "1"), ("retention.ms", SET, "2")]))[0][0] is INVALID
    assert change(raw, (TOPIC, "orders", [("retention.ms", SET, "x")]))[0][0] is (INVALID_CONFIG if strict else INVALID)
    assert replace(raw, (TOPIC, "orders", [("retention.ms", "x")]))[0][0] is (INVALID_CONFIG if strict else INVALID)
    assert replace(raw, (TOPIC, "orders", [("retention.ms", None)]))[0][0] is INVALID
    assert replace(raw, (BROKER, "0", [("broker.id", "7")]))[0][0] is INVALID
    assert replace(raw, (77, "orders", [("retention.ms", "1")]))[0][0] is INVALID
    assert configs(raw, ["retention.ms"]) == {"retention.ms": "604800000"}
    assert change(raw, (BROKER, "", [("max.connections", DELETE, None)])) == [(Errors.NONE, None)]
    if strict:
        assert replace(raw, (77, "orders", [])) == [(INVALID, "Unknown resource type 77")]
        assert replace(raw, (BROKER, "x", [])) == [(INVALID, "Node id must be an integer, but it is: x")]
        twice = change(raw, (TOPIC, "orders", [("flush.ms", SET, "1")]), (TOPIC, "orders", [("flush.ms", SET, "2")]))
        assert twice == [(INVALID, "Each resource must appear at most once.")] * 2
        assert replace(raw, (TOPIC, "orders", []), (TOPIC, "orders", [])) == twice
        assert change(raw, (TOPIC, "", [("flush.ms", SET, "1")])) == [
            (INVALID, "Default topic resources are not allowed.")
        ]


LOGGER = 8


@pytest.mark.parametrize(
    ("release", "code", "prefix"),
    [
        ("kafka-2.7", INVALID, "Invalid config value for resource ConfigResource(type=BROKER_LOGGER, name='0'): "),
        ("kafka-3.3", INVALID_CONFIG, ""),
        ("kafka-3.9", INVALID_CONFIG, ""),
    ],
)
def test_levels_that_are_refused(of: Clusters, release: str, code: Errors, prefix: str) -> None:
    """ConfigAdminManagerTest.testValidateLogLevelConfigs, testValidateRootLogLevelConfigs (3.3.2),
    PlaintextAdminIntegrationTest .testIncrementalAlterConfigsForLog4jLogLevelsDoesNotWorkWithInvalidConfigs,
    testAlterConfigsForLog4jLogLevelsDoesNotWork."""
    raw = of(release)

    def level(name: str, op: int, value: str | None) -> tuple[Errors, str | None]:
        return change(raw, (LOGGER, "0", [(name, op, value)]))[0]

    assert level("none", SET, "INFO") == (code, f"{prefix}Logger none does not exist!")
    assert level("none", DELETE, None) == (code, f"{prefix}Logger none does not exist!")
    error, why = level("kafka", SET, "LOUD")
    assert error is code
    assert (why or "").startswith(
        f"{prefix}Cannot set the log level of kafka to LOUD as it is not a supported log level."
    )
    for name, op, value in (
        ("root", DELETE, None),
        ("kafka", APPEND, "INFO"),
        ("kafka", SUBTRACT, "INFO"),
        ("kafka", 9, "INFO"),
    ):
        assert level(name, op, value)[0] is INVALID
    assert level("root", SET, "ERROR") == level("kafka", DELETE, None) == (Errors.NONE, None)
    assert configs(raw, ["kafka"], LOGGER, "0") == {"kafka": "ERROR"}
    assert replace(raw, (LOGGER, "0", [("kafka", "INFO")]))[0][0] is INVALID


# -- SCRAM ------------------------------------------------------------------------------------------------------------


def upsert(name: str, mechanism: int = 1, iterations: int = 4096) -> dict[str, Any]:
    return {"name": name, "mechanism": mechanism, "iterations": iterations, "salt": b"salt", "salted_password": b"word"}


@pytest.mark.parametrize("release", ["kafka-2.7", "kafka-3.9"])
def test_scram_users(of: Clusters, release: str) -> None:
    """testAlterNothing, testAlterSameThingTwice, testAlterAndDescribe, testDescribeNothing, testDescribeWithNull,
    testUnknownUser, testDescribeSameUserTwice: a change that is refused refuses the user's others."""
    raw = of(release)

    def altered(deletions: list[Any], upsertions: list[Any]) -> dict[str, Errors]:
        found = raw.ask(ALTER_SCRAM, 0, {"deletions": deletions, "upsertions": upsertions})["results"]
        return {each["user"]: Errors(each["error_code"]) for each in found}

    def described(users: list[str] | None) -> dict[str, Any]:
        named = None if users is None else [{"name": user} for user in users]
        answer = raw.ask(DESCRIBE_SCRAM, 0, {"users": named})
        assert answer["error_code"] == 0
        return {
            each["user"]: Errors(each["error_code"])
            or [(one["mechanism"], one["iterations"]) for one in each["credential_infos"]]
            for each in answer["results"]
        }

    assert altered([], []) == {}
    assert described(None) == described([]) == {}
    assert altered([], [upsert("user1"), upsert("user1", 2, 8192), upsert("user2")]) == {"user1": 0, "user2": 0}
    everyone = {"user1": [(1, 4096), (2, 8192)], "user2": [(1, 4096)]}
    assert described(None) == described([]) == described(["user1", "user2"]) == everyone
    twice = Errors.DUPLICATE_RESOURCE
    deletion = {"name": "user1", "mechanism": 1}
    assert altered([deletion, deletion], []) == {"user1": twice}
    assert altered([deletion], [upsert("user1")]) == {"user1": twice}
    assert altered([{"name": "user1", "mechanism": 2}], [upsert("user1", 1, 100)]) == {
        "user1": Errors.UNACCEPTABLE_CREDENTIAL
    }
    assert altered([{"name": "none", "mechanism": 1}], [upsert("user3")]) == {
        "none": Errors.RESOURCE_NOT_FOUND,
        "user3": 0,
    }
    assert described(None) == {**everyone, "user3": [(1, 4096)]}
    assert described(["user1", "user1", "none"]) == {"user1": twice, "none": Errors.RESOURCE_NOT_FOUND}
    gone = [{"name": user, "mechanism": 1} for user in ("user1", "user2", "user3")]
    assert altered(gone, []) == {"user1": 0, "user2": 0, "user3": 0}
    assert described(None) == {"user1": [(2, 8192)]}
    assert altered([{"name": "user1", "mechanism": 2}], []) == {"user1": 0}
    assert described(None) == {}


@pytest.mark.parametrize("release", ["kafka-2.7", "kafka-3.9"])
def test_scram_users_and_the_controller(of: Clusters, release: str) -> None:
    """testDescribeNotController, testAlterNotController (2.7.2): any broker describes, the controller alone alters."""
    of(release)
    raw = of.served[release].connect(1)
    assert raw.ask(DESCRIBE_SCRAM, 0, {"users": None})["error_code"] == 0
    asked = {"deletions": [{"name": "user1", "mechanism": 1}], "upsertions": [upsert("user2", 2)]}
    found = raw.ask(ALTER_SCRAM, 0, asked)["results"]
    assert {each["user"]: Errors(each["error_code"]) for each in found} == dict.fromkeys(
        ("user1", "user2"), Errors.NOT_CONTROLLER
    )


@pytest.mark.parametrize("release", ["kafka-2.7", "kafka-3.9"])
def test_client_quotas_for_scram_users(of: Clusters, release: str) -> None:
    """testClientQuotasForScramUsers."""
    raw = of(release)
    found = raw.ask(ALTER_SCRAM, 0, {"deletions": [], "upsertions": [upsert("user")]})["results"]
    assert [each["error_code"] for each in found] == [0]
    assert describe(raw, filters(user="user"), strict=True) in ({}, {(("user", "user"),): {}})
    quotas: dict[str, float | None] = {"producer_byte_rate": 10000.0, "consumer_byte_rate": 20000.0}
    assert alter(raw, ({"user": "user"}, quotas)) == [(Errors.NONE, None)]
    assert describe(raw, filters(user="user"), strict=True) == {(("user", "user"),): quotas}
    assert alter(raw, ({"user": "user"}, dict.fromkeys(quotas))) == [(Errors.NONE, None)]
    gone = raw.ask(ALTER_SCRAM, 0, {"deletions": [{"name": "user", "mechanism": 1}], "upsertions": []})["results"]
    assert [each["error_code"] for each in gone] == [0]


# -- topics -----------------------------------------------------------------------------------------------------------


def test_topics_are_deleted_in_every_version(of: Clusters) -> None:
    """DeleteTopicsRequestTest.testDeleteTopicsVersions (3.3.2), MetadataRequestTest.testClusterIdWithRequestVersion1:
    the cluster's id comes with version 2."""
    raw = of("kafka-3.3")
    for version in range(7):
        name = f"topic-{version}"
        wanted = {"name": name, "num_partitions": 1, "replication_factor": 1}
        raw.ask(CREATE_TOPICS, 5, {"topics": [wanted], "timeout_ms": 10_000})
        body = {"topics": [{"name": name}]} if version == 6 else {"topic_names": [name]}
        [found] = raw.ask(DELETE_TOPICS, version, {**body, "timeout_ms": 10_000})["responses"]
        assert (found["name"], found["error_code"]) == (name, 0)
        assert name not in [each["name"] for each in raw.metadata()["topics"]]
    assert [bool(raw.ask(METADATA, version, {"topics": None}).get("cluster_id")) for version in (1, 2)] == [False, True]


@pytest.mark.parametrize("release", ["kafka-2.8", "kafka-3.9"])
def test_describe_cluster(of: Clusters, release: str) -> None:
    """DescribeClusterRequestTest.testDescribeClusterRequest(In|Ex)cludingClusterAuthorizedOperations (2.8.2)."""
    raw = of(release)
    for asks in (False, True):
        answer = raw.ask(DESCRIBE_CLUSTER, 0, {"include_cluster_authorized_operations": asks})
        assert (answer["error_code"], answer["controller_id"]) == (0, 0)
        assert sorted(broker["broker_id"] for broker in answer["brokers"]) == [0, 1]
        assert answer["cluster_id"]
        assert (answer["cluster_authorized_operations"] == -(1 << 31)) is not asks


# -- MetadataRequestTest ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ["kafka-2.4", "kafka-3.9"])
def test_is_internal(of: Clusters, release: str) -> None:
    """testIsInternal."""
    raw = of(release)
    new = {"name": "__consumer_offsets", "num_partitions": 3, "replication_factor": 2, "assignments": [], "configs": []}
    [made] = raw.ask(19, 2, {"topics": [new], "timeout_ms": 60_000, "validate_only": False})["topics"]
    assert made["error_code"] == 0
    found = {each["name"]: each["is_internal"] for each in raw.ask(METADATA, 1, {"topics": None})["topics"]}
    assert (found["__consumer_offsets"], found["orders"]) == (True, False)
