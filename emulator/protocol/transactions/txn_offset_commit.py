"""TxnOffsetCommit (API 28): a producer commits a group's offsets in its transaction.

Versions: v3 (2.5, KIP-447) names the member and its generation; v4 (3.8) knows TRANSACTION_ABORTABLE.
"""

from attrs import define, field

from emulator.protocol.api import declare
from emulator.protocol.groups.group_offsets import OffsetCommitRequest, OffsetCommitResponse


@define(eq=False)
class TxnOffsetCommitRequest(OffsetCommitRequest):
    """Commit these offsets once the transaction is committed. Sent to the group's coordinator.

    Attributes:
        producer_id, producer_epoch: as InitProducerId gave them.
        knows_loading: whether the client knows COORDINATOR_LOAD_IN_PROGRESS (v2, 2.3).
        knows_abortable: whether the client knows TRANSACTION_ABORTABLE.
    """

    transactional_id: str = field(kw_only=True)
    producer_id: int = field(kw_only=True)
    producer_epoch: int = field(kw_only=True)
    knows_loading: bool = field(default=True, kw_only=True)
    knows_abortable: bool = field(default=True, kw_only=True)


@define(eq=False)
class TxnOffsetCommitResponse(OffsetCommitResponse):
    """The offsets are in the log; they count when the transaction has ended."""


declare(
    28, "TxnOffsetCommit", TxnOffsetCommitRequest, TxnOffsetCommitResponse,
    help="a producer commits a group's offsets in its transaction",
)  # fmt: skip
