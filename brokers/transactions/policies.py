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
        retries_storage_errors: KAFKA-9749 (2.5): a marker that a leader answers with KAFKA_STORAGE_ERROR is sent again.
            Before, it was not, and the transaction was not complete before the coordinator moved.
        stop_resigns: KAFKA-9235 (2.4.1): a coordinator whose replica is removed gives up its ids. Before, it went on
            with what it knew, until it followed the partition's leader or led it again.
    """

    end_needs_same_epoch: bool = False
    fences_once: bool = False
    retries_storage_errors: bool = False
    stop_resigns: bool = False
