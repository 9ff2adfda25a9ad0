"""The brokers' part of a profile: the rules that differ between releases, and the settings
(``brokers.broker_config``)."""

from collections.abc import Callable, Mapping
from functools import lru_cache

from attrs import evolve, field, frozen

from brokers.admin_policies import AdminPolicies
from brokers.broker_config import BrokerConfig
from brokers.groups.policies import GroupPolicies
from brokers.log.log_config import BROKER_NAMES, RULES, TOPIC_NAMES, LogConfig, LogRules
from brokers.metadata_cache import MetadataCache
from brokers.partition.isr import ByZooKeeper, IsrWrites, NotCaughtUp, OutOfSyncRule
from brokers.service import ServiceTimes
from brokers.transactions.policies import TransactionPolicies
from brokers.under_replication import AllAssigned, UnderReplication
from emulator.protocol.errors import Errors
from emulator.protocol.produce import KeylessRecords
from emulator.protocol.scala_order import SCALA_2_12, ScalaCollections
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import ALL_BROKERS


@frozen
class BrokerPolicies:
    """The broker's part of a profile. The defaults are those of Kafka 2.3.

    Attributes:
        topic_min_insync_replicas: min.insync.replicas of the topics that set their own.
        topic_logs: the settings of topics for their logs, by topic and by Kafka's names.
        join_needs_epoch_start: since 2.0.1: a follower joins the ISR only once it has reached the start of the
            leader's epoch.
        checks_epochs: KIP-320 (2.1): a reader names the leader epoch that it knows; if the replica has another one, it
            gets FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH. False also where the controller sends a raised epoch to
            the leader alone, as the controller page has it: no other replica could follow.
        sessions_keep_epochs: KAFKA-9338 (2.5): a fetch session keeps the leader epochs that its reader named. Before,
            only the request that begins a session was compared with them (CachedPartition.reqData, 2.1 to 2.4).
        answers_with_epoch: KIP-279 (2.0): the answer to where an epoch ends names the epoch that it is about; before,
            it was an offset alone.
        checks_assignment: KAFKA-1097 (0.8.1): a leader lets only assigned replicas into its ISR; later releases start
            only those. False where the controller does not send the new replicas to the leader (KAFKA-42's protocol):
            the leader then accepts any replica that fetches.
        out_of_sync: which members leave the ISR.
        isr_checks_per_lag_time: how often isr-expiration runs within replica.lag.time.max.ms: twice since KAFKA-4485
            (0.10.2), once before.
        isr_writes: how a leader changes its ISR.
        announces_isrs: KAFKA-1367 (0.9): a leader announces a changed ISR to the controller, in
            /isr_change_notification. Before, metadata kept an ISR until another change of the partition.
        isr_write_holds_readers: while its ISR is written to ZooKeeper, consumers of a partition wait, as producers and
            followers do under every release up to 2.6 (``brokers.partition.isr.IsrLocks``). False: they read on (0.8.2
            to 2.0; ReplicaManager.readFromLocalLog, 1.1.1 and 2.0.1).
        high_watermark_completes_fetches: a follower's fetch is answered as soon as the high watermark is higher than
            the follower knows (2.4, for KIP-392); reverted by KAFKA-9952 (2.6), since it costs a fetch for each change.
        records_fetch_first: 0.8: a follower's fetch is recorded before the log is read, whatever the read gives: the
            answer holds the high watermark after it. Later releases read first: the answer holds the high watermark
            from before, and a read that is refused was no fetch (ReplicaManager.fetchMessages, 0.9 to 2.7; 1.0.0 to
            1.1.0 but for the high watermark, KAFKA-7104).
        refused_fetch_forgets: after a fetch that was refused a leader does not know where the follower is
            (ReplicaManager.updateFollowerLogReadResults, up to 2.3). False: nothing changes (KAFKA-8400, 2.4).
        every_fetch_looks: every fetch of a follower checks whether the high watermark can advance. False: only a fetch
            at a higher offset does (KAFKA-8841, 2.4), so that a replica that has left the ISR, and no longer counts,
            can go on holding it back.
        counts_acks: until 0.8.2 (KAFKA-1697, 0.9): acks above 1 is a number of replicas, and every negative one means
            all.
        demotion_answers_waiting: KAFKA-2960 (0.10): a leader that becomes a follower answers its delayed produces with
            NOT_LEADER_FOR_PARTITION. Before, they wait for their timeout, or until it leads again and they are
            satisfied.
        knows_whose_replica: KAFKA-6796 (2.0): a broker without a replica that knows of the partition answers
            NOT_LEADER_FOR_PARTITION; before, UNKNOWN_TOPIC_OR_PARTITION.
        serves: whether a produce or a fetch may reach a partition, by the broker's metadata; if not, it gets
            UNKNOWN_TOPIC_OR_PARTITION, also where the broker leads it (KafkaApis.handleFetchRequest, 2.3). The metadata
            has to have the partition; before KAFKA-6796 (2.0), its topic; before KAFKA-3396 (0.10.1) it was not asked.
        shows_isr_of_leaderless: KAFKA-8442 (2.4): Metadata shows the ISR of a partition whose leader is not alive;
            before, none (MetadataCache.getPartitionMetadata, 1.1.1 to 2.4.1).
        shows_epoch_of_leaderless: KAFKA-9261 (2.5): and its leader epoch; before, none.
        leaderless_lacks_listener: from KAFKA-6546 (2.0) to KAFKA-10312 (2.7): Metadata from version 6 on has
            LISTENER_NOT_FOUND for such a partition, since the broker looks for itself among the living, not for the
            leader (MetadataCache.getPartitionMetadata, 2.0.1 to 2.6.3); else LEADER_NOT_AVAILABLE.
        looks_for_topic_first: KAFKA-8875 (2.3.1): CreateTopics refuses a topic that is there before it looks at
            anything else. Before, one with more replicas than there are brokers got INVALID_REPLICATION_FACTOR
            (AdminManager.createTopics, 1.1.1 and 2.3.1).
        sends_any_reader_on: KAFKA-10223 (2.6): such a broker gives a reader that any replica would do for the same
            answer; before, REPLICA_NOT_AVAILABLE.
        throttled_are_answered: KIP-219 (2.0): a client beyond its quota is answered at once, and its connection muted;
            before, the answer came later (ClientQuotaManager, 1.1.1 and 2.0.1).
        caps_fetches: KIP-541 (2.5): an answer to Fetch has no more than the broker's fetch.max.bytes. Before, as much
            as the reader asked for.
        fetches_fit_quota: KAFKA-9677 (2.5): a Fetch gets no more than the client's quota lets pass in a window.
        loggers: KIP-412 (2.4): the loggers whose levels clients see and change, each with its level at the start;
            empty: none.
        latest_is_committed: KIP-207 (2.2): a new leader gives consumers no latest offset before its high watermark has
            reached the start of its epoch; before, it may be lower than the one that its predecessor gave.
        high_watermark_waits_for_caught_up: KAFKA-4485 (0.10.2): a replica outside the ISR that was caught up within
            replica.lag.time.max.ms holds the high watermark back. False: only the ISR does.
        stop_answers_waiting: KAFKA-9198 (2.4): StopReplica answers delayed produces with acks=all with
            NOT_LEADER_FOR_PARTITION. Before, they wait for their timeout: a leader that is moved away gets no
            LeaderAndIsr.
        unassigned_leave_isr: a member of the ISR that is not assigned leaves it like one that does not fetch (up to
            2.3). False: the check fails at it, and with it the rest of the broker's ISR check, every time (2.4 to 2.8,
            KAFKA-9672).
        checks_controller_epoch: KAFKA-532 (0.8.0): a request of an older controller than the last one is refused.
        waits_for_own_registration: before KAFKA-1387 (0.9) a broker that found its znode in /brokers/ids, with other
            data than it was about to write, took it for one of an earlier session, and waited until it would be gone.
        accepts_newer_broker_epoch: KAFKA-9839 (2.5.1): a request with a higher broker epoch than the broker's own is
            accepted; before, the handler threw.
        request_names_live_leaders: before KAFKA-2738 (0.9) a broker followed the leaders that LeaderAndIsr itself named
            as alive; since then, those that are alive by its metadata.
        copies_follow_epochs: KAFKA-9654 (2.5): a copy to another log directory is read under the new epoch after a
            LeaderAndIsr. Before, its own broker fences it, and it stays failed until the broker is restarted.
        begins_epoch_at_election: KAFKA-7415 (2.0.1): a new leader notes where its epoch begins. Before, the epoch began
            with its first batch, and a leader that wrote none did not know its own epoch.
        begins_past_epochs: KAFKA-7415 (2.0.1): a leader under an earlier epoch than the last of its log, as a replaced
            controller may make it, drops the later ones from its cache. Before, it left them there.
        restarts_every_fetcher: KAFKA-7164 (2.0.1): a follower truncates after every LeaderAndIsr. Before, one that
            named the leader that the follower fetches from already left its fetcher as it was.
        forgets_followers_first: KAFKA-10301 (2.6, before its release): a leader that gets a LeaderAndIsr forgets its
            followers before it learns them again, and its high watermark is computed in between.
        keeps_positions: a leader that is elected again keeps where it knew its followers to be, also where another one
            has led in between of which it has not learned (Partition.makeLeader, 0.9 to 3.9). Before, it forgot that
            with each new leader epoch.
        start_raises_high_watermark: KAFKA-9491 (2.4.1): a log that begins again at a later offset takes its high
            watermark along; in 2.4.0 it stayed before the log's start until the leader's next answer.
        start_raises_learned_high_watermark: a follower takes the high watermark of its leader for the start of its own
            log where it is before that, and so does a copy in another log directory that of the log which it replaces
            (Log.updateHighWatermark, 2.4.1, without a ticket). Before, they took it as it was
            (ReplicaFetcherThread.processPartitionData, Partition.maybeReplaceCurrentWithFutureReplica, 2.3.1).
        retention_stops_at_high_watermark: KAFKA-5634 (0.11.0.1): a segment that reaches beyond the high watermark is
            not deleted, however old or large the log is.
        log_rules: the rules of logs that replaced a bug.
        bounds_high_watermark: KAFKA-3978 (1.1): the high watermark of a checkpoint, and that of a follower which
            becomes leader, counts as the log's start where it is before that. Before, a leader could not find it in its
            log and began with -1.
        read_race_us: KAFKA-9835 (2.6): a consumer that may read to the end of the log is sent what is appended while
            its answer is made. This is how long that takes; 0: nothing comes in between.
        epoch_follows_role: KAFKA-9769 (2.7): a broker remembers a leader epoch once it has become leader or follower
            under it. Before, a change of role that failed left the epoch behind, and the same request was refused as
            old when it came again.
        stop_deletes: KAFKA-1074 (0.8.1): StopReplica with deletion deletes the log. In 0.8.0 it stayed on the disk.
        stop_refuses_offline: KIP-570 (2.6): StopReplica of a replica whose log directory is offline is an error also
            without deletion.
        counts_last_fetch: KAFKA-4485 (0.10.2): a follower was caught up at its last fetch if it asks now for what the
            leader did not have then. Before, it was caught up only where it asked for the end of the log, to which a
            busy leader is always ahead of it.
        keeps_topic_settings: KAFKA-9254 (2.4.1): a change of the settings of all brokers leaves those of topics alone.
            Before, the second such change made the logs that are there forget what their topics had set.
        throttles_in_sync: KAFKA-4313 (0.10.1.0 alone): a replication throttle also holds back followers that are in the
            ISR.
        misses_settings_us: KAFKA-8813 (2.4): how long it takes a broker to open a log, from reading the settings of its
            topic on. Before, a change of these settings that came meanwhile was lost; 0: none comes.
        refuses_with_strangers: KAFKA-5758 (1.0): a follower that fetches one partition of which it is not a replica
            gets nothing for that one. Before, its whole fetch failed.
        disk_errors_halt: before KIP-112 (1.0) an I/O error ends the broker; since then it takes its log directory
            offline.
        under_replication: which partitions UnderReplicated counts, and which replicas ReplicasCount (KIP-352).
        fills_in_defaults: KIP-464 (2.4): CreateTopics may leave the numbers of partitions and replicas to the brokers'
            num.partitions and default.replication.factor.
        admits_unknown_producers: KIP-360 (2.5): a producer of which the log has nothing (any more) may go on with any
            sequence number. Before, it had to begin with 0, or got UNKNOWN_PRODUCER_ID.
        measures_replication_as_sent: before KIP-153 (0.11) BytesOutPerSec counted what followers were sent, too.
        followers_show_stability: KAFKA-8457 (2.4): each replica has its LastStableOffsetLag. Before, only leaders had.
        recognizes_repeats: KIP-98 (0.11): a leader that gets a batch of an idempotent producer again does not append it
            again. Before, no batch said whose it was.
        keyless_records: how records without a key are refused that are for a compacted topic.
        limits_messages: before KIP-98 (0.11) max.message.bytes limited each message of a batch, and not the batch.
        sends_first_batch: KIP-74 (0.10.1): the first batch of an answer to a fetch may be larger than the limits.
            Before, a reader whose limit was below the size of a message got nothing there, and stayed there.
        leaders_alone_measure_producers: KAFKA-8392 (2.4): a broker that leads no partition of a topic any more shows no
            BytesInPerSec and MessagesInPerSec of it. Before, they stayed as long as it had a replica.
        refuses_unknown_times: KAFKA-17331 (3.9): a negative time that has no meaning in a client's version of
            ListOffsets is refused. Before, no record had it, or it had the meaning of a later version.
        internal_topics_need_leave: KAFKA-9751 (2.8): a client's Metadata creates an internal topic only where it asks
            for that and the settings allow it, and a name that no topic can have is INVALID_TOPIC_EXCEPTION. Before, an
            internal topic was created for each client, and any other name was UNKNOWN_TOPIC_OR_PARTITION.
        identifies_logs: KAFKA-13132 (3.0): a new log gets the id of its topic as it is created, one without an id gets
            it from a LeaderAndIsr of the leader epoch that the replica has already, and the first request of a process
            is checked like any other. In 2.8 that one was not, and no log had an id before the second.
        asks_for_producer_ids: KIP-730 (3.0): a broker asks the controller for blocks of producer ids. Before, it
            claimed them in ZooKeeper.
        shuts_down_by_metadata: KAFKA-9189 (3.0): a broker that shuts down finds the controller in its metadata. Before,
            in ZooKeeper, and so it waited for that.
        records_alone_go_last: KAFKA-12330 (3.0): in a consumer's fetch session a partition comes after the others once
            its records were sent. Before, also once something else about it was sent, so that partitions with records
            could have to wait.
        isr_needs_live: KAFKA-14140 (3.3): a leader takes no follower into its ISR that is not alive by its metadata.
        refuses_unassigned: KAFKA-13837 and KAFKA-14078 (3.3): a follower that is not assigned, as far as the leader
            knows, is refused (UNKNOWN_LEADER_EPOCH). Before, it got no records, and no error.
        stops_in_own_epoch: KAFKA-13972 (3.4.1): StopReplica of the leader epoch that the replica has already is carried
            out. Before, it was refused, so that the replica of a move that was cancelled before it had joined the ISR
            stayed.
        waits_for_eligible: 3.5 (Partition.maybeIncrementLeaderHW): a replica outside the ISR that was caught up holds
            the high watermark back only if it may join the ISR: alive, by the leader's metadata.
        producers_wait_for_ids: before KAFKA-14694 (3.6) a producer waited for a block of producer ids that its broker
            had to ask for. Since then it is asked to try again (COORDINATOR_LOAD_IN_PROGRESS).
        high_watermark_needs_min_isr: KAFKA-15583 (3.7): the high watermark stays where it is while the ISR has fewer
            members than min.insync.replicas. Before, it went on by acks=1, so that consumers read what could be lost
            with one broker.
        diverges_below_start: KAFKA-12996 (2.7.0, 2.7.1, 2.8.0): a follower whose offset is below the start of the
            leader's log gets the place where the logs diverge, where they do, and not OFFSET_OUT_OF_RANGE.
        diverging_fetch_counts: KAFKA-13141 (2.7.0 to 2.8.0): a leader takes the offset of a follower whose log diverges
            for what the follower has, before that has truncated.
        knows_min_isr: KAFKA-1555 (0.8.2): acks=all asks for min.insync.replicas. Before, there was no such setting, and
            one that a file stated was passed over (VerifiableProperties.verify logs that it is not valid).
        rates_of_all: KAFKA-10190 (3.9): throttles' rates that are set for all brokers hold where a broker has none of
            its own. Before, they had no effect.
        caps_min_isr: KAFKA-15583 (3.7): min.insync.replicas counts as the number of replicas where it is above that.
            Before, such a partition took no acks=all.
        followers_serve_consumers: KIP-392 (2.4): a consumer that a leader could send to a follower (Fetch 11) is
            answered by any replica, also where no leader has sent it. Before, only a reader that asked for it by its
            replica id.
        learned_high_watermark_completes_fetches: KAFKA-14334 (3.3.2): a follower answers consumers that wait there when
            it learns a later high watermark. Before, they waited for their time to be over.
        message_format: what DescribeConfigs shows as the default of message.format.version, the release's newest
            (ApiVersion.latestVersion).
        api_versions: the release whose versions of APIs real clients are offered (KIP-35,
            ``scenarios.wire.released_versions``).
        lacks_metrics: the metrics that the release does not have: the process measures them, and does not show them.
        groups: the rules of group coordinators.
        transactions: the rules of transaction coordinators.
        collections: the collections of the build's Scala, whose order an ISR has.
        service: how long requests take; None: no time.
        last_requests_us: for how long a broker goes on handling requests once its controlled shutdown is over. Real
            brokers did for 20 to 60 ms (docs/understand/calibration.md). What a controller sends takes time then, which
            is drawn for each shutdown: in 34 shutdowns of recorded brokers of 1.1.1 to 3.9.1 none to five of five such
            requests were handled, as in one run so not in the next one of the same release.
        last_fetches_us: for how long its fetchers run after that, until its logs are closed and its session ends. Those
            of real brokers did for 0.3 to 0.5 s: the request handlers, the scheduler and the coordinators stop before
            them, one after the other (KafkaServer.shutdown, 1.1.1 to 3.9).
    """

    config: BrokerConfig = field(factory=BrokerConfig)
    topic_min_insync_replicas: Mapping[str, int] = field(factory=dict)
    topic_logs: Mapping[str, Mapping[str, str]] = field(factory=dict)
    join_needs_epoch_start: bool = True
    checks_epochs: bool = True
    sessions_keep_epochs: bool = False
    answers_with_epoch: bool = True
    checks_assignment: bool = True
    out_of_sync: OutOfSyncRule = field(factory=NotCaughtUp)
    isr_checks_per_lag_time: int = 2
    isr_writes: IsrWrites = field(factory=ByZooKeeper)
    announces_isrs: bool = True
    isr_write_holds_readers: bool = True
    high_watermark_completes_fetches: bool = False
    records_fetch_first: bool = False
    refused_fetch_forgets: bool = True
    every_fetch_looks: bool = True
    counts_acks: bool = False
    demotion_answers_waiting: bool = True
    knows_whose_replica: bool = True
    serves: Callable[[MetadataCache, TopicPartition], bool] = MetadataCache.knows
    shows_isr_of_leaderless: bool = False
    shows_epoch_of_leaderless: bool = False
    leaderless_lacks_listener: bool = True
    looks_for_topic_first: bool = True
    sends_any_reader_on: bool = False
    throttled_are_answered: bool = True
    caps_fetches: bool = False
    fetches_fit_quota: bool = False
    loggers: tuple[tuple[str, str], ...] = ()
    latest_is_committed: bool = True
    refuses_unknown_times: bool = False
    internal_topics_need_leave: bool = False
    high_watermark_waits_for_caught_up: bool = True
    stop_answers_waiting: bool = False
    unassigned_leave_isr: bool = True
    checks_controller_epoch: bool = True
    waits_for_own_registration: bool = False
    accepts_newer_broker_epoch: bool = False
    request_names_live_leaders: bool = False
    copies_follow_epochs: bool = False
    begins_epoch_at_election: bool = True
    begins_past_epochs: bool = True
    restarts_every_fetcher: bool = True
    forgets_followers_first: bool = False
    keeps_positions: bool = True
    start_raises_high_watermark: bool = True
    start_raises_learned_high_watermark: bool = False
    retention_stops_at_high_watermark: bool = True
    log_rules: LogRules = RULES
    bounds_high_watermark: bool = True
    read_race_us: int = 0
    epoch_follows_role: bool = True
    stop_deletes: bool = True
    stop_refuses_offline: bool = False
    counts_last_fetch: bool = True
    keeps_topic_settings: bool = True
    throttles_in_sync: bool = False
    misses_settings_us: int = 0
    refuses_with_strangers: bool = False
    disk_errors_halt: bool = False
    under_replication: UnderReplication = field(factory=AllAssigned)
    fills_in_defaults: bool = False
    admits_unknown_producers: bool = False
    measures_replication_as_sent: bool = False
    followers_show_stability: bool = False
    recognizes_repeats: bool = True
    limits_messages: bool = False
    keyless_records: KeylessRecords = field(factory=KeylessRecords)
    sends_first_batch: bool = True
    leaders_alone_measure_producers: bool = False
    identifies_logs: bool = False
    asks_for_producer_ids: bool = False
    shuts_down_by_metadata: bool = False
    records_alone_go_last: bool = False
    isr_needs_live: bool = False
    refuses_unassigned: bool = False
    stops_in_own_epoch: bool = False
    waits_for_eligible: bool = False
    producers_wait_for_ids: bool = True
    high_watermark_needs_min_isr: bool = False
    diverges_below_start: bool = False
    diverging_fetch_counts: bool = False
    knows_min_isr: bool = True
    rates_of_all: bool = False
    caps_min_isr: bool = False
    followers_serve_consumers: bool = False
    learned_high_watermark_completes_fetches: bool = False
    message_format: str = "2.3-IV1"
    api_versions: str = "2.3.1"
    lacks_metrics: frozenset[str] = frozenset()
    admin: AdminPolicies = field(factory=AdminPolicies)
    groups: GroupPolicies = field(factory=GroupPolicies)
    transactions: TransactionPolicies = field(factory=TransactionPolicies)
    collections: ScalaCollections = SCALA_2_12
    service: ServiceTimes | None = None
    last_requests_us: int = 20_000
    last_fetches_us: int = 400_000

    @property
    def all_min_insync_replicas(self) -> object:
        """All values of min.insync.replicas: comparing two tells whether any has changed."""
        return self.config.min_insync_replicas, self.topic_min_insync_replicas

    def min_insync_replicas(self, topic: str) -> int:
        return self.topic_min_insync_replicas.get(topic, self.config.min_insync_replicas)

    def effective_min_isr(self, stated: int, replicas: int) -> int:
        """The number of in-sync replicas that min.insync.replicas asks of a partition with so many ``replicas``."""
        if not self.knows_min_isr:
            return 1
        return min(stated, replicas) if self.caps_min_isr else stated

    def begins_epoch(self, epoch: int, latest: int) -> bool:
        """Whether a new leader enters its ``epoch`` into the cache of its log, whose last one is ``latest``."""
        return self.begins_epoch_at_election and (self.begins_past_epochs or epoch > latest)

    def changed(self, entity: str, config: Mapping[str, str], initial: BrokerConfig) -> "BrokerPolicies":
        """A copy with the dynamic settings ``config`` of ``entity`` (KIP-226).

        Only min.insync.replicas, the settings of logs, and whether transactions are verified are taken over.

        Args:
            initial: the settings with which the brokers were started, for those that are not set any more.
        """
        own = config.get("min.insync.replicas")
        if entity == ALL_BROKERS:
            default = initial.min_insync_replicas if own is None else int(own)
            log, transactions = initial.log.changed(config, BROKER_NAMES), initial.transactions.changed(config)
            kept = evolve(self.config, min_insync_replicas=default, log=log, transactions=transactions)
            return evolve(self, config=kept)
        topic = entity.removeprefix("topics/")
        others = {name: least for name, least in self.topic_min_insync_replicas.items() if name != topic}
        known = {name: value for name, value in config.items() if name in TOPIC_NAMES}
        logs = {**self.topic_logs, topic: known}
        return evolve(
            self,
            topic_min_insync_replicas=others if own is None else {**others, topic: int(own)},
            topic_logs={name: settings for name, settings in logs.items() if settings},
        )

    def without_topics(self) -> "BrokerPolicies":
        """A copy in which no topic has settings of its own."""
        return evolve(self, topic_min_insync_replicas={}, topic_logs={})

    def log_config(self, topic: str) -> LogConfig:
        """The settings of the logs of ``topic``."""
        own = self.topic_logs.get(topic)
        return self.config.log if own is None else _of_topic(self.config.log, tuple(own.items()))

    def valid_acks(self, acks: int) -> bool:
        """Whether a produce request may have these ``acks``."""
        return self.counts_acks or -1 <= acks <= 1

    def without_replica(self, known: bool, needs_leader: bool = True) -> Errors:
        """The error for a partition without a replica on this broker; ``known``: it is in the metadata cache."""
        if not needs_leader and not self.sends_any_reader_on and (known or not self.knows_whose_replica):
            return Errors.REPLICA_NOT_AVAILABLE
        not_leader = known and self.knows_whose_replica
        return Errors.NOT_LEADER_FOR_PARTITION if not_leader else Errors.UNKNOWN_TOPIC_OR_PARTITION

    @property
    def verifies_transactions(self) -> bool:
        """Whether a leader asks the coordinator of a transaction before it appends the first records of it."""
        return self.transactions.verifies_records and self.config.transactions.partition_verification_enable

    @property
    def isr_check_interval_us(self) -> int:
        return self.config.replica_lag_time_max_us // self.isr_checks_per_lag_time

    @property
    def caught_up_counts_us(self) -> int:
        """The time for which a replica outside the ISR that was caught up holds the high watermark back; -1: it does
        not."""
        return self.config.replica_lag_time_max_us if self.high_watermark_waits_for_caught_up else -1


@lru_cache(256)
def _of_topic(default: LogConfig, own: tuple[tuple[str, str], ...]) -> LogConfig:
    """The settings of a topic's logs. A log reads them whenever it begins a segment."""
    return default.changed(dict(own), TOPIC_NAMES)
