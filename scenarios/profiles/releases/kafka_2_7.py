"""Kafka 2.7 (2.7.2): ISRs changed by the controller (KIP-497)."""

from brokers.partition.isr import ByController
from fetchers.truncation import OnFetch
from scenarios.profiles.profile import Difference, api_versions, message_format
from scenarios.profiles.releases.kafka_2_6 import PROFILE as KAFKA_2_6
from scenarios.profiles.tickets import differences

RELEASE = "2.7.2"
PROFILE = KAFKA_2_6.with_differences(
    *differences(KAFKA_2_6, RELEASE),
    Difference(
        title="Metadata (version 6 and later) of a partition whose leader is not alive has",
        before="LISTENER_NOT_FOUND",
        here="LEADER_NOT_AVAILABLE",
        source="KAFKA-10312, 2.7",
        policies={"brokers.leaderless_lacks_listener": False},
    ),
    Difference(
        title="the quotas of users and clients",
        before="have no controller_mutation_rate",
        here="have controller_mutation_rate too",
        source="KIP-599, 2.7",
        policies={"brokers.admin.limits_mutations": True},
    ),
    Difference(
        title="a question for the settings of a topic or broker with an empty list of names",
        before="is answered with none",
        here="is answered with all of them",
        source="AdminManager.describeConfigs, 2.7",
        policies={"brokers.admin.no_names_are_all": True},
    ),
    Difference(
        title="a leader changes its ISR",
        here="through the controller (AlterIsr); until it answers, the larger set counts, and nothing waits",
        source="KIP-497, 2.7",
        policies={"brokers.isr_writes": ByController(), "kip_455.watches_isr": False},
    ),
    Difference(
        title="the UpdateMetadata for a broker that starts",
        before="names topics that are being deleted",
        here="leaves out topics that are being deleted: the broker learns of them when their deletion goes on",
        source="ControllerContext.partitionsWithLeaders, 2.7",
        policies={"controller.names_deleting_at_start": False},
    ),
    Difference(
        title="a request about moves that the controller drops when its session expires",
        before="is not answered",
        here="is answered (NOT_CONTROLLER)",
        source="KAFKA-10193, 2.7",
        policies={"controller.answers_preempted": True},
    ),
    Difference(
        title="a follower under a new leader epoch truncates its log",
        here="to where the logs diverge, which the leader says in answer to a fetch",
        source="KIP-595, inter-broker protocol 2.7-IV1 (the follower's code: 2.8.0)",
        policies={"fetchers.truncation": OnFetch()},
    ),
    Difference(
        title="a heartbeat of a consumer that has joined its group and is not assigned yet",
        before="is answered with REBALANCE_IN_PROGRESS, and does not prolong its session",
        here="counts like any other",
        source="KAFKA-10134, 2.7",
        policies={"brokers.groups.heartbeats_while_syncing": True},
    ),
    Difference(
        title="the new member id of a static member that joins its stable group again",
        before="is known to its coordinator alone: the next one fences the member",
        here="is stored before the member gets it",
        source="KAFKA-10284, 2.7",
        policies={"brokers.groups.static_member_stored": True},
    ),
    api_versions(
        RELEASE,
        "2.7.2: as in 2.6; a transactional producer learns whether it is fenced for good (PRODUCER_FENCED: "
        "KIP-588, InitProducerId 4)",
        "KIP-588, 2.7",
    ),
    message_format("2.7-IV2"),
    name="kafka-2.7",
    release=RELEASE,
    help="2.7: kafka-2.6 with ISRs changed by the controller (KIP-497)",
    registration=5,
)
