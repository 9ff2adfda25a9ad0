"""The releases, each as its neighbour and what the two do differently; nothing below this room knows a release by name.

The policies' own defaults are those of Kafka 2.3. A release means its last patch, as 2.5.1 for kafka-2.5.
Sources: kafka-behaviour §11; the tickets stand with each policy.
"""

from collections.abc import Mapping

from attrs import evolve

from brokers.partition.isr import ByController, ByZooKeeper, StuckOrSlow
from brokers.policies import BrokerPolicies
from brokers.under_replication import CurrentReplicas, WithoutAdding
from controller.channels.schemas import CurrentAndImpending
from controller.fencing import Unfenced
from controller.metrics import is_offline_by_leader
from controller.operations.rebalance import preferred_could_lead
from controller.reassignment.kip_455 import Kip455
from controller.reassignment.wiki import Wiki, target_only
from controller.states.rules import FOUR_STATES, FOUR_STATES_TRUSTING_MEMORY, SEVEN_STATES
from controller.states.selectors import IN_ORDER_OF_ISR, TOLD_TO_LIVE, Selectors
from fetchers.assignment import signed_fetcher_id
from fetchers.failures import STORAGE_TOLERATED, THREAD_DIES
from fetchers.truncation import Kip101, OnFetch, ToHighWatermark
from scenarios.cluster.clients.tools.topics import move_of_the_topic
from scenarios.profiles import absent
from scenarios.profiles.bundle import Bundle

KAFKA_2_3 = Bundle(brokers=BrokerPolicies(lacks_metrics=absent.DRAFT | absent.SINCE_2_5 | absent.SINCE_2_4))

KAFKA_1_1 = Bundle(
    controller=evolve(
        KAFKA_2_3.controller,
        # KAFKA-3143 (2.3): a new controller takes dead replicas out of their ISRs.
        replicas=evolve(SEVEN_STATES, shrink_at_failover=False),
        # KAFKA-7482 (2.1): a broker that shuts down is told who leads instead of it.
        selectors=Selectors(controlled_shutdown=TOLD_TO_LIVE),
        # KAFKA-6082 (2.1) and KIP-380 (2.2) are to come.
        fencing=Unfenced(),
        broker_epochs=False,
        is_offline=is_offline_by_leader,
    ),
    # KIP-279 and KAFKA-6796 (2.0), KAFKA-7128 (2.0.1) and KIP-320 (2.1) are to come.
    brokers=evolve(
        KAFKA_2_3.brokers,
        join_needs_epoch_start=False,
        checks_epochs=False,
        answers_with_epoch=False,
        knows_whose_replica=False,
        latest_is_committed=False,
        lacks_metrics=KAFKA_2_3.brokers.lacks_metrics | absent.SINCE_2_3,
    ),
    # KIP-279 (2.0) and KIP-461 (2.3) are to come.
    fetchers=evolve(KAFKA_2_3.fetchers, truncation=Kip101(), failures=STORAGE_TOLERATED),
)

KAFKA_0_8 = evolve(
    KAFKA_1_1,
    # KAFKA-1028 (0.8.2): the last member of an ISR stays in it.
    controller=evolve(KAFKA_1_1.controller, replicas=FOUR_STATES_TRUSTING_MEMORY, selectors=IN_ORDER_OF_ISR),
    brokers=evolve(
        KAFKA_1_1.brokers,
        # KAFKA-1546 (0.9), KAFKA-1382 (0.8.2), KAFKA-1697 (0.9) and KAFKA-2960 (0.10) are to come.
        out_of_sync=StuckOrSlow(),
        isr_writes=ByZooKeeper(compares=False),
        counts_acks=True,
        demotion_answers_waiting=False,
        # KAFKA-1097 (0.8.1) and KAFKA-4485 (0.10.2) are to come.
        checks_assignment=False,
        high_watermark_waits_for_caught_up=False,
        isr_checks_per_lag_time=1,
        disk_errors_halt=True,
        lacks_metrics=KAFKA_1_1.brokers.lacks_metrics | absent.SINCE_1_1,
    ),
    # KAFKA-2143 (0.10), KIP-101 (0.11) and KIP-112 (1.0) are to come.
    fetchers=evolve(
        KAFKA_1_1.fetchers,
        assignment=signed_fetcher_id,
        truncation=ToHighWatermark(),
        out_of_range_drops_log=True,
        failures=THREAD_DIES,
    ),
)

