"""ConfigCommand, kafka-configs --zookeeper --alter (2.3)."""

from collections.abc import Mapping

from emulator.protocol.znodes import CONFIG_CHANGES, decode_config, encode_config, encode_config_change
from emulator.zookeeper import NoNode
from scenarios.clients.operator import Operator


async def alter(operator: Operator, entity: str, settings: Mapping[str, str]) -> None:
    """--add-config: write ``settings`` over those of ``entity`` (``topics/T``, ``brokers/<default>``), then announce
    the change, which wakes the brokers."""
    path = f"/config/{entity}"
    try:
        data, _ = await operator.zk.get(path)
        await operator.zk.set(path, encode_config({**decode_config(data), **settings}))
    except NoNode:
        await operator.zk.create_parents(path)
        await operator.zk.create(path, encode_config(settings))
    await operator.zk.create(f"{CONFIG_CHANGES}/config_change_", encode_config_change(entity), sequential=True)
