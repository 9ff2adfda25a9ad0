"""What a run records of reassignments: what the operator asks for and hears, and what the controller says is done. They
are events like those of ``emulator.protocol.events``, which has them too."""

from typing import NamedTuple


class MovePlanned(NamedTuple):
    """The operator will ask for a reassignment of one partition when its turn comes."""

    t_us: int
    seq: int
    cause: int
    topic: str
    partition: int
    target: tuple[int, ...]


class MoveStarted(NamedTuple):
    """The operator asked for a reassignment of one partition."""

    t_us: int
    seq: int
    cause: int
    topic: str
    partition: int
    target: tuple[int, ...]


class MoveFinished(NamedTuple):
    """The controller is done with the partition: it is where it was asked to go, back after a cancellation, or refused
    by way of /admin/reassign_partitions."""

    t_us: int
    seq: int
    cause: int
    topic: str
    partition: int


class MoveReported(NamedTuple):
    """KAFKA-42's admin command told its operator how a move went: ``done`` if AR == RAR; ``interrupted``: it was not
    waited for any longer, and what is not done is taken back."""

    t_us: int
    seq: int
    cause: int
    topic: str
    partition: int
    done: bool
    interrupted: bool


class MoveAnswered(NamedTuple):
    """What the API answered to ``MoveStarted`` or ``MoveCancelled``: NONE, or Kafka's name of the code."""

    t_us: int
    seq: int
    cause: int
    topic: str
    partition: int
    error: str


class MoveCancelled(NamedTuple):
    """The operator asked for a partition's reassignment to be undone (KIP-455)."""

    t_us: int
    seq: int
    cause: int
    topic: str
    partition: int


class MovesListed(NamedTuple):
    """What the operator was told of the reassignments in progress; ``error``: NONE, or Kafka's name of the code."""

    t_us: int
    seq: int
    cause: int
    error: str
    partitions: int
    detail: str


class MovesVerified(NamedTuple):
    """What kafka-reassign-partitions --verify said of a plan: how many moves are done, open, and over without having
    come to their target; ``lifted``: it found throttles and cleared them."""

    t_us: int
    seq: int
    cause: int
    done: int
    open: int
    failed: int
    lifted: bool
