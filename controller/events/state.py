"""What a controller is doing, as the gauge ControllerState shows it (Kafka's ControllerState, 0.11 and later)."""

from enum import IntEnum


class ControllerState(IntEnum):
    """The kinds of work; every event of the queue is one of them, and each has a timer. In 2.3 and before,
    ALTER_PARTITION_REASSIGNMENT was called PartitionReassignment; its number and its timer were the same."""

    IDLE = 0
    CONTROLLER_CHANGE = 1
    BROKER_CHANGE = 2
    TOPIC_CHANGE = 3
    TOPIC_DELETION = 4
    ALTER_PARTITION_REASSIGNMENT = 5
    AUTO_LEADER_BALANCE = 6
    MANUAL_LEADER_BALANCE = 7
    CONTROLLED_SHUTDOWN = 8
    ISR_CHANGE = 9
    LEADER_AND_ISR_RESPONSE_RECEIVED = 10
    LOG_DIR_CHANGE = 11
    CONTROLLER_SHUTDOWN = 12
    UNCLEAN_LEADER_ELECTION_ENABLE = 13
    TOPIC_UNCLEAN_LEADER_ELECTION_ENABLE = 14
    LIST_PARTITION_REASSIGNMENT = 15

    @property
    def timer(self) -> str:
        """The name of its timer."""
        stem = _OLDER_NAMES.get(self) or "".join(word.capitalize() for word in self.name.split("_"))
        return f"{stem}RateAndTimeMs"


_OLDER_NAMES = {
    ControllerState.BROKER_CHANGE: "LeaderElection",
    ControllerState.ALTER_PARTITION_REASSIGNMENT: "PartitionReassignment",
}
"""Timers that had their names before the states had theirs."""
