"""Kafka 1.1 (1.1.1): what came with 2.0 to 2.3 is not there yet."""

from brokers.metadata_cache import MetadataCache
from brokers.partition.isr import NotCaughtUp
from controller.fencing import Unfenced
from controller.metrics import is_offline_by_leader
from controller.state_machines.selectors import TOLD_TO_LIVE
from fetchers.failures import STORAGE_TOLERATED
from fetchers.truncation import Kip101
from scenarios.profiles import metrics
from scenarios.profiles.profile import Difference
from scenarios.profiles.releases.kafka_2_3 import PROFILE as KAFKA_2_3

PROFILE = KAFKA_2_3.with_differences(
    Difference(
        title="a replaced controller",
        before="cannot write: each write checks the controller epoch, and an election is one write",
        here="goes on writing until it learns of its successor; an election writes `/controller` first, then the epoch",
        source="KAFKA-6082, 2.1",
        policies={"controller.fencing": Unfenced()},
    ),
    Difference(
        title="a restarted broker",
        before="is distinguished from its earlier incarnation by its epoch",
        here="looks like its earlier incarnation; a restart that is over before the controller looks is not noticed",
        source="KIP-380, 2.2",
        policies={"controller.broker_epochs": False},
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
        title="a new controller",
        before="removes dead replicas from their ISRs",
        here="leaves dead replicas in their ISRs",
        source="KAFKA-3143, 2.3",
        policies={"controller.replicas.shrink_at_failover": False},
    ),
    Difference(
        title="a replica of a partition that never had a leader",
        before="goes offline like any other, so that its topic can be deleted",
        here="never goes offline: its topic cannot be deleted",
        source="KAFKA-6650, 2.0",
        policies={"controller.replicas.leaderless_go_offline": False},
    ),
    Difference(
        title="a controlled shutdown gives leadership to",
        before="the first assigned replica that is alive and in the ISR",
        here="the first assigned replica that is alive and in the ISR; the broker that shuts down gets no LeaderAndIsr",
        source="KAFKA-7482, 2.1",
        policies={"controller.selectors.controlled_shutdown": TOLD_TO_LIVE},
    ),
    Difference(
        title="an unclean election that is allowed while a partition has no leader, for its topic or for all brokers,",
        before="is held at once",
        here="waits until a broker starts or fails, or another controller is elected",
        source="KAFKA-6526, 2.0; KAFKA-6835, 2.1",
        policies={"controller.follows_unclean_default": False, "controller.follows_unclean_topics": False},
    ),
    Difference(
        title="OfflinePartitionsCount counts",
        before="partitions in state Offline, except those of topics whose deletion has begun",
        here="partitions whose last leader is not alive, except those of topics to be deleted",
        source="Kafka's code, 1.1 and 2.3",
        policies={"controller.is_offline": is_offline_by_leader},
    ),
    Difference(
        title="a follower joins the ISR",
        before="at the high watermark and the start of the leader's epoch",
        here="at the high watermark",
        source="KAFKA-7128, 2.0.1",
        policies={"brokers.join_needs_epoch_start": False},
    ),
    Difference(
        title="a follower leaves the ISR",
        before="when it lags and has not been caught up for `replica.lag.time.max.ms`",
        here="when it has not been caught up for `replica.lag.time.max.ms`, also where its log ends where the leader's "
        "does",
        source="KAFKA-7152, 2.1",
        policies={"brokers.out_of_sync": NotCaughtUp(even_at_the_end=True)},
    ),
    Difference(
        title="a reader that knows another leader epoch than the replica",
        before="is refused (FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH)",
        here="may read",
        source="KIP-320, 2.1",
        policies={"brokers.checks_epochs": False},
    ),
    Difference(
        title="the answer to OffsetsForLeaderEpoch holds",
        before="an end offset and the epoch that it belongs to",
        here="an end offset alone; none for an epoch before all known ones",
        source="KIP-279, 2.0",
        policies={"brokers.answers_with_epoch": False},
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
        title="a new leader answers a consumer's request for the latest offset",
        before="once its high watermark has reached the start of its epoch",
        here="with its high watermark at once, which may lag what its predecessor had answered",
        source="KIP-207, 2.2",
        policies={"brokers.latest_is_committed": False},
    ),
    Difference(
        title="a follower under a new leader epoch truncates its log",
        before="to where leader and follower agree, asking about ever earlier epochs",
        here="to where the leader says that the follower's latest epoch ends, after one request",
        source="KIP-279, 2.0",
        policies={"fetchers.truncation": Kip101()},
    ),
    Difference(
        title="after an error, a partition's fetcher",
        before="fails the partition and goes on with the others",
        here="tries again if the disk refused; any other error ends the thread, and nothing reports it",
        source="KIP-461, 2.3",
        policies={"fetchers.failures": STORAGE_TOLERATED},
    ),
    Difference(
        title="message.format.version is, by default,",
        before="2.3-IV1",
        here="1.1-IV0",
        source="ApiVersion.latestVersion, 1.1.1 to 2.7.2",
        policies={"brokers.message_format": "1.1-IV0"},
    ),
    name="kafka-1.1",
    help="1.1: the wiki's 12 steps, no fenced writes, no broker epochs, no KIP-461",
    lacks_metrics=metrics.SINCE_2_3,
)
