"""The events that a run records, one file per theme.

Every event begins with ``t_us, seq, cause`` (``emulator.trace``). ``node`` is a broker id (clients are negative). A
``detail`` is text for people; whatever a fold needs has a field of its own. Names, fields and their order go into the
digest of a run.
"""

from emulator.protocol.events.brokers import BrokerRegistered, ControlledShutdownAnswered, NodeCrashed, NodeStarted
from emulator.protocol.events.clients import (
    BatchesProduced,
    Consumed,
    ConsumerFailed,
    PollReturned,
    PositionReset,
    Produced,
    ProducerIdentified,
)
from emulator.protocol.events.controller import (
    ControllerElected,
    ControllerResigned,
    ControlRequest,
    ControlResponse,
    ElectionAnswered,
    LeaderElected,
)
from emulator.protocol.events.fetchers import (
    FetcherStarted,
    FetcherStopped,
    FetchPosition,
    PartitionFailed,
    PartitionFailureCleared,
)
from emulator.protocol.events.isr import (
    UNCHECKED,
    IsrChanged,
    IsrProposed,
    IsrUpdateFailed,
    LatestOffsetReturned,
    UnassignedFollowerAdded,
)
from emulator.protocol.events.log_dirs import (
    AlterLogDirAnswered,
    CopyAbandoned,
    CopyFailed,
    CopyFailureCleared,
    CopyPosition,
    CopyStarted,
    LogDirsVerified,
    LogReplaced,
)
from emulator.protocol.events.logs import (
    Appended,
    BatchesAppended,
    HighWatermark,
    HighWatermarksMoved,
    LogDirFailed,
    LogLoaded,
    LogRecovered,
    LogStartMoved,
    ReplicaOffline,
    Truncated,
)
from emulator.protocol.events.metrics import ConsumerLag, LastStableOffsetLag, PartitionGauges
from emulator.protocol.events.moves import (
    MoveAnswered,
    MoveCancelled,
    MoveFinished,
    MovePlanned,
    MoveReported,
    MovesListed,
    MoveStarted,
    MovesVerified,
)
from emulator.protocol.events.replicas import (
    BecameFollower,
    BecameLeader,
    ImpendingReplicasReceived,
    PartitionCreated,
    ReplicaStopped,
)
from emulator.protocol.events.run import AckedLost, Fault, Violated

__all__ = [
    "UNCHECKED",
    "AckedLost",
    "AlterLogDirAnswered",
    "Appended",
    "BatchesAppended",
    "BatchesProduced",
    "BecameFollower",
    "BecameLeader",
    "BrokerRegistered",
    "Consumed",
    "ConsumerFailed",
    "ConsumerLag",
    "ControlRequest",
    "ControlResponse",
    "ControlledShutdownAnswered",
    "ControllerElected",
    "ControllerResigned",
    "CopyAbandoned",
    "CopyFailed",
    "CopyFailureCleared",
    "CopyPosition",
    "CopyStarted",
    "ElectionAnswered",
    "Fault",
    "FetchPosition",
    "FetcherStarted",
    "FetcherStopped",
    "HighWatermark",
    "HighWatermarksMoved",
    "ImpendingReplicasReceived",
    "IsrChanged",
    "IsrProposed",
    "IsrUpdateFailed",
    "LastStableOffsetLag",
    "LatestOffsetReturned",
    "LeaderElected",
    "LogDirFailed",
    "LogDirsVerified",
    "LogLoaded",
    "LogRecovered",
    "LogReplaced",
    "LogStartMoved",
    "MoveAnswered",
    "MoveCancelled",
    "MoveFinished",
    "MovePlanned",
    "MoveReported",
    "MoveStarted",
    "MovesListed",
    "MovesVerified",
    "NodeCrashed",
    "NodeStarted",
    "PartitionCreated",
    "PartitionFailed",
    "PartitionFailureCleared",
    "PartitionGauges",
    "PollReturned",
    "PositionReset",
    "Produced",
    "ProducerIdentified",
    "ReplicaOffline",
    "ReplicaStopped",
    "Truncated",
    "UnassignedFollowerAdded",
    "Violated",
]
