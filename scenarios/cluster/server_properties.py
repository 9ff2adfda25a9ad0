"""A broker's settings as clients see them by DescribeConfigs: those that the emulator follows, with the values of the
scenario and its profile, and the defaults of the others that can change."""

from attrs import evolve

from brokers.config_def import DYNAMIC, OF_BROKERS, BrokerConfigEntry, ConfigDefinition, ServerProperties
from emulator.protocol.configs import as_text
from fetchers.quota import RATE_NAMES
from scenarios.language.kafka_settings import BROKER_SETTINGS, DYNAMIC_BROKER_SETTINGS
from scenarios.language.scenario import Scenario


def server_properties(scenario: Scenario) -> ServerProperties:
    """The settings by Kafka's names. Rates of throttles are not among them: they exist only as dynamic settings."""
    settings, stated = scenario.settings(), scenario.cluster.config
    found = {}
    shown = {"log.message.format.version": scenario.policies.brokers.message_format}
    for name, key in OF_BROKERS.items():
        key = evolve(key, default=shown.get(name, key.default))
        found[name] = BrokerConfigEntry(key, key.default, is_dynamic=name in DYNAMIC)
    for name, setting in BROKER_SETTINGS.items():
        if name in RATE_NAMES:
            continue
        default = as_text(setting.default)
        key = OF_BROKERS.get(name) or ConfigDefinition(name, setting.type, default)
        value = as_text(settings[name])
        # A release's own default is the default; values that the scenario states are in server.properties.
        if name not in stated:
            key = ConfigDefinition(name, key.type, value, at_least=key.at_least, choices=key.choices)
        dynamic = name in DYNAMIC or name in DYNAMIC_BROKER_SETTINGS
        found[name] = BrokerConfigEntry(key, value, is_stated=name in stated, is_dynamic=dynamic)
    return dict(sorted(found.items()))
