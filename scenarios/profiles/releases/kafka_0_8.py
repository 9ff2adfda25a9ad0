"""Kafka 0.8.0, the first release that replicates: what came with 0.8.1 to 1.1 is not there yet."""

from brokers.metadata_cache import serves_all
from brokers.under_replication import FactorAtCreation
from controller.state_machines.leader_election_algorithms import FIRST_LIVE_OF_TARGET, HEAD_OF_STAYING_ISR
from controller.state_machines.rules import FOUR_STATES
from fetchers.assignment import signed_fetcher_id
from fetchers.failures import THREAD_DIES
from scenarios.profiles import release_metrics
from scenarios.profiles.profile import Difference, api_versions
from scenarios.profiles.releases.kafka_1_1 import PROFILE as KAFKA_1_1
from scenarios.profiles.tickets import differences

RELEASE = "0.8.0"
PROFILE = KAFKA_1_1.with_differences(
    *differences(KAFKA_1_1, RELEASE),
    Difference(
        title="the states of a replica are",
        here="four",
        source="topic deletion, 0.8.1",
        policies={
            "controller.replicas.predecessors": FOUR_STATES.predecessors,
            "controller.replicas.deletion": FOUR_STATES.deletion,
            "controller.replicas.unreachable": FOUR_STATES.unreachable,
        },
    ),
    Difference(
        title="when the controller removes a replica from an ISR, it sends LeaderAndIsr",
        here="to the leader",
        source="Kafka's code, 1.1",
        policies={"controller.replicas.told_of_shrunk_isr": FOUR_STATES.told_of_shrunk_isr},
    ),
    Difference(
        title="replicas of several brokers that go offline leave an ISR in the order",
        here="of the list (0, 1, 2)",
        source="Kafka's code, 1.1",
        policies={"controller.replicas.broker_order": FOUR_STATES.broker_order},
    ),
    Difference(
        title="a broker that learns that there is a controller, and finds none,",
        before="waits for the next one",
        here="competes to become it",
        source="KAFKA-5642, 1.1 (ZkClient.fireDataChangedEvents)",
        policies={"controller.elects_where_gone": True},
    ),
    Difference(
        title="a leader that gets a new leader epoch of its own",
        before="keeps where its followers are",
        here="forgets where its followers are",
        source="Partition.makeLeader, 0.8.2.2 and 0.9.0.1",
        policies={"brokers.keeps_positions": False},
    ),
    Difference(
        title="whether an offline replica is in the ISR is looked up",
        before="in ZooKeeper",
        here="in the controller's memory",
        source="Kafka's code, 0.8.0 and 1.1",
        policies={"controller.replicas.trusts_memory": True},
    ),
    Difference(
        title="a replica that goes offline",
        before="is sent StopReplica",
        here="is not sent StopReplica",
        source="controller page; Kafka's code, 0.8.0",
        policies={"controller.replicas.stops_offline": False},
    ),
    Difference(
        title="a broker that stops several replicas gets",
        here="one StopReplica; a second one for those that it deletes",
        source="Kafka's code, 0.8.0",
        policies={"controller.groups_stops": True},
    ),
    Difference(
        title="moves that are not begun leave `/admin/reassign_partitions`",
        here="in one write, made only where some leave",
        source="Kafka's code, 0.8.0",
        policies={"controller.refuses_moves_together": True},
    ),
    Difference(
        title="a preferred election asked for by the znode, where the preferred replica leads",
        here="is not held",
        source="PreferredReplicaPartitionLeaderSelector, 0.8.0 to 1.0",
        policies={"controller.elects_preferred_again": False},
    ),
    Difference(
        title="when a broker starts, or fails without having led a partition, UpdateMetadata goes",
        before="to every broker",
        here="to the broker that starts",
        source="KAFKA-972, 0.9",
        policies={"controller.announces_brokers": False},
    ),
    Difference(
        title="an UpdateMetadata that holds no partition",
        before="is sent",
        here="is not sent: in a cluster without topics no broker knows of the others",
        source="KAFKA-1867, 0.9",
        policies={"controller.metadata_needs_partitions": True},
    ),
    Difference(
        title="a move that takes leadership from the leader gives it to",
        before="the first replica of the target that is alive and in the ISR",
        here="the first replica of the target that is alive",
        source="Kafka's code, 0.8.0 and 0.8.1",
        policies={"controller.selectors.reassigned": FIRST_LIVE_OF_TARGET},
    ),
    Difference(
        title="a controlled shutdown gives leadership to",
        here="the first of the ISR, whether it is alive or not",
        source="Kafka's code, 0.8.0",
        policies={"controller.selectors.controlled_shutdown": HEAD_OF_STAYING_ISR},
    ),
    Difference(
        title="a controlled shutdown is",
        before="one change for all partitions",
        here="one change after the other, for each partition, with requests of its own",
        source="KAFKA-5642, 1.1",
        policies={"controller.shuts_down_together": False},
    ),
    Difference(
        title="leaders look for followers that have to leave the ISR",
        before="twice in `replica.lag.time.max.ms`",
        here="once in `replica.lag.time.max.ms`",
        source="KAFKA-4485, 0.10.2",
        policies={"brokers.isr_checks_per_lag_time": 1},
    ),
    Difference(
        title="while the ISR of a partition is written to ZooKeeper, its consumers",
        here="wait, as producers and followers do",
        source="Partition.leaderReplicaIfLocal, 0.8.0",
        policies={"brokers.isr_write_holds_readers": True},
    ),
    Difference(
        title="a leader that has changed an ISR",
        before="announces it to the controller, which sends every broker the metadata",
        here="announces nothing: metadata keeps the ISR until another change of the partition",
        source="KAFKA-1367, 0.9",
        policies={"brokers.announces_isrs": False},
    ),
    Difference(
        title="BytesOutPerSec counts what is sent",
        before="to consumers",
        here="to consumers and followers",
        source="KIP-153, 0.11 (KafkaApis.readMessageSets, 0.8.0)",
        policies={"brokers.measures_replication_as_sent": True},
    ),
    Difference(
        title="`max.message.bytes` limits",
        before="each batch",
        here="each message of a batch",
        source="KIP-98, 0.11 (Log.append, 0.8.0 to 0.10.2)",
        policies={"brokers.limits_messages": True},
    ),
    Difference(
        title="the high watermark",
        before="also waits for replicas outside the ISR that are caught up",
        here="waits for the ISR alone",
        source="KAFKA-4485, 0.10.2",
        policies={"brokers.high_watermark_waits_for_caught_up": False},
    ),
    Difference(
        title="a follower's fetch counts for the ISR and the high watermark",
        before="once the log was read: the answer holds the high watermark from before it",
        here="before the log is read, whatever comes of that: the answer holds the high watermark after it",
        source="Kafka's code, 0.8.0 and 0.9",
        policies={"brokers.records_fetch_first": True},
    ),
    Difference(
        title="after it has refused a follower's fetch, a leader",
        here="takes the offset of that fetch as the follower's",
        source="Kafka's code, 0.8.0",
        policies={"brokers.refused_fetch_forgets": False},
    ),
    Difference(
        title="a follower checks that its new leader is alive",
        before="in its metadata",
        here="in the list of live leaders of the LeaderAndIsr request",
        source="KAFKA-2738, 0.9",
        policies={"brokers.request_names_live_leaders": True},
    ),
    Difference(
        title="`min.insync.replicas`, where a file states it,",
        before="is what acks=all asks for",
        here="has no effect, as of any name that 0.8.0 did not know (`VerifiableProperties.verify` logs that it is not "
        "valid); `validate` and `run` say so. Figures of the time below it count all the same",
        source="KAFKA-1555, 0.8.2",
        policies={"brokers.knows_min_isr": False},
    ),
    Difference(
        title="acks above 1",
        before="are refused (INVALID_REQUIRED_ACKS)",
        here="are a number of replicas",
        source="KAFKA-1697, 0.9",
        policies={"brokers.counts_acks": True},
    ),
    Difference(
        title="to serve a partition to clients and followers, its leader needs in its metadata",
        here="nothing",
        source="KAFKA-3396, 0.10.1",
        policies={"brokers.serves": serves_all},
    ),
    Difference(
        title="a produce request that waits at a leader which becomes a follower",
        before="is answered at once (NOT_LEADER_FOR_PARTITION)",
        here="waits until a follower fetches from it, or for its timeout",
        source="KAFKA-2960, 0.10",
        policies={"brokers.demotion_answers_waiting": False},
    ),
    Difference(
        title="a partition that is fetched again, after a new role or an error,",
        before="gets the high watermark only if it has changed since the session's last answer",
        here="gets the high watermark with the next answer: every answer names all partitions",
        source="KIP-227, 1.1",
        policies={"fetchers.names_all_partitions": True},
    ),
    Difference(
        title="with several fetchers, a partition's is found by",
        before="`abs(31 * hash(topic) + partition)`",
        here="`hash(topic) + 31 * partition`, which may be below zero: there are up to twice as many threads",
        source="Kafka's code, 0.8.0 and 0.8.1",
        policies={"fetchers.assignment": signed_fetcher_id},
    ),
    Difference(
        title="after an error, a partition's fetcher",
        here="ends the thread, and nothing reports it; if the disk refused, the whole broker",
        source="KIP-112, 1.0",
        policies={"fetchers.failures": THREAD_DIES, "brokers.disk_errors_halt": True},
    ),
    Difference(
        title="a partition counts as under-replicated",
        here="with fewer replicas in sync than it had when it came to the broker",
        source="Kafka's code, 0.8.0 and 1.1",
        policies={"brokers.under_replication": FactorAtCreation()},
    ),
    api_versions(
        RELEASE,
        "none, as there is no ApiVersions: `serve` announces those of 3.0 all the same, since none of its own are "
        "served",
        "Protocol.java of 0.8.0",
    ),
    name="kafka-0.8",
    release=RELEASE,
    help="0.8.0: KAFKA-42's 7 steps, four replica states, no epochs that fence",
    strategy="kafka-42",
    defaults={
        "unclean.leader.election.enable": True,
        "auto.leader.rebalance.enable": False,
        "controlled.shutdown.enable": False,
    },
    also_knows=("replica.lag.max.messages",),
    lacks_metrics=release_metrics.SINCE_1_1,
    registration=1,
    leaves_out=(
        "StopReplica deletes the log, which 0.8.0 left on the disk",
        "a controlled shutdown moves all leaderships before it stops a follower; 0.8.0 took each partition in turn",
        "a new controller sends UpdateMetadata before it starts the state machines (KAFKA-4443), where 0.8.0 ended so",
        "a control request is sent until it is answered, where 0.8.0 tried once",
        "fetch errors are retried after replica.fetch.backoff.ms, which came with 0.9 (KAFKA-1461); 0 is 0.8's way",
        "one lock and synchronous ZooKeeper calls: the controller has the event queue of 0.11 (KAFKA-5028)",
        "fetch requests: sessions are used, which came with 1.1 (KIP-227)",
        "a write that waits when the controller loses its session fails; ZkClient made it in the next one",
        "other settings that came later take effect where a scenario states them, as throttles (KIP-73, 0.10.1)",
    ),
)