WIKI_TEXT = evolve(
    KAFKA_2_3,
    controller=evolve(
        KAFKA_2_3.controller, replicas=FOUR_STATES, selectors=Selectors(controlled_shutdown=TOLD_TO_LIVE)
    ),
    # A raised epoch is told to the leader alone: nobody else could follow it.
    brokers=evolve(KAFKA_2_3.brokers, checks_epochs=False),
    wiki=Wiki(told_in_step_7=target_only),
)

KIP_461 = evolve(KAFKA_2_3, fetchers=evolve(KAFKA_2_3.fetchers, end_thread_when_all_failed=True))

KIP_352_DRAFT = evolve(
    KAFKA_2_3,
    controller=evolve(KAFKA_2_3.controller, requests=CurrentAndImpending()),
    brokers=evolve(
        KAFKA_2_3.brokers,
        under_replication=CurrentReplicas(),
        lacks_metrics=KAFKA_2_3.brokers.lacks_metrics - absent.DRAFT,
    ),
)

# KAFKA-9198, KAFKA-8841 and KIP-392; KAFKA-9672 (3.0) is to come.
KAFKA_2_4 = evolve(
    KAFKA_2_3,
    brokers=evolve(
        KAFKA_2_3.brokers,
        stop_answers_waiting=True,
        strangers_leave_isr=False,
        every_fetch_looks=False,
        high_watermark_completes_fetches=True,
        lacks_metrics=KAFKA_2_3.brokers.lacks_metrics - absent.SINCE_2_4,
    ),
    moves_forbid_expansion=move_of_the_topic,
)

KAFKA_2_5 = evolve(
    KAFKA_2_4,
    brokers=evolve(
        KAFKA_2_4.brokers,
        # KAFKA-9839 came with the patch release 2.5.1.
        accepts_newer_broker_epoch=True,
        copies_follow_epochs=True,  # KAFKA-9654
        # KIP-352 as adopted.
        under_replication=WithoutAdding(),
        lacks_metrics=KAFKA_2_4.brokers.lacks_metrics - absent.SINCE_2_5,
    ),
)

# KAFKA-9866 (2.6): leadership is brought back only to a replica that is in sync.
REBALANCE_2_6 = evolve(KAFKA_2_5.controller.auto_rebalance, eligible=preferred_could_lead)
KAFKA_2_6 = evolve(
    KAFKA_2_5,
    controller=evolve(KAFKA_2_5.controller, stops_name_epochs=True, auto_rebalance=REBALANCE_2_6),
    # KAFKA-9952: an answer for each high watermark is too much.
    brokers=evolve(KAFKA_2_5.brokers, high_watermark_completes_fetches=False),
)

KAFKA_2_7 = evolve(
    KAFKA_2_6,
    # KAFKA-10193: whose request is dropped at the end of a session, is told.
    controller=evolve(KAFKA_2_6.controller, answers_preempted=True),
    # KIP-497: leaders ask the controller for their ISRs.
    brokers=evolve(KAFKA_2_6.brokers, isr_writes=ByController()),
    # KAFKA-10314: a replica that joins may take any good log directory.
    kip_455=Kip455(adds_as_new=True, watches_isr=False),
    # KIP-595: fetches find out where logs part.
    fetchers=evolve(KAFKA_2_6.fetchers, truncation=OnFetch()),
)

BUNDLES: Mapping[str, Bundle] = {
    "kafka-2.3": KAFKA_2_3,
    "wiki-text": WIKI_TEXT,
    "kip-461": KIP_461,
    "kip-352-draft": KIP_352_DRAFT,
    "kafka-0.8": KAFKA_0_8,
    "kafka-1.1": KAFKA_1_1,
    "kafka-2.4": KAFKA_2_4,
    "kafka-2.5": KAFKA_2_5,
    "kafka-2.6": KAFKA_2_6,
    "kafka-2.7": KAFKA_2_7,
}
"""By the names of ``scenarios.language.PROFILES``."""
