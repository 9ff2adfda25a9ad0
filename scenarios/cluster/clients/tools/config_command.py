"""ConfigCommand, kafka-configs --alter (2.3). It writes into ZooKeeper, also where the tool of a release has a broker
write (--bootstrap-server, KIP-226), and refuses what a running broker would refuse."""

from collections.abc import Collection, Iterable, Mapping

from brokers.config_def import ConfigException, valid_topic_config
from brokers.dynamic_broker_config import THREAD_POOLS, DynamicBrokerConfig
from emulator.protocol.errors import ApiException, Errors
from emulator.protocol.znodes import (
    ALL_BROKERS,
    BROKER_IDS,
    CONFIG_CHANGES,
    decode_config,
    encode_config,
    encode_config_change,
    topic_path,
)
from emulator.zookeeper import NodeExists, NoNode
from scenarios.cluster.clients.operator import Operator
from scenarios.cluster.clients.tools.command_outcome import CommandOutcome


async def alter(
    operator: Operator, entities: Iterable[str], settings: Mapping[str, str], removed: Collection[str] = ()
) -> CommandOutcome:
    """--add-config and --delete-config: of each of ``entities`` (``topics/T``, ``brokers/N``, ``brokers/<default>``)
    write ``settings`` over those that are there, and drop ``removed``; then announce the change, which wakes the
    brokers. Refused are values that a setting cannot have, what a running broker does not take, and a topic that there
    is not (AdminZkClient); one whose settings there are is taken for granted, where Kafka asks."""
    refused: list[tuple[str, Errors]] = []
    for entity in entities:
        before = await read(operator, entity)
        kind, _, name = entity.partition("/")
        if before is None and kind == "topics" and await operator.zk.exists(topic_path(name)) is None:
            refused.append((name, Errors.UNKNOWN_TOPIC_OR_PARTITION))
            continue
        if kind == "topics":
            why, code = why_not(settings), Errors.INVALID_CONFIG
        else:
            why, code = await _why_not_broker(operator, entity, before or {}, settings), Errors.INVALID_REQUEST
        if why:
            refused.append((why, code))
            continue
        await write(operator, entity, {**_without(before or {}, removed), **settings}, new=before is None)
    return CommandOutcome(tuple(refused))


def why_not(settings: Mapping[str, str]) -> str:
    """Why a topic cannot have these ``settings``, or ""."""
    try:
        valid_topic_config(settings)
    except (ApiException, ConfigException) as refused:
        return str(refused)
    return ""


async def _why_not_broker(operator: Operator, entity: str, before: Mapping[str, str], added: Mapping[str, str]) -> str:
    """Why a broker, or else all, that has the settings ``before`` cannot have ``added`` beside them, or "". Of a broker
    that is down the number of threads does not matter: there are none."""
    if not added:
        return ""
    per_broker, default = entity != ALL_BROKERS, dict[str, str]()
    if per_broker and any(name in THREAD_POOLS for name in added):
        default = await read(operator, ALL_BROKERS) or {}
        if await operator.zk.exists(f"{BROKER_IDS}/{entity.rpartition('/')[2]}") is None:
            added = {name: value for name, value in added.items() if name not in THREAD_POOLS}
    layers = (default, before) if per_broker else (before, {})
    try:
        DynamicBrokerConfig(operator.server(), *layers).validate({**before, **added}, per_broker=per_broker)
    except ConfigException as refused:
        return str(refused)
    return ""


async def remove(
    operator: Operator, entities: Iterable[str], names: Collection[str], *, by_broker: bool = False
) -> bool:
    """Drop the settings ``names`` where they are set. Returns whether any was. Only what changes is written; a broker
    that is asked to do it writes in any case (AdminManager.incrementalAlterConfigs, 2.6), but of a topic that is
    gone."""
    found = False
    for entity in entities:
        before = await read(operator, entity)
        after = _without(before or {}, names)
        changed = after != (before or {})
        found = found or changed
        if changed or (by_broker and (before is not None or not entity.startswith("topics/"))):
            await write(operator, entity, after, new=before is None)
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
