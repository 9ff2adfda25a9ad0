"""Kafka 3.0 (3.0.2) with ZooKeeper: producer ids from the controller (KIP-730)."""

from brokers.partition.isr import ByController
from scenarios.profiles.profile import Difference, api_versions, message_format
from scenarios.profiles.releases.kafka_2_8 import PROFILE as KAFKA_2_8
from scenarios.profiles.tickets import differences

RELEASE = "3.0.2"
PROFILE = KAFKA_2_8.with_differences(
    *differences(KAFKA_2_8, RELEASE),
    Difference(
        title="a leader changes its ISR",
        here="as in 2.8; of a partition only one change at a time is asked for, also across leader epochs",
        source="KAFKA-12686, 3.0",
        policies={"brokers.isr_writes": ByController(at_once=True, awaits_answers=True)},
    ),
    Difference(
        title="the log of a replica has the id of its topic",
        before="never, or, in 2.8, from its second LeaderAndIsr on, as the first one after a start is not checked",
        here="from its creation on, and every LeaderAndIsr is checked",
        source="KAFKA-13132, 3.0",
        policies={"brokers.identifies_logs": True},
    ),
    Difference(
        title="a broker gets blocks of producer ids",
        before="in ZooKeeper, where it claims them itself",
        here="from the controller (AllocateProducerIds), the next one before the last is used up",
        source="KIP-730, 3.0",
        policies={"brokers.asks_for_producer_ids": True},
    ),
    Difference(
        title="a broker that shuts down finds the controller",
        before="in ZooKeeper",
        here="in its metadata, also while there is no ZooKeeper",
        source="KAFKA-9189, 3.0",
        policies={"brokers.shuts_down_by_metadata": True},
    ),
    Difference(
        title="in a consumer's fetch session, a partition comes after the others",
        before="once anything about it was sent",
        here="once its records were sent",
        source="KAFKA-12330, 3.0",
        policies={"brokers.records_alone_go_last": True},
    ),
    Difference(
        title="retention deletes",
        before="by age, then by size, then what is before the start of the log",
        here="what is before the start of the log, then by size, then by age",
        source="KAFKA-12177, 3.0",
        policies={"brokers.log_rules.deletes_by_start_first": True},
    ),
    Difference(
        title="a member of a consumer group with an instance id that its group does not know",
        before="is taken for the member that its member id says, but not when it joins",
        here="is refused (UNKNOWN_MEMBER_ID); one that commits in a transaction has to state its generation",
        source="GroupCoordinator.validateCurrentMember, 3.0",
        policies={"brokers.groups.validates_members": True},
    ),
    Difference(
        title="a commit without a generation to an empty group",
        before="is accepted, whichever member it names",
        here="is refused where it names a member or an instance id (UNKNOWN_MEMBER_ID)",
        source="GroupCoordinator.validateOffsetCommit, 3.0 to 3.2",
        policies={"brokers.groups.empty_validates_members": True},
    ),
    api_versions(
        RELEASE,
        "3.0.2: as in 2.8, and several groups in one request (FindCoordinator 4, OffsetFetch 8), ListOffsets 7",
        "KIP-699, KIP-709 and KIP-734, 3.0",
    ),
    message_format("3.0-IV1"),
    name="kafka-3.0",
    release=RELEASE,
    help="3.0: kafka-2.8 with producer ids from the controller (KIP-730)",
    leaves_out=(
        *KAFKA_2_8.leaves_out,
        "an error for a producer that waits longer than `request.timeout.ms` for an id: it waits on",
        "the topic id of a copy that becomes the log in another directory: it has one with the next LeaderAndIsr",
        "KIP-724: `message.format.version` can be set, as before; KIP-679: clients have the defaults of the scenario",
        "DescribeTransactions and ListTransactions (KIP-664)",
        "the end of `--zookeeper`: tools can still write `/admin/reassign_partitions`, which controllers read",
    ),
)
