"""The coordinator of transactions (kafka.coordinator.transaction, 2.7): a synchronous state machine on the broker that
leads a partition of ``__transaction_state``; and the markers with which it ends transactions in their partitions."""
