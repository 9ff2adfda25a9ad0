"""KAFKA-42's admin command (seed 000, 1): it waits until the controller has emptied /admin/reassign_partitions.

Then it says how it went. Interrupted, it says so at once, and deletes what is not done so that it can be asked for
again.
"""

from collections.abc import Mapping

from emulator.kernel import Mailbox
from emulator.protocol.errors import Errors
from emulator.protocol.events import MoveReported, MoveStarted
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import REASSIGN_PARTITIONS, decode_topic, encode_reassignment, topic_path
from emulator.zookeeper import NodeExists, NoNode
from scenarios.clients.operator import Operator
from scenarios.clients.tools.outcome import DONE, Outcome

Moves = Mapping[TopicPartition, tuple[int, ...]]


async def execute_and_wait(operator: Operator, moves: Moves, give_up_after_us: int | None = None) -> Outcome:
    """Ask for ``moves`` and wait for their end, or to be interrupted ``give_up_after_us`` after asking.

    The end of each is in the trace (``MoveReported``): done only if AR == RAR. The command checks nothing but that no
    other reassignment is under way; what cannot be moved is the controller's to refuse.
    """
    news = Mailbox(operator.process.world, "the admin command")
    operator.zk.on_node(REASSIGN_PARTITIONS, lambda _: news.put("changed"))
    try:
        await operator.zk.create(REASSIGN_PARTITIONS, encode_reassignment(moves))
    except NodeExists:
        return Outcome((("another reassignment is in progress", Errors.REASSIGNMENT_IN_PROGRESS),))
    for tp, target in moves.items():
        operator.process.anchor(MoveStarted, tp.topic, tp.partition, target)
    interrupt = None
    if give_up_after_us is not None:
        interrupt = operator.process.call_later(give_up_after_us, lambda _: news.put("interrupted"), background=False)
    heard = ""
    while heard != "interrupted" and await operator.zk.exists(REASSIGN_PARTITIONS) is not None:
        heard = await news.get()
    if interrupt is not None:
        interrupt.cancel()
    all_done = await _report(operator, moves, interrupted=heard == "interrupted")
    if heard == "interrupted" and not all_done:
        await _withdraw(operator)
    return DONE


async def _report(operator: Operator, moves: Moves, *, interrupted: bool) -> bool:
    """Compare AR with RAR; returns whether all are done."""
    all_done = True
    for tp, target in moves.items():
        done = await _assignment(operator, tp) == target
        operator.process.anchor(MoveReported, tp.topic, tp.partition, done, interrupted)
        all_done = all_done and done
    return all_done


async def _assignment(operator: Operator, tp: TopicPartition) -> tuple[int, ...]:
    try:
        data, _ = await operator.zk.get(topic_path(tp.topic))
    except NoNode:
        return ()
    return decode_topic(data).get(tp.partition, ())


async def _withdraw(operator: Operator) -> None:
    try:
        await operator.zk.delete(REASSIGN_PARTITIONS)
    except NoNode:
        return  # the controller was faster
