"""Kafka 1.1 (1.1.1): what came with 2.0 to 2.3 is not there yet."""

from brokers.metadata_cache import MetadataCache
from controller.metrics import is_offline_by_leader
from scenarios.profiles import release_metrics
from scenarios.profiles.profile import Difference, api_versions, message_format
from scenarios.profiles.releases.kafka_2_3 import PROFILE as KAFKA_2_3
from scenarios.profiles.tickets import differences

RELEASE = "1.1.1"
PROFILE = KAFKA_2_3.with_differences(
    *differences(KAFKA_2_3, RELEASE),
    Difference(
        title="a log that is only compacted",
        before="loses the segments that are before its start",
        here="keeps the segments that are before its start",
        source="KAFKA-7400, 2.1",
        policies={"brokers.log_rules.cuts_compacted": False},
    ),
    Difference(
        title="a leader whose log knows a later leader epoch than its own, as one that a replaced controller makes,",
        before="forgets the later ones",
        here="keeps them",
        source="KAFKA-7415, 2.0.1",
        policies={"brokers.begins_past_epochs": False},
    ),
    Difference(
        title="a client that has used up its quota",
        before="is answered at once, without records where it reads; then its connection is muted",
        here="is answered later",
        source="KIP-219, 2.0",
        policies={"brokers.throttled_are_answered": False},
    ),
    Difference(
        title="max.compaction.lag.ms",
        before="has a dirty segment compacted in time, and rolls the active one",
        here="has no effect",
        source="KIP-354, 2.3",
        policies={"brokers.log_rules.compacts_in_time": False},
    ),
    Difference(
        title="a log that cannot be compacted",
        before="is left alone",
        here="ends the log cleaner of its broker, until the broker starts again",
        source="KIP-346, 2.1",
        policies={"brokers.log_rules.cleaner_survives": False},
    ),
    Difference(
        title="a log that is copied to another directory is left alone",
        before="by the log cleaner and by retention, until each of several copies that were begun has ended; one that "
        "is given up never does",
        here="by the log cleaner, until a copy ends",
        source="KAFKA-7322 and KAFKA-7441, 2.1",
        policies={"brokers.log_rules.counts_pauses": False},
    ),
    Difference(
        title="an UpdateMetadata that is about brokers alone holds",
        before="no partitions; only a broker that starts gets all of them",
        here="all partitions that ever had a leader",
        source="KAFKA-7537, 2.2",
        policies={"controller.metadata_without_partitions_holds_all": True},
    ),
    Difference(
        title="beside what it is about, an UpdateMetadata holds",
        before="nothing",
        here="all partitions of topics that are to be deleted",
        source="KAFKA-6481, 2.0",
        policies={"controller.names_all_deleting": True},
    ),
    Difference(
        title="a broker that stops several replicas gets",
        before="one StopReplica; a second one for those that it deletes",
        here="a StopReplica for each of them, after one for none",
        source="KAFKA-8294, 2.3",
        policies={"controller.groups_stops": False},
    ),
    Difference(
        title="a preferred election asked for by the znode, where the preferred replica leads",
        before="is not held",
        here="is held: the leader epoch is raised",
        source="KIP-183, 2.2",
        policies={"controller.elects_preferred_again": True},
    ),
    Difference(
        title="moves that are not begun leave `/admin/reassign_partitions`",
        before="in one write, made even where none leaves",
        here="each in a write of its own",
        source="KAFKA-6617, 2.0",
        policies={"controller.refuses_moves_together": False},
    ),
    Difference(
        title="OfflinePartitionsCount counts",
        before="partitions in state Offline, except those of topics whose deletion has begun",
        here="partitions whose last leader is not alive, except those of topics to be deleted",
        source="Kafka's code, 1.1 and 2.3",
        policies={"controller.is_offline": is_offline_by_leader},
    ),
    Difference(
        title="a broker without a replica that knows who leads answers",
        before="NOT_LEADER_FOR_PARTITION",
        here="UNKNOWN_TOPIC_OR_PARTITION",
        source="KAFKA-6796, 2.0",
        policies={"brokers.knows_whose_replica": False},
    ),
    Difference(
        title="to serve a partition to clients and followers, its leader needs in its metadata",
        before="the partition",
        here="its topic",
        source="KAFKA-6796, 2.0",
        policies={"brokers.serves": MetadataCache.knows_topic},
    ),
    Difference(
        title="CreateTopics of a topic that is there, with more replicas than there are brokers,",
        before="is refused with TOPIC_ALREADY_EXISTS",
        here="is refused with INVALID_REPLICATION_FACTOR",
        source="KAFKA-8875, 2.3.1",
        policies={"brokers.looks_for_topic_first": False},
    ),
    Difference(
        title="while the ISR of a partition is written to ZooKeeper, its consumers",
        before="wait, as producers and followers do",
        here="read on; producers and followers wait",
        source="KIP-320, 2.1 (Partition.readRecords)",
        policies={"brokers.isr_write_holds_readers": False},
    ),
    api_versions(
        RELEASE,
        "1.1.1: Produce up to 5, Fetch up to 7, no leader epochs",
        "the requests' schemas of 1.1.1",
        before="2.3.1: a transactional producer has to be closed after an error that breaks its sequence numbers "
        "(InitProducerId 1), and commits offsets for members that their group has lost (TxnOffsetCommit 2)",
    ),
    message_format("1.1-IV0", before="2.3-IV1"),
    name="kafka-1.1",
    release=RELEASE,
    help="1.1: the wiki's 12 steps, no fenced writes, no broker epochs, no KIP-461",
    lacks_metrics=release_metrics.SINCE_2_3,
)
