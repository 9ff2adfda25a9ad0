"""Records that the operator has deleted (KIP-107)."""

from __future__ import annotations

from attrs import converters, field, frozen

from emulator.protocol.delete_records import TO_HIGH_WATERMARK
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.tools.delete_records_command import TIMEOUT_US, delete_records
from scenarios.errors import BadInput
from scenarios.faults.operated import ExpectsError, error_key
from scenarios.faults.performer import ActionContext
from scenarios.language import PROFILES
from scenarios.language.actions import action
from scenarios.language.known_names import KnownNames
from scenarios.language.record_offsets import END, OffsetOrEnd
from scenarios.language.schema.kinds import SOME_TIME, ListOf, as_tuple
from scenarios.language.schema.table_reader import key
from scenarios.language.topic_spec import PARTITION_NAME, TOPIC_NAME
from scenarios.profiles.profile import is_before

SINCE = "0.11"
"""The first release that deletes records on request."""
_EXPECT_ERROR = error_key(
    Errors.OFFSET_OUT_OF_RANGE,
    Errors.UNKNOWN_TOPIC_OR_PARTITION,
    Errors.LEADER_NOT_AVAILABLE,
    Errors.NOT_LEADER_FOR_PARTITION,
    Errors.REQUEST_TIMED_OUT,
    Errors.POLICY_VIOLATION,
    Errors.KAFKA_STORAGE_ERROR,
)


@action("records.delete", "delete records from the beginning of partitions, as kafka-delete-records.sh does")
@frozen(kw_only=True)
class RecordsDelete(ExpectsError):
    topic: str | None = field(default=None, metadata=key(TOPIC_NAME, "the topic, with all its partitions"))
    partitions: tuple[str, ...] | None = field(
        default=None,
        converter=converters.optional(as_tuple),
        metadata=key(ListOf(PARTITION_NAME, unique=True, empty=False), "which partitions, where not all of a topic"),
    )
    before: int = field(
        default=TO_HIGH_WATERMARK,
        metadata=key(OffsetOrEnd(), "the first offset that is kept, in each; end: all that is committed goes"),
    )
    timeout_us: int = field(
        default=TIMEOUT_US,
        metadata=key(SOME_TIME, "how long a leader waits for the other replicas before it answers", name="timeout"),
    )
    expect_error: str | None = field(default=None, metadata=_EXPECT_ERROR)

    def detail(self) -> str:
        what = self.topic or ", ".join(self.partitions or ())
        return f"{what} before {END if self.before == TO_HIGH_WATERMARK else self.before}"

    def sends(self, known: KnownNames) -> tuple[str, ...]:
        return ("Metadata", "DeleteRecords")

    def check(self, known: KnownNames) -> None:
        if (self.topic is None) == (self.partitions is None):
            raise BadInput("neither or both of 'topic' and 'partitions'; write one of them", where="topic")
        if self.topic is not None:
            known.topic(self.topic, "topic")
        for index, name in enumerate(self.partitions or ()):
            known.partition(name, f"partitions[{index}]")
        profile = PROFILES[known.scenario.profile]
        if is_before(profile.release, SINCE):
            raise BadInput(
                f"profile {profile.name!r} deletes no records on request; write one that does, such as 'kafka-1.1'",
                where="action",
            )

    def perform(self, context: ActionContext) -> None:
        partitions = None if self.partitions is None else tuple(map(TopicPartition.parse, self.partitions))
        topics = [self.topic] if partitions is None else list(dict.fromkeys(tp.topic for tp in partitions))
        self.begin(context, delete_records, topics, partitions, self.before, self.timeout_us)
