"""A broker's settings as clients see them by DescribeConfigs: those that the emulator follows, with the values of the
scenario and its profile, and the defaults of the others that can change."""

from attrs import evolve

from brokers.config_def import DYNAMIC, OF_BROKERS, BrokerConfigEntry, ConfigDefinition, ServerProperties
from emulator.protocol.configs import as_text
from fetchers.quota import RATE_NAMES
from scenarios.language.kafka_settings import BROKER_SETTINGS, DYNAMIC_BROKER_SETTINGS
from scenarios.language.scenario import Scenario
from scenarios.profiles import PROFILES


def server_properties(scenario: Scenario) -> ServerProperties:
    """The settings by Kafka's names. Rates of throttles are not among them: they exist only as dynamic settings."""
    settings, stated, defaults = scenario.settings(), scenario.cluster.config, PROFILES[scenario.profile].defaults
    found = {}
    shown = {"log.message.format.version": scenario.policies.brokers.message_format}
    for name, key in OF_BROKERS.items():
        key = evolve(key, default=shown.get(name, key.default))
        found[name] = BrokerConfigEntry(key, key.default, is_dynamic=name in DYNAMIC)
    for name, setting in BROKER_SETTINGS.items():
        if name in RATE_NAMES:
            continue
        default = as_text(defaults.get(name, setting.default))
        key = evolve(OF_BROKERS.get(name) or ConfigDefinition(name, setting.type, default), default=default)
        value = as_text(settings[name])
        dynamic = name in DYNAMIC or name in DYNAMIC_BROKER_SETTINGS
        found[name] = BrokerConfigEntry(key, value, is_stated=name in stated, is_dynamic=dynamic)
    return dict(sorted(found.items()))
