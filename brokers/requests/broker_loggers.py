"""The loggers of a broker and their levels (KIP-412, 2.4). A broker that is started again has those of its file."""

from collections.abc import Iterable

from attrs import define

from emulator.protocol.alter_configs import AlterConfigOp, OpType
from emulator.protocol.configs import ConfigType
from emulator.protocol.describe_configs import ConfigEntry, ConfigSource, Resource
from emulator.protocol.errors import ApiException, Errors

ROOT = "root"
LEVELS = ("TRACE", "ERROR", "INFO", "FATAL", "DEBUG", "WARN")
"""Kafka's levels, in the order of its messages (LogLevelConfig.VALID_LOG_LEVELS, a HashSet)."""


@define(eq=False)
class BrokerLoggers:
    """The loggers that log4j.properties names; each class of Kafka has one more.

    Attributes:
        levels: the level of each; None: that of the root (Log4jController, 2.4).
    """

    levels: dict[str, str | None]

    def entries(self) -> list[ConfigEntry]:
        """The loggers as settings."""
        root = self.levels[ROOT]
        return [
            ConfigEntry(name, level or root, ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG, ConfigType.UNKNOWN, False)
            for name, level in sorted(self.levels.items())
        ]

    def check(self, resource: Resource, ops: Iterable[AlterConfigOp], *, by_3_2: bool) -> None:
        """Refuse changes that are none of levels (AdminManager.validateLogLevelConfigs, 2.4; ``by_3_2``:
        ConfigAdminManager, 3.2). Raises: ApiException."""
        of_value = "" if by_3_2 else f"Invalid config value for resource {resource}: "
        code = Errors.INVALID_CONFIG if by_3_2 else Errors.INVALID_REQUEST
        for op in ops:
            if op.op not in OpType.__members__.values():
                more = f" type {op.op} is not allowed for the BROKER_LOGGER resource" if by_3_2 else f": {op.op}"
                raise _invalid(f"Unknown operation{more}")
            if op.op not in (OpType.SET, OpType.DELETE):
                raise _invalid(f"{OpType(op.op).name} operation is not allowed for the BROKER_LOGGER resource")
            if op.name not in self.levels:
                raise ApiException(code, f"{of_value}Logger {op.name} does not exist!")
            if op.op == OpType.DELETE and op.name == ROOT:
                raise _invalid(f"Removing the log level of the {ROOT} logger is not allowed")
            if op.op == OpType.SET and op.value not in LEVELS:
                levels = ", ".join(LEVELS)
                why = f"Cannot set the log level of {op.name} to {op.value} as it is not a supported log level"
                raise ApiException(code, f"{of_value}{why}. Valid log levels are {levels}")

    def change(self, ops: Iterable[AlterConfigOp]) -> None:
        """Make changes that were checked."""
        for op in ops:
            self.levels[op.name] = op.value if op.op == OpType.SET else None


def _invalid(what: str) -> ApiException:
    return ApiException(Errors.INVALID_REQUEST, what)
