"""A broker's settings as clients see them by DescribeConfigs: those that the emulator follows, with the values of the
scenario and its profile, and the defaults of those that topics have beside them."""

from attrs import evolve

from brokers.config_def import DYNAMIC, TOPIC_CONFIGS, ConfigDefinition, ServerProperties, ServerProperty
from emulator.protocol.describe_configs import ConfigType
from fetchers.quota import RATE_NAMES
from scenarios.language.configs import BROKER_SETTINGS, DYNAMIC_BROKER_SETTINGS, Setting
from scenarios.language.scenario import Scenario


def server_properties(scenario: Scenario) -> ServerProperties:
    """By Kafka's names. The rates of throttles are none: they exist only as dynamic settings."""
    of_topics = {key.broker_name: key for key in TOPIC_CONFIGS.values() if key.broker_name}
    settings, stated = scenario.settings(), scenario.cluster.config
    found = {}
    shown = {"log.message.format.version": scenario.policies.brokers.message_format}
    for name, key in of_topics.items():
        key = evolve(key, default=shown.get(name, key.default))
        found[name] = ServerProperty(key, key.default, is_dynamic=name in DYNAMIC)
    for name, setting in BROKER_SETTINGS.items():
        if name in RATE_NAMES:
            continue
        default = _text(setting.default)
        key = of_topics.get(name) or ConfigDefinition(name, _type(setting), default)
        value = _text(settings[name])
        # A release's own default is the default; what the scenario states stands in server.properties.
        if name not in stated:
            key = ConfigDefinition(name, key.type, value, at_least=key.at_least, choices=key.choices)
        dynamic = name in DYNAMIC or name in DYNAMIC_BROKER_SETTINGS
        found[name] = ServerProperty(key, value, is_stated=name in stated, is_dynamic=dynamic)
    return dict(sorted(found.items()))


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _type(setting: Setting) -> ConfigType:
    if isinstance(setting.default, bool):
        return ConfigType.BOOLEAN
    if isinstance(setting.default, str):
        return ConfigType.STRING
    return ConfigType.LONG if setting.name.endswith((".ms", ".bytes", ".messages")) else ConfigType.INT
