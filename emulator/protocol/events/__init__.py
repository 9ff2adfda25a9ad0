"""The events that a run records, one file per theme.

Every event begins with ``t_us, seq, cause`` (``emulator.trace``). ``node`` is a broker id (clients are negative). A
``detail`` is text for people; whatever a fold needs has a field of its own. Names, fields and their order go into the
digest of a run.
"""

from emulator.protocol.events.brokers import BrokerRegistered, NodeCrashed, NodeStarted, ShutdownAsked
from emulator.protocol.events.clients import Consumed, ConsumerFailed, PositionReset, Produced, ProducerIdentified
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
    PartitionUnfailed,
)
from emulator.protocol.events.isr import (
    UNCHECKED,
    IsrChanged,
    IsrProposed,
    IsrUpdateFailed,
    LatestOffsetTold,
    ReplicaTakenIn,
)
from emulator.protocol.events.log_dirs import (
    CopyBegun,
    CopyFailed,
    CopyGivenUp,
    CopyPosition,
    CopyUnfailed,
    LogDirAsked,
    LogDirsVerified,
    LogReplaced,
)
from emulator.protocol.events.logs import (
    Appended,
    HighWatermark,
    LogDirFailed,
    LogLoaded,
    LogRecovered,
    LogStartMoved,
    ReplicaLost,
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
    PartitionCreated,
    ReplicasKnown,
    ReplicaStopped,
)
from emulator.protocol.events.run import Fault, Violated

__all__ = [
    "UNCHECKED",
    "Appended",
    "BecameFollower",
    "BecameLeader",
    "BrokerRegistered",
    "Consumed",
    "ConsumerFailed",
    "ConsumerLag",
    "ControlRequest",
    "ControlResponse",
    "ControllerElected",
    "ControllerResigned",
    "CopyBegun",
    "CopyFailed",
    "CopyGivenUp",
    "CopyPosition",
    "CopyUnfailed",
    "ElectionAnswered",
    "Fault",
    "FetchPosition",
    "FetcherStarted",
    "FetcherStopped",
    "HighWatermark",
    "IsrChanged",
    "IsrProposed",
    "IsrUpdateFailed",
    "LastStableOffsetLag",
    "LatestOffsetTold",
    "LeaderElected",
    "LogDirAsked",
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
    "PartitionGauges",
    "PartitionUnfailed",
    "PositionReset",
    "Produced",
    "ProducerIdentified",
    "ReplicaLost",
    "ReplicaStopped",
    "ReplicaTakenIn",
    "ReplicasKnown",
    "ShutdownAsked",
    "Truncated",
    "Violated",
]
