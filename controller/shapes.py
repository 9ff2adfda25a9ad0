"""The reassignment protocols by the names that strategies give them. A new one is written in a file of its own and
registered."""

from collections.abc import Callable

from attrs import frozen

from controller import procedures
from controller.reassignment.kafka_42 import KAFKA_42, Kafka42
from controller.reassignment.kafka_6794 import KAFKA_6794, Kafka6794, literal
from controller.reassignment.kip_455 import KIP_455, Kip455
from controller.reassignment.protocol import ReassignmentProtocol
from controller.reassignment.wiki import WIKI, Wiki
from controller.steps import Procedure


@frozen
class Shape:
    """The part of a strategy that the controller carries out: how it moves one partition.

    Attributes:
        name: the name in strategies; a ``-K`` at its end means a number of replicas per hop, or ``all``.
        procedure: the procedure whose steps are its gates.
        help: a line of help.
        make: returns the protocol, given that number; without a number it is 1, and for ``all`` None.
        api: whether the controller answers AlterPartitionReassignments and ListPartitionReassignments.
        example: a strategy of this shape, where the shape's name is not one.
        tool_waits: whether the admin command waits for the end.
        admits_unassigned: whether leaders do not receive the new replicas, and so have to admit followers that they do
            not know as assigned: the move could not end otherwise.
    """

    name: str
    procedure: Procedure
    help: str
    make: Callable[[int | None], ReassignmentProtocol]
    api: bool = False
    example: str = ""
    tool_waits: bool = False
    admits_unassigned: bool = False

    @property
    def protocol(self) -> str:
        """The name of the procedure."""
        return self.procedure.name


SHAPES: dict[str, Shape] = {}
"""The shapes by name, in the order of registration."""


def register(shape: Shape) -> None:
    """Make a shape known to scenario files, and its steps.

    Raises: ValueError where the name is taken, or as ``procedures.register`` does.
    """
    if shape.name in SHAPES:
        raise ValueError(f"there is a shape {shape.name!r} already")
    procedures.register(shape.procedure)
    SHAPES[shape.name] = shape


register(Shape("wiki", WIKI, "all at once: the 12 steps of the controller page, Kafka 0.8.1 to 2.3", lambda _: Wiki()))
register(
    Shape(
        "kafka-6794",
        KAFKA_6794,
        "one by one: add one replica, drop one, the leader last (KAFKA-6794)",
        Kafka6794,
    )
)
register(
    Shape(
        "kafka-42",
        KAFKA_42,
        "the 7 steps of KAFKA-42, Kafka 0.8.0",
        lambda _: Kafka42(),
        tool_waits=True,
        admits_unassigned=True,
    )
)
register(
    Shape(
        "kip-455",
        KIP_455,
        "adding and removing sets, override and cancel, Kafka 2.4",
        lambda _: Kip455(),
        api=True,
    )
)
register(
    Shape(
        "grow-then-shrink",
        KAFKA_6794,
        "KAFKA-6794 with the literal sign of n",
        lambda width: Kafka6794(width, literal),
    )
)
register(
    Shape(
        "width-K",
        KAFKA_6794,
        "KAFKA-6794 with K replicas per hop: width-2, width-3, ... or width-all",
        Kafka6794,
        example="width-2",
    )
)
