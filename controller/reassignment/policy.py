"""What a reassignment protocol is: how one partition gets from where it is to where it was asked to go."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from controller.reassignment.move import Move

if TYPE_CHECKING:
    from controller.controller import Controller


class ReassignmentProtocol(Protocol):
    """A protocol keeps nothing but what stands in the ``Move``; after a failover that begins afresh from ZooKeeper."""

    @property
    def name(self) -> str:
        """The name under which strategies know it, and the prefix of its steps."""

    @property
    def steps(self) -> tuple[str, ...]:
        """Its gates, in order."""

    @property
    def phases(self) -> Mapping[str, tuple[str, str]]:
        """Neutral phase -> the first and the last step that it spans."""

    async def advance(self, c: "Controller", move: Move) -> None:
        """Begin the move, or go on with it as far as possible.

        Raises: StateChangeFailed where the partition cannot be moved; ControllerMoved, SessionExpired.
        """

    async def isr_changed(self, c: "Controller", move: Move) -> None:
        """The state znode of the moving partition changed: go on if that was what the move waited for."""

    def concerns(self, move: Move, brokers: Sequence[int]) -> bool:
        """Is the start of ``brokers`` a reason to go on with ``move``?"""
