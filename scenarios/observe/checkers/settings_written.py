"""M14: settings that a broker says are changed are in ZooKeeper."""

from __future__ import annotations

from collections.abc import Mapping

from emulator.protocol.alter_configs import AlterConfigsRequest, OpType
from emulator.protocol.control_requests import SettingsAnswered, TopicsAnswered
from emulator.protocol.describe_configs import Resource, ResourceType
from emulator.protocol.errors import Errors
from emulator.protocol.znodes import ALL_BROKERS, broker_entity, decode_config, topic_entity
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.metadata_facts import NotWritten

CONFIG = "/config/"
LATELY_US = 10_000_000
"""For so long what another has written since does not count against an answer."""

Config = Mapping[str, str]


class SettingsWritten(Checker):
    """A request to change settings, or to create a topic with some, is answered without an error once they are in
    ZooKeeper (AdminManager.alterConfigs, 0.11 to 3.9; AdminManager.createTopics, 0.10.1 to 3.9).

    Verified: each such answer, setting by setting, against what ZooKeeper has at that moment, or has had in the last
        10 s.

    Not verified: values that are added to a list, or taken out of it; levels of loggers; errors; whether
        brokers take them over (``broker_remembers``).
    """

    ids = ("M14",)
    statement = "answered(s) ⇒ s ∈ Z: settings are in ZooKeeper once a broker says so"
    fails_when = "a broker answers a change of settings that it has not written"

    def begin(self) -> None:
        self._written: dict[str, list[tuple[int, Config]]] = {}
        """The settings of each entity that were written, each with its time."""

    def on_written(self, event: ZkWritten) -> None:
        if event.path.startswith(CONFIG) and not event.path.startswith("/config/changes"):
            self._written.setdefault(event.path.removeprefix(CONFIG), []).append((event.t_us, _settings(event)))

    def on_settings(self, event: SettingsAnswered) -> None:
        request = event.request
        if request.validate_only:
            return
        replaces = isinstance(request, AlterConfigsRequest)
        for (resource, asked), (_resource, error) in zip(request.resources, event.outcomes, strict=True):
            entity = _entity(resource) if error.code is Errors.NONE else None  # a refused name may be any
            if entity is None:
                continue
            if replaces:
                wanted = dict(asked)
            else:
                sets = [op for op in asked if op.op in (OpType.SET, OpType.DELETE)]
                wanted = {op.name: op.value if op.op == OpType.SET else None for op in sets}
            self._compare(event, entity, wanted)

    def on_topics(self, event: TopicsAnswered) -> None:
        for topic, wanted in event.settings.items():
            self._compare(event, topic_entity(topic), wanted)

    def _compare(self, event: SettingsAnswered | TopicsAnswered, entity: str, wanted: Mapping[str, str | None]) -> None:
        found = self._written.get(entity, [])
        lately = [found[-1][1] if found else {}, *(config for t_us, config in found if event.t_us - t_us < LATELY_US)]
        for name, value in wanted.items():
            if not any(_same(config.get(name), value) for config in lately):
                facts = NotWritten(event.node, entity, name, value, lately[0].get(name))
                self.violated(event, facts, brokers=(event.node,))


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
