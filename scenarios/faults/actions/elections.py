"""Elections that an operator requests: preferred and unclean ones."""

from __future__ import annotations

from attrs import converters, field, frozen

from emulator.protocol.elect_leaders import ElectionType
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.tools import leader_election_command
from scenarios.faults.operated import ExpectsError, error_key
from scenarios.faults.performer import ActionContext
from scenarios.language import PROFILES, Scenario
from scenarios.language.actions import action
from scenarios.language.known_names import KnownNames
from scenarios.language.schema.kinds import Choice, ListOf, as_tuple
from scenarios.language.schema.table_reader import key
from scenarios.language.topic_spec import PARTITION_NAME

API, CONFIG = "api", "config"
_EXPECT_ERROR = error_key(
    Errors.UNKNOWN_SERVER_ERROR,
    Errors.UNKNOWN_TOPIC_OR_PARTITION,
    Errors.LEADER_NOT_AVAILABLE,
    Errors.REQUEST_TIMED_OUT,
    Errors.INVALID_TOPIC_EXCEPTION,
    Errors.PREFERRED_LEADER_NOT_AVAILABLE,
    Errors.ELIGIBLE_LEADERS_NOT_AVAILABLE,
)


@frozen(kw_only=True)
class Election(ExpectsError):
    partitions: tuple[str, ...] | None = field(
        default=None,
        converter=converters.optional(as_tuple),
        metadata=key(ListOf(PARTITION_NAME, unique=True, empty=False), "which partitions; absent = all that exist"),
    )
    expect_error: str | None = field(default=None, metadata=_EXPECT_ERROR)

    def detail(self) -> str:
        return ", ".join(self.partitions or ("all partitions",))

    def sends(self, known: KnownNames) -> tuple[str, ...]:
        return ("Metadata", "ElectLeaders") if self._way(known.scenario) == API else ()

    def _way(self, scenario: Scenario) -> str:
        """The way in which the election is requested."""
        raise NotImplementedError


@action("election.preferred", "have the preferred replicas lead, as kafka-preferred-replica-election.sh does")
@frozen(kw_only=True)
class ElectionPreferred(Election):
    via: str | None = field(
        default=None,
        metadata=key(
            Choice(("zk", API), "way"),
            "by /admin/preferred_replica_election or by ElectLeaders; absent = as the profile's tool does",
        ),
    )

    def perform(self, context: ActionContext) -> None:
        command = (
            leader_election_command.by_api if self._way(context.scenario) == API else leader_election_command.by_znode
        )
        partitions = None if self.partitions is None else tuple(map(TopicPartition.parse, self.partitions))
        self.begin(context, command, partitions)

    def _way(self, scenario: Scenario) -> str:
        return self.via or PROFILES[scenario.profile].election_tool


@action("election.unclean", "elect a live replica where there is no live leader, whether or not it is in the ISR")
@frozen(kw_only=True)
class ElectionUnclean(Election):
    via: str | None = field(
        default=None,
        metadata=key(
            Choice((CONFIG, API), "way"),
            "by the topics' unclean.leader.election.enable, or by ElectLeaders (2.4); absent = as the profile's tool",
        ),
    )

    def perform(self, context: ActionContext) -> None:
        partitions = None if self.partitions is None else tuple(map(TopicPartition.parse, self.partitions))
        if self._way(context.scenario) == API:
            self.begin(context, leader_election_command.by_api, partitions, ElectionType.UNCLEAN)
        else:
            self.begin(context, leader_election_command.unclean_by_config, partitions)

    def _way(self, scenario: Scenario) -> str:
        return self.via or (API if PROFILES[scenario.profile].election_tool == API else CONFIG)
