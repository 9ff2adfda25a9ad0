"""Kafka 3.6 (3.6.2) with ZooKeeper: a move that is cancelled leaves nothing behind (KAFKA-13972)."""

from scenarios.profiles.profile import Difference, api_versions
from scenarios.profiles.releases.kafka_3_3 import PROFILE as KAFKA_3_3
from scenarios.profiles.tickets import differences

RELEASE = "3.6.2"
PROFILE = KAFKA_3_3.with_differences(
    *differences(KAFKA_3_3, RELEASE),
    Difference(
        title="leadership goes back to preferred replicas by itself",
        before="only while no partition at all is being moved",
        here="also while partitions are being moved",
        source="KAFKA-10149, 3.4",
        policies={"controller.auto_rebalance.during_moves": True},
    ),
    Difference(
        title="StopReplica of the leader epoch that the replica has already, as where a move is cancelled,",
        before="is carried out, as it has no leader epochs; from 2.6 to 3.4.0 it is refused, and the replica stays",
        here="is carried out",
        source="KAFKA-13972, 3.4.1",
        policies={"brokers.stops_in_own_epoch": True},
    ),
    Difference(
        title="a replica outside the ISR that was caught up lately",
        before="holds the high watermark back",
        here="holds the high watermark back if it is alive by the leader's metadata, as it may join the ISR then",
        source="Partition.maybeIncrementLeaderHW, 3.5",
        policies={"brokers.waits_for_eligible": True},
    ),
    Difference(
        title="a producer that asks for an id while its broker has none left",
        before="waits for the next block",
        here="has to ask again (COORDINATOR_LOAD_IN_PROGRESS), as the first one of each broker is",
        source="KAFKA-14694, 3.6",
        policies={"brokers.producers_wait_for_ids": False},
    ),
    Difference(
        title="a leader that gets the first records of a transaction",
        before="appends them, also late ones of a transaction that is over, which then hangs in that partition",
        here="asks the transaction's coordinator first, and refuses them where the partition is not in it "
        "(INVALID_TXN_STATE); a producer asks again where that is not known (`NOT_ENOUGH_REPLICAS`)",
        source="KIP-890, part 1, 3.6",
        policies={"brokers.transactions.verifies_records": True},
    ),
    api_versions(RELEASE, "3.6.2: as in 3.3, and Fetch 15, AddPartitionsToTxn 4", "message definitions of 3.6.2"),
    name="kafka-3.6",
    release=RELEASE,
    help="3.6: kafka-3.3 without strays of cancelled moves (KAFKA-13972)",
    leaves_out=(
        *(line for line in KAFKA_3_3.leaves_out if not line.startswith("an error for a producer")),
        "KIP-405 (3.6): tiered storage",
    ),
)
