"""The differences between the transaction coordinators of releases, and the requests that they know."""

from collections.abc import Mapping

from attrs import field, frozen

INIT_PRODUCER_ID, ADD_PARTITIONS, ADD_OFFSETS, END, TXN_OFFSET_COMMIT = 22, 24, 25, 26, 28
"""The numbers of the APIs of transactional producers."""

VERSIONS_2_3 = {INIT_PRODUCER_ID: 1, ADD_PARTITIONS: 1, ADD_OFFSETS: 1, END: 1, TXN_OFFSET_COMMIT: 2}
VERSIONS_2_4 = {**VERSIONS_2_3, INIT_PRODUCER_ID: 2}
VERSIONS_2_5 = {**VERSIONS_2_4, INIT_PRODUCER_ID: 3, TXN_OFFSET_COMMIT: 3}
VERSIONS_2_7 = {**VERSIONS_2_5, INIT_PRODUCER_ID: 4, ADD_PARTITIONS: 2, ADD_OFFSETS: 2, END: 2}
VERSIONS_2_8 = {**VERSIONS_2_7, ADD_PARTITIONS: 3, ADD_OFFSETS: 3, END: 3}
"""The newest version of each that brokers of a release know (validVersions in the message definitions of Kafka 2.3.1,
2.4.1, 2.5.1, 2.7.2 and 2.8.2; those of 2.6.2 are those of 2.5.1, those of 3.3.2 are those of 2.8.2)."""


@frozen
class TransactionPolicies:
    """The defaults are those of Kafka 2.3.

    Attributes:
        versions: the newest version of each API that brokers know, by its number. A client goes by them: it recovers
            from errors by raising its epoch from InitProducerId 3 on (KIP-360, 2.5), sends its member id and generation
            with TxnOffsetCommit 3 (KIP-447, 2.5), and learns from InitProducerId 4 and the second version of the others
            whether it is fenced for good (KIP-588, 2.7).
        end_needs_same_epoch: KAFKA-9600 (2.6): EndTxn has to have the epoch of the producer. Before, a higher one would
            do.
        fences_once: KAFKA-9666 (2.6): where the write that fences a producer failed, the next attempt has the same
            epoch; before, a higher one each time. Nor does the producer that was fenced get a new epoch by
            InitProducerId 3 and its old one; in 2.5 it did, unless another producer had come.
        retries_storage_errors: KAFKA-9749 (2.5): a marker that a leader answers with KAFKA_STORAGE_ERROR is sent again.
            Before, it was not, and the transaction was not complete before the coordinator moved.
        stop_resigns: KAFKA-9235 (2.4.1): a coordinator whose replica is removed gives up its ids. Before, it went on
            with what it knew, until it followed the partition's leader or led it again.
    """

    versions: Mapping[int, int] = field(factory=lambda: VERSIONS_2_3)
    end_needs_same_epoch: bool = False
    fences_once: bool = False
    retries_storage_errors: bool = False
    stop_resigns: bool = False
