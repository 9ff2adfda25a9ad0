"""Topics created, deleted and expanded by the operator while the cluster runs."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import converters, field, frozen

from scenarios.cluster.clients.tools import topic_command
from scenarios.errors import BadInput
from scenarios.faults.operated import OperatorAction
from scenarios.faults.performer import ActionContext
from scenarios.language import PROFILES, MethodEntry, Plan, Scenario, TopicSpec
from scenarios.language.actions import action
from scenarios.language.generated import Placements
from scenarios.language.known_names import KnownNames
from scenarios.language.schema.kinds import REPLICAS, Integer, ListOf, as_tuple
from scenarios.language.schema.table_reader import Block, key
from scenarios.language.topic_spec import MOST_PARTITIONS, TOPIC_NAME

_NAME = key(TOPIC_NAME, "the topic's name")


@action("topic.create", "create a topic")
@frozen(kw_only=True)
class TopicCreate(OperatorAction):
    topic: TopicSpec = field(metadata=key(Block(TopicSpec), "the topic, as in [[topics]]"))

    def new_topic(self) -> TopicSpec:
        return self.topic

    def detail(self) -> str:
        return self.topic.name

    def follow(self, known: KnownNames) -> None:
        known.add(self.topic, "topic.name")

    def place(self, placements: Placements, plan: Plan | None) -> None:
        placements.add(self.topic)

    def hints(self, scenario: Scenario, entry: MethodEntry) -> Iterable[str]:
        return self.topic.hints(scenario.cluster.config, scenario.policies.brokers)

    def perform(self, context: ActionContext) -> None:
        topic = context.performer.make_topic(context.scenario, self.topic)
        self.begin(context, topic_command.create, topic.name, topic.assignment, topic.config)


@action("topic.delete", "mark a topic for deletion, as kafka-topics.sh --delete does")
@frozen(kw_only=True)
class TopicDelete(OperatorAction):
    topic: str = field(metadata=_NAME)

    def detail(self) -> str:
        return self.topic

    def follow(self, known: KnownNames) -> None:
        known.remove(self.topic, "topic")

    def place(self, placements: Placements, plan: Plan | None) -> None:
        placements.remove(self.topic)

    def check(self, known: KnownNames) -> None:
        profile = PROFILES[known.scenario.profile]
        if not profile.policies.deletes_topics:
            raise BadInput(
                f"profile {profile.name!r} knows no deletion of topics; write one that does, such as 'kafka-2.3'",
                where="action",
            )

    def perform(self, context: ActionContext) -> None:
        self.begin(context, topic_command.delete, self.topic)


@action("topic.expand", "add partitions to a topic, as kafka-topics.sh --alter does")
@frozen(kw_only=True)
class TopicExpand(OperatorAction):
    topic: str = field(metadata=_NAME)
    partitions: int = field(
        metadata=key(Integer(1, MOST_PARTITIONS), "how many partitions the topic has afterwards, in all")
    )
    assignment: tuple[tuple[int, ...], ...] | None = field(
        default=None,
        converter=converters.optional(as_tuple),
        metadata=key(
            ListOf(REPLICAS, empty=False),
            "replicas of each added partition; absent = placed as Kafka does",
        ),
    )

    def detail(self) -> str:
        return f"{self.topic} to {self.partitions} partitions"

    def follow(self, known: KnownNames) -> None:
        known.expand(self.topic, self.partitions, self.assignment)

    def place(self, placements: Placements, plan: Plan | None) -> None:
        placements.expand(self.topic, self.partitions, self.assignment)

    def perform(self, context: ActionContext) -> None:
        moving = context.cluster.setup.moves_forbid_expansion
        self.begin(context, topic_command.expand, self.topic, self.partitions, self.assignment, moving)
