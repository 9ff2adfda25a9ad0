"""KAFKA-42's admin command (its section 1): it waits until the controller has emptied /admin/reassign_partitions.

Then it reports how each move ended. If it is interrupted it reports at once, and deletes the znode if not all moves are
done, so that they can be requested again.
"""

from emulator.kernel import Mailbox
from emulator.protocol.events import MoveReported
from emulator.protocol.znodes import REASSIGN_PARTITIONS
from emulator.zookeeper import NoNode
from scenarios.cluster.clients.operator import Operator
from scenarios.cluster.clients.tools.assignments import read_assignments
from scenarios.cluster.clients.tools.command_outcome import DONE, CommandOutcome
from scenarios.cluster.clients.tools.reassign import Plan, write_plan
from scenarios.cluster.clients.tools.throttle import impose
from scenarios.language.strategies import Throttle


async def execute_and_wait(
    operator: Operator, moves: Plan, give_up_after_us: int | None = None, throttle: Throttle | None = None
) -> CommandOutcome:
    """Request ``moves`` and wait for their end, or for an interrupt ``give_up_after_us`` later. ``throttle``: set
    before, as later tools do.

    The end of each is in the trace (``MoveReported``): done only if AR == RAR. The command checks only that no
    other reassignment is in progress; the controller refuses what cannot be moved.
    """
    news = Mailbox(operator.process.world, "the admin command")
    operator.zk.on_node(REASSIGN_PARTITIONS, lambda _: news.put("changed"))
    if throttle is not None:
        await impose(operator, throttle, await read_assignments(operator.zk, (tp.topic for tp in moves)), moves)
    refused = await write_plan(operator, moves)
    if refused is not DONE:
        return refused
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


async def _report(operator: Operator, moves: Plan, *, interrupted: bool) -> bool:
    """Compare AR with RAR; returns whether all are done."""
    all_done = True
    now = await read_assignments(operator.zk, (tp.topic for tp in moves))
    for tp, target in moves.items():
        done = now.get(tp) == target
        operator.process.anchor(MoveReported, tp.topic, tp.partition, done, interrupted)
        all_done = all_done and done
    return all_done


async def _withdraw(operator: Operator) -> None:
    try:
        await operator.zk.delete(REASSIGN_PARTITIONS)
    except NoNode:
        return  # the controller has deleted it
