"""ZooKeeper's shell (zookeeper-shell.sh), as operators use it on Kafka's znodes."""

from emulator.protocol.errors import Errors
from emulator.zookeeper import NoNode
from scenarios.cluster.clients.operator import Operator
from scenarios.cluster.clients.tools.command_outcome import DONE, CommandOutcome


async def delete(operator: Operator, path: str) -> CommandOutcome:
    """``delete PATH``, whatever the version of the znode is."""
    try:
        await operator.zk.delete(path)
    except NoNode:
        return CommandOutcome(((f"Node does not exist: {path}", Errors.UNKNOWN_SERVER_ERROR),))
    return DONE
