"""Settings of topics and brokers changed while the cluster runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import evolve, field, frozen

from brokers.dynamic_broker_config import THREAD_POOLS
from emulator.protocol.configs import as_text
from emulator.protocol.znodes import ALL_BROKERS, broker_entity, topic_entity
from scenarios.cluster.clients.tools import config_command
from scenarios.errors import BadInput
from scenarios.faults.operated import OperatorAction
from scenarios.faults.performer import ActionContext
from scenarios.language import MethodEntry, Scenario, Target
from scenarios.language.actions import action
from scenarios.language.kafka_settings import (
    BROKERS_NAMES,
    DYNAMIC_BROKER_SETTINGS,
    DYNAMIC_CONFIG,
    DYNAMIC_SETTINGS,
    QUOTA_RATES,
    TOPIC_SETTINGS,
)
from scenarios.language.known_names import KnownNames
from scenarios.language.schema.kinds import Choice, ListOf, as_tuple
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import TARGET
from scenarios.language.topic_spec import MIN_ISR, TOPIC_NAME


@action("config.set", "change settings while the cluster runs, as kafka-configs.sh does")
@frozen(kw_only=True)
class ConfigSet(OperatorAction):
    config: dict[str, Any] = field(
        factory=dict, metadata=key(DYNAMIC_CONFIG, "settings by Kafka's names; others keep their values")
    )
    remove: tuple[str, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(
            ListOf(Choice(tuple(DYNAMIC_SETTINGS), "setting"), unique=True, empty=False),
            "settings to remove, so that their defaults apply again",
        ),
    )
    topic: str | None = field(
        default=None,
        metadata=key(TOPIC_NAME, "whose settings; absent, and brokers absent = the default of all brokers"),
    )
    brokers: Target | None = field(
        default=None, metadata=key(TARGET, "the brokers each of which gets them as its own settings")
    )

    def detail(self) -> str:
        settings = [f"{name}={as_text(value)}" for name, value in self.config.items()]
        removed = [f"no {name}" for name in self.remove]
        brokers = "all brokers" if self.brokers is None else f"brokers {self.brokers.words or 'each'}"
        return f"{self.topic or brokers}: {', '.join((*settings, *removed))}"

    def check(self, known: KnownNames) -> None:
        if self.topic is not None and self.brokers is not None:
            raise BadInput("a setting is a topic's or a broker's; name a topic, or brokers", where="brokers")
        if not self.config and not self.remove:
            raise BadInput('no setting is named; write one, such as { "min.insync.replicas" = 2 }', where="config")
        for name in (*self.config, *self.remove):
            self._check_setting(name)
        for name in filter(THREAD_POOLS.__contains__, self.config):
            self._check_threads(known.scenario, name)

    def hints(self, scenario: Scenario, entry: MethodEntry) -> Iterable[str]:
        named = (topic for topic in scenario.topics if topic.name == self.topic and MIN_ISR in self.config)
        rules = scenario.policies.brokers
        return (line for topic in named for line in evolve(topic, config=self.config).hints({}, rules))

    def _check_setting(self, name: str) -> None:
        if self.topic is None and name not in DYNAMIC_BROKER_SETTINGS:
            known_as = f", or write {BROKERS_NAMES[name]!r}" if name in BROKERS_NAMES else ""
            raise BadInput(f"{name} is a topic's; add topic{known_as}", where="config")
        if self.topic is not None and name not in TOPIC_SETTINGS and name not in QUOTA_RATES:
            raise BadInput(f"{name} is a broker's; leave topic out", where="config")
        if name in QUOTA_RATES and self.brokers is None:
            raise BadInput(f'{name} is each broker\'s own; add brokers, such as {{ mode = "all" }}', where="config")

    def _check_threads(self, scenario: Scenario, name: str) -> None:
        """Check a number of threads, where it is known before the run: no other action changes it."""
        entries = (*scenario.method, *scenario.rollbacks)
        changes = [
            entry.action for entry in entries if isinstance(entry.action, ConfigSet) and entry.action.names(name)
        ]
        before, after = int(scenario.settings()[name]), self.config[name]
        if len(changes) == 1 and not before // 2 <= after <= before * 2:
            raise BadInput(
                f"a running broker refuses {after} where it has {before} threads (DynamicThreadPool); "
                f"write {max(1, before // 2)} to {before * 2}, or go there in several steps",
                where=f"config.{name}",
            )

    def names(self, setting: str) -> bool:
        return setting in self.config or setting in self.remove

    def perform(self, context: ActionContext) -> None:
        entities = [ALL_BROKERS if self.topic is None else topic_entity(self.topic)]
        if self.brokers is not None:
            entities = [broker_entity(broker) for broker in context.find(self.brokers)]
            if not entities:
                context.refuse_no_broker(self.brokers)
        settings = {name: as_text(value) for name, value in self.config.items()}
        self.begin(context, config_command.alter, entities, settings, self.remove)
