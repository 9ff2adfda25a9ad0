"""Replicas that a leader takes into the ISR too early."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.runs.known.ledger import in_isr_since
from scenarios.runs.known.reason import Reason, and_where_it_led, of_broker, of_partition

if TYPE_CHECKING:
    from emulator.protocol.types import TopicPartition
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents


@of_partition
def _joined_and_not_known(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """A leader added the replica at fault to the ISR in ZooKeeper, where it has been since, and took the write for
    failed."""
    broker = violation.broker
    if broker is None:
        return False
    return any(
        wish.kind == "expand" and broker in wish.replicas and past.stayed_in_isr(tp, broker, seq, violation.seq)
        for seq, wish in past.taken_for_refused(tp)
        if seq < violation.seq
    )


JOINS: tuple[Reason, ...] = (
    Reason("KAFKA-7128", and_where_it_led(of_broker(in_isr_since("KAFKA-7128")))),
    Reason(
        "KafkaApis.handleFetchRequest (0.8.0 to 0.8.1.1)",
        and_where_it_led(of_broker(in_isr_since("KafkaApis.handleFetchRequest"))),
    ),
    Reason("KAFKA-1382", and_where_it_led(_joined_and_not_known)),
)
"""Reasons about replicas that join the ISR. Where two explain a finding, the more particular one comes first."""
