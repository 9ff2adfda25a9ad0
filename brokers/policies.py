"""The brokers' part of a profile: the rules that differ between releases, and the settings (``brokers.config``)."""

from collections.abc import Mapping

from attrs import evolve, field, frozen

from brokers.config import BrokerConfig
from brokers.log.config import BROKER_NAMES, TOPIC_NAMES, LogConfig
from brokers.partition.isr import ByZooKeeper, IsrWrites, NotCaughtUp, OutOfSyncRule
from brokers.under_replication import AllAssigned, UnderReplication
from emulator.protocol.errors import Errors
from emulator.protocol.znodes import ALL_BROKERS


@frozen
class BrokerPolicies:
    """The broker's part of a profile."""

    config: BrokerConfig = field(factory=BrokerConfig)
    topic_min_insync_replicas: Mapping[str, int] = field(factory=dict)
    """min.insync.replicas of the topics that set their own."""

    topic_logs: Mapping[str, Mapping[str, str]] = field(factory=dict)
    """What topics set for their logs, under Kafka's names."""

    join_needs_epoch_start: bool = True
    """KAFKA-7128 (2.0.1): a follower joins the ISR only once it has reached the start of the leader's epoch."""

    checks_epochs: bool = True
    """KIP-320 (2.1): a reader says which leader epoch it knows; of another than the replica's it gets
    FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH. False also where the controller tells a raised epoch to the leader
    alone, as the controller page has it: nobody else could follow."""

    answers_with_epoch: bool = True
    """KIP-279 (2.0): who asks where an epoch ends is also told of which epoch that is; before, an offset alone."""

    checks_assignment: bool = True
    """KAFKA-1097 (0.8.1): a leader lets only assigned replicas into its ISR; later releases start only those. False
    where the controller does not tell the leader of the new replicas (KAFKA-42's protocol): it takes in who fetches."""

    out_of_sync: OutOfSyncRule = field(factory=NotCaughtUp)
    """Which members leave the ISR."""

    isr_checks_per_lag_time: int = 2
    """isr-expiration comes that often in replica.lag.time.max.ms: twice since KAFKA-4485 (0.10.2), before once."""

    isr_writes: IsrWrites = field(factory=ByZooKeeper)
    """How a leader changes its ISR."""

    high_watermark_completes_fetches: bool = False
    """A follower's fetch is answered as soon as there is a higher high watermark to tell it (2.4, for KIP-392); taken
    back with KAFKA-9952 (2.6): it costs a fetch for each."""

    every_fetch_looks: bool = True
    """Each fetch of a follower looks whether the high watermark can move. False: only one that has got on (KAFKA-8841,
    2.4), so that a replica outside the ISR which no longer counts can go on holding it back."""

    counts_acks: bool = False
    """Until 0.8.2 (KAFKA-1697, 0.9): acks above 1 is a number of replicas, and any other negative one means all."""

    demotion_answers_waiting: bool = True
    """KAFKA-2960 (0.10): a leader that becomes a follower answers the produces that wait here with
    NOT_LEADER_FOR_PARTITION. Before, they wait for their timeout, or until it leads again and they are satisfied."""

    knows_whose_replica: bool = True
    """KAFKA-6796 (2.0): a broker without a replica that knows of the partition answers NOT_LEADER_FOR_PARTITION;
    before, UNKNOWN_TOPIC_OR_PARTITION."""

    latest_is_committed: bool = True
    """KIP-207 (2.2): a new leader tells consumers no latest offset before its high watermark has reached the start of
    its epoch; before, what it tells may be less than what its predecessor told."""

    high_watermark_waits_for_caught_up: bool = True
    """KAFKA-4485 (0.10.2): a replica outside the ISR that was caught up within replica.lag.time.max.ms holds the high
    watermark back. False: the ISR alone does."""

    stop_answers_waiting: bool = False
    """KAFKA-9198 (2.4): StopReplica answers the produce requests that wait here for acks=all with
    NOT_LEADER_FOR_PARTITION. Before, they wait for their timeout: a leader that is moved away gets no LeaderAndIsr."""

    strangers_leave_isr: bool = True
    """A member of the ISR that is not assigned leaves it like one that does not fetch (up to 2.3). False: looking at it
    fails, and with that the rest of the broker's check of its ISRs, each time anew (2.4 to 2.8, KAFKA-9672)."""

    accepts_newer_broker_epoch: bool = False
    """KAFKA-9839 (2.5.1): a request that names a later incarnation than the broker knows itself to be is taken; before,
    it made the handler throw."""

    copies_follow_epochs: bool = False
    """KAFKA-9654 (2.5): a copy to another log directory is read under the new epoch after a LeaderAndIsr. Before, it is
    fenced by its own broker, and fails until the broker is started anew."""

    disk_errors_halt: bool = False
    """KIP-112 (1.0): an I/O error takes its log directory offline. Before, it ended the broker."""

    under_replication: UnderReplication = field(factory=AllAssigned)
    """What the gauges UnderReplicated and ReplicasCount count (KIP-352)."""

    lacks_metrics: frozenset[str] = frozenset()
    """The names of the metrics that the release does not have: the process measures them, and nobody sees them."""

    @property
    def all_min_insync_replicas(self) -> object:
        """Every setting of min.insync.replicas, to be compared."""
        return self.config.min_insync_replicas, self.topic_min_insync_replicas

    def min_insync_replicas(self, topic: str) -> int:
        return self.topic_min_insync_replicas.get(topic, self.config.min_insync_replicas)

    def changed(self, entity: str, config: Mapping[str, str], initial: BrokerConfig) -> "BrokerPolicies":
        """These, with the settings ``config`` given to ``entity``; what all brokers are no longer given is ``initial``.

        Of the settings that Kafka lets one change (KIP-226), min.insync.replicas and those of logs are followed.
        """
        own = config.get("min.insync.replicas")
        if entity == ALL_BROKERS:
            default = initial.min_insync_replicas if own is None else int(own)
            log = initial.log.changed(config, BROKER_NAMES)
            return evolve(self, config=evolve(self.config, min_insync_replicas=default, log=log))
        topic = entity.removeprefix("topics/")
        others = {name: least for name, least in self.topic_min_insync_replicas.items() if name != topic}
        logs = {**self.topic_logs, topic: {name: value for name, value in config.items() if name in TOPIC_NAMES}}
        return evolve(
            self,
            topic_min_insync_replicas=others if own is None else {**others, topic: int(own)},
            topic_logs={name: settings for name, settings in logs.items() if settings},
        )

    def log_config(self, topic: str) -> LogConfig:
        """What is set for the logs of ``topic``."""
        own = self.topic_logs.get(topic)
        return self.config.log if own is None else self.config.log.changed(own, TOPIC_NAMES)

    def valid_acks(self, acks: int) -> bool:
        """Whether a produce may ask for ``acks``."""
        return self.counts_acks or -1 <= acks <= 1

    def without_replica(self, known: bool) -> Errors:
        """The answer for a partition that has no replica here; ``known``: the controller has told of it."""
        told = known and self.knows_whose_replica
        return Errors.NOT_LEADER_FOR_PARTITION if told else Errors.UNKNOWN_TOPIC_OR_PARTITION

    @property
    def isr_check_interval_us(self) -> int:
        return self.config.replica_lag_time_max_us // self.isr_checks_per_lag_time

    @property
    def caught_up_counts_us(self) -> int:
        """For how long after it was caught up a replica outside the ISR holds the high watermark back; -1: never."""
        return self.config.replica_lag_time_max_us if self.high_watermark_waits_for_caught_up else -1
