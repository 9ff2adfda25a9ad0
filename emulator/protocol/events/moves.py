"""Reassignments: what the operator requests and receives, and when the controller has finished."""

from typing import NamedTuple


class MovePlanned(NamedTuple):
    """The operator has planned the reassignment of one partition, and will request it later."""

    t_us: int
    seq: int
    cause: int
    topic: str
    partition: int
    target: tuple[int, ...]


class MoveStarted(NamedTuple):
    """The operator requested the reassignment of one partition."""

    t_us: int
    seq: int
    cause: int
    topic: str
    partition: int
    target: tuple[int, ...]


class MoveFinished(NamedTuple):
    """The controller finished the reassignment of a partition: it was completed, or cancelled, or refused
    through /admin/reassign_partitions.

    Attributes:
        target: the replicas that it led to, or would have.
    """

    t_us: int
    seq: int
    cause: int
    topic: str
    partition: int
    target: tuple[int, ...]


class MoveReported(NamedTuple):
    """KAFKA-42's admin command reported the result of a move.

    Attributes:
        done: AR == RAR.
        interrupted: the command stopped waiting, and cancels the moves that are not done.
    """

    t_us: int
    seq: int
    cause: int
    topic: str
    partition: int
    done: bool
    interrupted: bool


class MoveAnswered(NamedTuple):
    """The answer of the API after ``MoveStarted`` or ``MoveCancelled``: NONE, or Kafka's name of the code."""

    t_us: int
    seq: int
    cause: int
    topic: str
    partition: int
    error: str


class MoveCancelled(NamedTuple):
    """The operator requested to cancel a partition's reassignment (KIP-455)."""

    t_us: int
    seq: int
    cause: int
    topic: str
    partition: int


class MovesListed(NamedTuple):
    """The operator received the list of reassignments in progress.

    Attributes:
        error: NONE, or Kafka's name of the code.
        partitions: the number of partitions that are being reassigned.
    """

    t_us: int
    seq: int
    cause: int
    error: str
    partitions: int
    detail: str


class MovesVerified(NamedTuple):
    """The result of kafka-reassign-partitions --verify.

    Attributes:
        done, open, failed: the numbers of moves that are completed, in progress, or ended without reaching their
            target.
        lifted: it found throttles and removed them.
    """

    t_us: int
    seq: int
    cause: int
    done: int
    open: int
    failed: int
    lifted: bool
