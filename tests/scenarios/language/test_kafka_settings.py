"""A setting that is declared at one place outside the project is known to the file, its schema and every profile."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from attrs import frozen

from emulator.protocol.configs import config, with_settings
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language import kafka_settings as language
from tests.scenarios.language.builders import SMALL, small_with


@frozen
class PatienceConfig:
    patience_us: int = config(
        "broker.patience.ms", 250, "how long a broker waits before it complains", at_least=0, dynamic=True
    )


@pytest.fixture
def declared() -> Iterator[None]:
    language.declare(PatienceConfig)
    yield
    for table in (language.BROKER_SETTINGS, language.DYNAMIC_BROKER_SETTINGS):
        del table["broker.patience.ms"]


STATED = small_with("brokers = 7\n", 'brokers = 7\nconfig = { "broker.patience.ms" = 40 }\n')


@pytest.mark.usefixtures("declared")
def test_a_setting_declared_elsewhere_has_its_default_in_every_scenario() -> None:
    settings = Scenario.loads(SMALL).settings()
    assert settings["broker.patience.ms"] == 250
    assert with_settings(PatienceConfig(), settings).patience_us == 250_000


@pytest.mark.usefixtures("declared")
def test_a_file_can_state_it() -> None:
    found = Scenario.loads(STATED)
    assert with_settings(PatienceConfig(), found.settings()).patience_us == 40_000
    with pytest.raises(BadInput, match="integer from 0"):
        found.with_overrides({"cluster.config.broker.patience.ms": -1})


@pytest.mark.usefixtures("declared")
def test_the_schema_and_the_changes_at_run_time_know_it() -> None:
    assert language.BROKER_CONFIG.schema()["properties"]["broker.patience.ms"]["default"] == 250
    assert "broker.patience.ms" in language.DYNAMIC_BROKER_SETTINGS


def test_without_its_declaration_it_is_refused() -> None:
    with pytest.raises(BadInput, match=r"broker\.patience\.ms"):
        Scenario.loads(STATED)
