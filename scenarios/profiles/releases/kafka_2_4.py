"""Kafka 2.4 (2.4.1): reassignments that can be changed and cancelled (KIP-455)."""

from emulator.protocol.errors import Errors
from emulator.protocol.produce import KeylessRecords
from scenarios.profiles import release_metrics
from scenarios.profiles.profile import Difference, api_versions, message_format
from scenarios.profiles.releases.kafka_2_3 import PROFILE as KAFKA_2_3
from scenarios.profiles.tickets import differences

RELEASE = "2.4.1"
LOGGERS = (
    ("root", "INFO"), ("org.apache.zookeeper", "INFO"), ("kafka", "INFO"), ("org.apache.kafka", "INFO"),
    ("kafka.request.logger", "WARN"), ("kafka.network.RequestChannel$", "WARN"), ("kafka.controller", "TRACE"),
    ("kafka.log.LogCleaner", "INFO"), ("state.change.logger", "TRACE"), ("kafka.authorizer.logger", "INFO"),
)  # fmt: skip
"""The loggers of config/log4j.properties, 2.4.1."""
PROFILE = KAFKA_2_3.with_differences(
    *differences(KAFKA_2_3, RELEASE),
    Difference(
        title="a record without a key, for a compacted topic,",
        before="is refused with CORRUPT_MESSAGE",
        here="is refused with INVALID_RECORD, and the first such record is named",
        source="KIP-467, 2.4",
        policies={"brokers.keyless_records": KeylessRecords(Errors.INVALID_RECORD, names_first=True)},
    ),
    Difference(
        title="a real client that asks a broker for its loggers, or changes their levels (BROKER_LOGGER),",
        before="is refused (INVALID_REQUEST)",
        here="sees and changes those of config/log4j.properties, until the broker ends",
        source="KIP-412, 2.4",
        policies={"brokers.loggers": LOGGERS},
    ),
    Difference(
        title="a produce request that waits for acks=all at a leader which gets StopReplica",
        before="waits for its timeout",
        here="is answered at once (NOT_LEADER_FOR_PARTITION)",
        source="KAFKA-9198, 2.4",
        policies={"brokers.stop_answers_waiting": True},
    ),
    Difference(
        title="after it has refused a follower's fetch, a leader",
        before="does not know the follower's offset",
        here="keeps the offset of the fetch before it as the follower's",
        source="KAFKA-8400, 2.4",
        policies={"brokers.refused_fetch_forgets": False},
    ),
    Difference(
        title="a leader tries to advance the high watermark",
        before="at each fetch of a follower",
        here="at each fetch of a follower whose fetch offset has advanced",
        source="KAFKA-8841, 2.4",
        policies={"brokers.every_fetch_looks": False},
    ),
    Difference(
        title="a follower's fetch that waits at the leader is answered",
        before="when there are records",
        here="when there are records, or a higher high watermark",
        source="KIP-392, 2.4",
        policies={"brokers.high_watermark_completes_fetches": True},
    ),
    Difference(
        title="a real consumer that could be sent to a follower (Fetch 11), and asks one that it was not sent to,",
        before="is refused (NOT_LEADER_FOR_PARTITION), as at any broker that does not lead",
        here="gets what the follower knows to be committed, under the leader epoch that both know; where it names "
        "none, under any. It waits for its time to be over where there is nothing yet",
        source="KIP-392, 2.4: ReplicaManager.fetchMessages",
        policies={"brokers.followers_serve_consumers": True},
    ),
    Difference(
        title="a follower, or a copy in another log directory, that learns a high watermark from before the start of "
        "its own log",
        before="takes it",
        here="takes the start of its log",
        source="Log.updateHighWatermark, 2.4",
        policies={"brokers.start_raises_learned_high_watermark": True},
    ),
    Difference(
        title="a new log, if its directory turns out to have failed,",
        before="is not created: its replica is offline",
        here="is created in another directory",
        source="KAFKA-8526, 2.4",
        policies={"brokers.log_rules.tries_other_directories": True},
    ),
    Difference(
        title="a log whose retention has deleted all batches of a producer",
        before="forgets the producer, and the transaction that it has left open",
        here="remembers both",
        source="KAFKA-7190, 2.4",
        policies={"brokers.log_rules.keeps_producers": True},
    ),
    Difference(
        title="LastStableOffsetLag of a follower",
        before="is 0",
        here="counts as its leader's does, from what it knows of the high watermark",
        source="KAFKA-8457, 2.4",
        policies={"brokers.followers_show_stability": True},
    ),
    Difference(
        title="in a consumer group with members, committed offsets of topics that none of them subscribes to",
        before="are kept",
        here="expire after offsets.retention.minutes",
        source="KIP-496, 2.4",
        policies={"brokers.groups.expires_unsubscribed": True},
    ),
    Difference(
        title="`BytesInPerSec` and `MessagesInPerSec` of a topic of which a broker leads nothing any more",
        before="stay, as long as the broker has a replica",
        here="end",
        source="KAFKA-8392, 2.4",
        policies={"brokers.leaders_alone_measure_producers": True},
    ),
    Difference(
        title="a commit of a client that is no member of its group, before the group's leader has assigned,",
        before="is answered with REBALANCE_IN_PROGRESS",
        here="is refused as at any time (UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION)",
        source="KAFKA-8487, 2.4",
        policies={"brokers.groups.commits_judge_members": True},
    ),
    Difference(
        title="CreateTopics that leaves the number of partitions or replicas open",
        before="is refused (INVALID_PARTITIONS, INVALID_REPLICATION_FACTOR)",
        here="gets num.partitions and default.replication.factor",
        source="KIP-464, 2.4",
        policies={"brokers.fills_in_defaults": True},
    ),
    Difference(
        title="Metadata of a partition whose leader is not alive shows",
        before="no ISR",
        here="the ISR",
        source="KAFKA-8442, 2.4",
        policies={"brokers.shows_isr_of_leaderless": True},
    ),
    Difference(
        title="ElectLeaders, where the preferred replica leads already,",
        before="succeeds",
        here="answers ELECTION_NOT_NEEDED, and leaves the partition out where all were asked for",
        source="KIP-460, 2.4",
        policies={"controller.refuses_needless_elections": True},
    ),
    Difference(
        title="the topics' znodes have",
        before="version 1",
        here="version 2, with adding and removing replicas, empty outside a move",
        source="KIP-455, 2.4",
        policies={"controller.topic_znodes": 2},
    ),
    Difference(
        title="partitions are not added to a topic",
        before="while anything is being moved",
        here="while the topic is being moved",
        source="KIP-455, 2.4",
        policies={"any_move_forbids_expansion": False},
    ),
    api_versions(
        RELEASE,
        "2.4.1: moves and their list (KIP-455); a transactional producer is treated as in 2.3 (InitProducerId 2)",
        "message definitions of 2.4.1",
    ),
    message_format("2.4-IV1"),
    name="kafka-2.4",
    release=RELEASE,
    help="2.4: adding and removing replicas, override and cancel (KIP-455)",
    strategy="kip-455",
    election_tool="api",
    gains_metrics=release_metrics.SINCE_2_4,
)
