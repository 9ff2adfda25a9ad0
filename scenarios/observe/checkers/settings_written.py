"""M14: settings that a broker says are changed are in ZooKeeper, and it describes those that are in force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from brokers.config_def import TOPIC_CONFIGS
from emulator.protocol.alter_configs import (
    AlterConfigOp,
    AlterConfigsRequest,
    IncrementalAlterConfigsRequest,
    OpType,
)
from emulator.protocol.configs import ConfigType
from emulator.protocol.control_requests import TopicsAnswered
from emulator.protocol.create_topics import CreateTopicsRequest
from emulator.protocol.describe_configs import (
    ConfigEntry,
    ConfigSource,
    DescribeConfigsRequest,
    Resource,
    ResourceType,
)
from emulator.protocol.errors import Errors
from emulator.protocol.events import NodeStarted
from emulator.protocol.shown import SettingsTaken
from emulator.protocol.znodes import ALL_BROKERS, TOPICS, broker_entity, decode_config, topic_entity
from emulator.trace.events import ZkWritten
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.checkers.administrator_answers import LATELY_US, AdministratorAnswers
from scenarios.observe.findings.metadata_facts import NotWritten
from scenarios.observe.history.described_settings import Config, wrong_entries
from scenarios.observe.history.lately import Lately

CONFIG = "/config/"
INVALID = Errors.INVALID_CONFIG, Errors.INVALID_REQUEST
"""The errors of a setting that cannot be."""
AlterRequest = AlterConfigsRequest | IncrementalAlterConfigsRequest
Entries = Sequence[ConfigEntry]
NOTHING: Config = {}


class SettingsWritten(AdministratorAnswers):
    """A request to change settings, or to create a topic with some, is answered without an error once they are in
    ZooKeeper (AdminManager.alterConfigs, 0.11 to 3.9; AdminManager.createTopics, 0.10.1 to 3.9). A description has the
    settings that are in force (AdminManager.describeConfigs, 0.11; KIP-226, 1.1).

    Verified: each such answer, setting by setting, against what ZooKeeper has at that moment, or has had in the last
        10 s. It has each resource of the request, in that order. A topic that was there all the time is not unknown,
        and known settings of a topic with whole numbers that they can have are not refused, nor others accepted;
        no such change fails where nothing has delayed the broker for 10 s.

        Each description of a topic or of a broker, also that of a topic in an answer to CreateTopics (KIP-525, 2.4):
        every setting that is asked for, once, and no other; its value and where that comes from, and, where they are
        asked for, the values that it comes before. Those of topics against ZooKeeper since the broker took the request
        up, those of brokers against what the broker has taken over since it started, the rest against its start.

    Not verified: values that are added to a list, or taken out of it; levels of loggers; other errors; which of a
        broker's settings are read-only; whether brokers take them over (``broker_remembers``).
    """

    ids = ("M14",)
    statement = (
        "answered(s) ⇒ s ∈ Z, described(s) = Z(s): settings are in ZooKeeper once a broker says so, and a broker "
        "describes those that are in force"
    )
    fails_when = "a broker answers a change of settings that it has not written"

    def begin(self) -> None:
        self.history.answers.of(
            self._answered,
            AlterConfigsRequest,
            IncrementalAlterConfigsRequest,
            DescribeConfigsRequest,
            CreateTopicsRequest,
        )
        self._written: Lately[str, Config] = Lately(NOTHING)
        """The settings of each entity that were written."""
        self._taken: Lately[tuple[int, str], Config] = Lately(NOTHING)
        """The settings of brokers, and of all of them, that each broker has taken over."""
        self._topics: Lately[str, bool] = Lately(False)
        """Whether a topic was in ZooKeeper."""

    def on_written(self, event: ZkWritten) -> None:
        path = event.path
        if path.startswith(CONFIG) and not path.startswith("/config/changes"):
            self._written.put(path.removeprefix(CONFIG), event.t_us, _settings(event))
        elif path.startswith(TOPICS) and path.count("/") == TOPICS.count("/") + 1:
            self._topics.put(path.rpartition("/")[2], event.t_us, event.op != "delete")

    def on_taken(self, event: SettingsTaken) -> None:
        if event.entity in (ALL_BROKERS, broker_entity(event.node)):
            self._taken.put((event.node, event.entity), event.t_us, dict(event.settings))

    def on_started(self, event: NodeStarted) -> None:
        for entity in (ALL_BROKERS, broker_entity(event.node)):
            self._taken.put((event.node, entity), event.t_us, NOTHING)

    def _answered(self, event: RequestAnswered) -> None:
        request = event.request
        if isinstance(request, AlterRequest):
            self._altered(event, request)
        elif isinstance(request, DescribeConfigsRequest):
            self._described(event, request)
        elif isinstance(request, CreateTopicsRequest):
            for created in event.response.topics if not request.validate_only else ():
                if created.error.code is Errors.NONE:
                    written = self._written.since(topic_entity(created.name), event.since_us)
                    self._compare_entries(event, f"topic {created.name}", written, created.config, synonyms=False)
                    self._compare_names(event, Resource(ResourceType.TOPIC, created.name), None, created.config)

    # -- changes ------------------------------------------------------------------------------------------------------

    def _altered(self, event: RequestAnswered, request: AlterRequest) -> None:
        answered, named = event.response.resources, [resource for resource, _ in request.resources]
        if [resource for resource, _ in answered] != named:
            self.wrong(event, "", [str(resource) for resource, _ in answered], list(map(str, named)))
            return
        resources: Any = request.resources
        for (resource, asked), (_resource, error) in zip(resources, answered, strict=True):
            plain = _plain(request, resource, asked) if named.count(resource) == 1 else None
            there = self._topics.since(resource.name, event.since_us) if resource.type == ResourceType.TOPIC else []
            if error.code is Errors.UNKNOWN_TOPIC_OR_PARTITION and there and all(there):
                self.wrong(event, str(resource), error.code.name, "the topic is there")
            failed = error.code is Errors.UNKNOWN_SERVER_ERROR
            if failed and plain and there == [True] and self.is_calm(event):
                self.wrong(event, str(resource), error.code.name, "it can be set")
            excused = failed and not self.is_calm(event)  # it has no session
            if plain is not None and plain is (error.code in INVALID) and not excused:
                self.wrong(event, str(resource), error.code.name, "it can be set" if plain else "it cannot be set")
            entity = _entity(resource) if error.code is Errors.NONE else None  # a refused name may be any
            if entity is None or request.validate_only:
                continue
            if isinstance(request, AlterConfigsRequest):
                wanted = dict(asked)
            else:
                sets = [op for op in asked if op.op in (OpType.SET, OpType.DELETE)]
                wanted = {op.name: op.value if op.op == OpType.SET else None for op in sets}
            self._compare(event, entity, wanted)

    def on_topics(self, event: TopicsAnswered) -> None:
        for topic, wanted in event.settings.items():
            self._compare(event, topic_entity(topic), wanted)

    def _compare(self, event: RequestAnswered | TopicsAnswered, entity: str, wanted: Mapping[str, str | None]) -> None:
        lately = [self._written.now(entity), *self._written.since(entity, event.t_us - LATELY_US)[1:]]
        for name, value in wanted.items():
            if not any(_same(config.get(name), value) for config in lately):
                facts = NotWritten(event.node, entity, name, value, lately[0].get(name))
                self.violated(event, facts, brokers=(event.node,))

    # -- descriptions -------------------------------------------------------------------------------------------------

    def _described(self, event: RequestAnswered, request: DescribeConfigsRequest) -> None:
        answered, named = event.response.resources, [resource for resource, _ in request.resources]
        if [each.resource for each in answered] != named:
            self.wrong(event, "", [str(each.resource) for each in answered], list(map(str, named)))
            return
        for (resource, names), described in zip(request.resources, answered, strict=True):
            of_topic = resource.type == ResourceType.TOPIC
            if not of_topic and (resource.type != ResourceType.BROKER or not resource.name):
                continue
            code, entity = described.error.code, _entity(resource) if of_topic else None
            if code is Errors.NONE:
                topics = None if entity is None else self._written.since(entity, event.since_us)
                self._compare_entries(event, str(resource), topics, described.entries, request.include_synonyms)
                self._compare_names(event, resource, names, described.entries)
            elif described.entries:
                self.wrong(event, str(resource), f"{code.name}, with settings", "none with an error")

    def _layers(self, event: RequestAnswered) -> list[list[Config]]:
        """The settings of the broker, and of all brokers, that it has had since it took the request up."""
        entities = broker_entity(event.node), ALL_BROKERS
        return [self._taken.since((event.node, entity), event.since_us) for entity in entities]

    def _compare_entries(
        self, event: RequestAnswered, of: str, topics: list[Config] | None, entries: Entries, synonyms: bool
    ) -> None:
        wrong: list[tuple[str, str, str]] = []
        own_topics: list[Config | None] = [*topics] if topics else [None]
        mine, of_all = self._layers(event)
        for topic, own, default in product(own_topics, mine, of_all):
            layers = [(ConfigSource.DYNAMIC_BROKER_CONFIG, own), (ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG, default)]
            wrong = list(wrong_entries(topic, layers, self.start.brokers, entries, synonyms=synonyms))
            if not wrong:
                return
        name, said, right = wrong[0]
        self.wrong(event, f"{name} of {of}", said, right)

    def _compare_names(
        self, event: RequestAnswered, resource: Resource, names: tuple[str, ...] | None, entries: Entries
    ) -> None:
        said = [entry.name for entry in entries]
        if resource.type == ResourceType.TOPIC:
            every = dict.fromkeys(TOPIC_CONFIGS)
        else:
            every = {name: None for layer in self._layers(event) for name in layer[-1]}
        if names:  # releases differ about what no names ask for
            every = dict.fromkeys(name for name in names if name in every)
        lacking = [name for name in every if name not in said]
        more = [name for name in said if names and name not in names]
        if (names is None or names) and (lacking or more):
            self.wrong(event, str(resource), f"{more or 'nothing'} besides", f"{lacking or 'nothing'} besides")


def _plain(request: AlterRequest, resource: Resource, asked: Any) -> bool | None:
    """Whether known settings of a topic can have what is asked for: whole numbers; None: that is not so plain."""
    if resource.type != ResourceType.TOPIC or not resource.name:  # an empty name is refused since 3.0
        return None
    values: list[tuple[str, str | None]]
    if isinstance(request, AlterConfigsRequest):
        values = list(asked)
    else:
        ops: Sequence[AlterConfigOp] = asked
        if any(op.op not in (OpType.SET, OpType.DELETE) for op in ops):
            return None
        values = [(op.name, op.value) for op in ops if op.op == OpType.SET]
    if len(dict(values)) < len(values):
        return None
    answers = [_fits(name, value) for name, value in values]
    return None if None in answers else all(answers)


def _fits(name: str, value: str | None) -> bool | None:
    known = TOPIC_CONFIGS.get(name)
    if known is None or known.type not in (ConfigType.INT, ConfigType.LONG) or value is None or name.endswith("lag.ms"):
        return None
    if not value.removeprefix("-").isdecimal():
        return False
    number = int(value)
    return (known.at_least is None or number >= known.at_least) and abs(number) < 1 << known.type.bits - 1


def _entity(resource: Resource) -> str | None:
    """The entity of a resource in ZooKeeper; None: it has none."""
    if resource.type == ResourceType.TOPIC:
        return topic_entity(resource.name)
    if resource.type != ResourceType.BROKER:
        return None
    return broker_entity(int(resource.name)) if resource.name else ALL_BROKERS


def _same(written: str | None, wanted: str | None) -> bool:
    """Whether a broker may have written this for what was wanted: it writes numbers as Java shows them."""
    if written == wanted or written is None or wanted is None:
        return written == wanted
    try:
        return float(written) == float(wanted)
    except ValueError:
        return False


def _settings(event: ZkWritten) -> Config:
    """The settings of a write; none where a client has written what is none."""
    try:
        return {} if event.op == "delete" else decode_config(event.data)
    except (ValueError, KeyError, TypeError):
        return {}
