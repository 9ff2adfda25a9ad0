"""What a reassignment protocol is: how one partition gets from where it is to where it was asked to go."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

from controller.reassignment.move import Move
from controller.steps import Procedure
from emulator.protocol.alter_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from emulator.protocol.list_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)

if TYPE_CHECKING:
    from controller.controller import Controller


class ReassignmentProtocol(Protocol):
    """A protocol keeps nothing but what stands in the ``Move``; after a failover that begins afresh from ZooKeeper."""

    procedure: ClassVar[Procedure]

    # -- how it moves a partition -------------------------------------------------------------------------------------

    async def advance(self, c: "Controller", move: Move) -> None:
        """Begin the move, or go on with it as far as possible.

        Raises: StateChangeFailed where the partition cannot be moved; ControllerMoved, SessionExpired.
        """

    async def isr_changed(self, c: "Controller", move: Move) -> None:
        """The state znode of the moving partition changed: go on if that was what the move waited for."""

    def concerns(self, move: Move, brokers: Sequence[int]) -> bool:
        """Is the start of ``brokers`` a reason to go on with ``move``?"""

    # -- how it is asked (``admin.ByAdminPath``, ``requests.ByApiAndAdminPath``) --------------------------------------

    @property
    def topic_version(self) -> int:
        """Of the topics' znodes that its controllers write: 2 has room for adding and removing replicas."""

    @property
    def follows_znode(self) -> bool:
        """Whether the admin znode is looked at whenever it changes and before an entry is taken out, so that others may
        edit it; a request for a partition that is moving is then passed over in silence, whatever it asks for (Kafka
        0.8.0). Otherwise only its creation counts, memory says what is left, and the newest request wins."""

    async def load(self, c: "Controller") -> None:
        """Failover F3: find the moves that are under way."""

    async def resume(self, c: "Controller") -> None:
        """Failover F8: take them up."""

    async def requested(self, c: "Controller") -> None:
        """/admin/reassign_partitions was created, or has to be watched again."""

    async def alter(
        self, c: "Controller", request: AlterPartitionReassignmentsRequest
    ) -> AlterPartitionReassignmentsResponse:
        """The active controller is asked to begin, replace or cancel moves."""

    def listed(self, c: "Controller", request: ListPartitionReassignmentsRequest) -> ListPartitionReassignmentsResponse:
        """The active controller is asked what is moving."""
