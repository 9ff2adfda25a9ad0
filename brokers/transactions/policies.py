"""The differences between the transaction coordinators of releases."""

from attrs import frozen


@frozen
class TransactionPolicies:
    """The defaults are those of Kafka 2.3.

    Attributes:
        end_needs_same_epoch: KAFKA-9600 (2.6): EndTxn has to have the epoch of the producer. Before, a higher one would
            do.
        fences_once: KAFKA-9666 (2.6): where the write that fences a producer failed, the next attempt has the same
            epoch; before, a higher one each time. Nor does the producer that was fenced get a new epoch by
            InitProducerId 3 and its old one; in 2.5 it did, unless another producer had come.
        hides_network_errors: KAFKA-16386 (3.7.1): a client whose transaction could not be verified, as the coordinator
            did not answer, gets an error that older clients retry as well: NOT_ENOUGH_REPLICAS for a batch,
            COORDINATOR_LOAD_IN_PROGRESS for offsets. Before, NETWORK_EXCEPTION.
        knows_abortable: KAFKA-16314 (3.8): a partition that is not in the transaction is TRANSACTION_ABORTABLE, for
            clients that know it. Before, INVALID_TXN_STATE.
        retries_storage_errors: KAFKA-9749 (2.5): a marker that a leader answers with KAFKA_STORAGE_ERROR is sent again.
            Before, it was not, and the transaction was not complete before the coordinator moved.
        stop_resigns: KAFKA-9235 (2.4.1): a coordinator whose replica is removed gives up its ids. Before, it went on
            with what it knew, until it followed the partition's leader or led it again.
        verifies_offsets: KAFKA-15449 (3.7): a group's coordinator does that, too, before it writes offsets.
        verifies_records: KIP-890, part 1 (3.6): a leader that gets the first records of a transaction asks its
            coordinator whether the partition is in it (``brokers.transactions.verification``). Before, it appended
            them, also late ones, of a transaction that was over, which then stayed open in that partition.
    """

    end_needs_same_epoch: bool = False
    fences_once: bool = False
    hides_network_errors: bool = False
    knows_abortable: bool = False
    retries_storage_errors: bool = False
    stop_resigns: bool = False
    verifies_offsets: bool = False
    verifies_records: bool = False
