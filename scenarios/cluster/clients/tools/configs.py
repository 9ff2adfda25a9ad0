"""ConfigCommand, kafka-configs --zookeeper --alter (2.3)."""

from collections.abc import Collection, Iterable, Mapping

from emulator.protocol.errors import ApiException, Errors
from emulator.protocol.znodes import CONFIG_CHANGES, decode_config, encode_config, encode_config_change, topic_path
from emulator.zookeeper import NodeExists, NoNode
from scenarios.cluster.clients.operator import Operator
from scenarios.cluster.clients.tools.outcome import Outcome


async def alter(
    operator: Operator, entities: Iterable[str], settings: Mapping[str, str], removed: Collection[str] = ()
) -> Outcome:
    """--add-config and --delete-config: of each of ``entities`` (``topics/T``, ``brokers/N``, ``brokers/<default>``)
    write ``settings`` over those that are there, and drop ``removed``; then announce the change, which wakes the
    brokers. Refused are values that a setting cannot have, and a topic that there is not (AdminZkClient); one whose
    settings there are is taken for granted, where Kafka asks."""
    refused: list[tuple[str, Errors]] = []
    for entity in entities:
        before = await read(operator, entity)
        kind, _, name = entity.partition("/")
        if before is None and kind == "topics" and await operator.zk.exists(topic_path(name)) is None:
            refused.append((name, Errors.UNKNOWN_TOPIC_OR_PARTITION))
            continue
        why = why_not(entity, settings)
        if why:
            refused.append((why, Errors.INVALID_CONFIG))
            continue
        await write(operator, entity, {**_without(before or {}, removed), **settings}, new=before is None)
    return Outcome(tuple(refused))


def why_not(entity: str, settings: Mapping[str, str]) -> str:
    """Why ``entity`` cannot have these ``settings``, or "". Brokers may have settings that Kafka does not know."""
    if not settings:
        return ""
    from brokers.config_def import BROKER_CONFIGS, ConfigException, valid_topic_config  # which few runs need

    try:
        if entity.startswith("topics/"):
            valid_topic_config(settings)
        for name, value in settings.items() if entity.startswith("brokers/") else ():
            if name in BROKER_CONFIGS:
                BROKER_CONFIGS[name].parse(value)
    except (ApiException, ConfigException) as refused:
        return str(refused)
    return ""


async def remove(operator: Operator, entities: Iterable[str], names: Collection[str]) -> bool:
    """Drop the settings ``names`` where they are set; only what changes is announced. Returns whether any was."""
    found = False
    for entity in entities:
        before = await read(operator, entity) or {}
        after = _without(before, names)
        if after != before:
            found = True
            await write(operator, entity, after)
    return found


async def read(operator: Operator, entity: str) -> dict[str, str] | None:
    """The settings of ``entity``; None where there is no znode for them."""
    try:
        data, _ = await operator.zk.get(f"/config/{entity}")
    except NoNode:
        return None
    return decode_config(data)


async def write(operator: Operator, entity: str, settings: Mapping[str, str], *, new: bool = False) -> None:
    """Write the settings of ``entity`` and announce them. The znode may have been made, or deleted, since it was read:
    the other way is tried then (KafkaZkClient.setOrCreateEntityConfigs, 2.3)."""
    path, data = f"/config/{entity}", encode_config(settings)
    try:
        await (_create if new else _set)(operator, path, data)
    except (NodeExists, NoNode):
        await (_set if new else _create)(operator, path, data)
    await announce(operator, entity)


async def _create(operator: Operator, path: str, data: str) -> None:
    await operator.zk.create_parents(path)
    await operator.zk.create(path, data)


async def _set(operator: Operator, path: str, data: str) -> None:
    await operator.zk.set(path, data)


async def announce(operator: Operator, entity: str) -> None:
    """Let the brokers read the settings of ``entity`` again."""
    await operator.zk.create(f"{CONFIG_CHANGES}/config_change_", encode_config_change(entity), sequential=True)


def _without(settings: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    return {name: value for name, value in settings.items() if name not in names}
