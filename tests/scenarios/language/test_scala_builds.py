"""``cluster.scala``: the build of the brokers, and so the order of their sets and maps."""

import pytest

from emulator.protocol.scala_order import SCALA_2_12, SCALA_2_12_13, SCALA_2_13, ScalaCollections
from scenarios.cluster.policies import broker_policies, controller_policies
from scenarios.language import Scenario
from tests.scenarios.language.builders import SMALL


@pytest.mark.parametrize(
    ("profile", "stated", "collections"),
    [
        ("kafka-2.3", None, SCALA_2_12),
        ("kafka-2.4", "2.13", SCALA_2_13),
        ("kafka-2.5", None, SCALA_2_12),
        ("kafka-2.6", None, SCALA_2_13),
        ("kafka-2.7", "2.12", SCALA_2_12),
        ("kafka-2.8", "2.12", SCALA_2_12_13),
        ("kafka-3.9", None, SCALA_2_13),
        ("kafka-3.9", "2.12", SCALA_2_12_13),
    ],
)
def test_the_build_is_the_stated_one_or_that_of_the_usual_download(
    profile: str, stated: str | None, collections: ScalaCollections
) -> None:
    changes = {"profile": profile} if stated is None else {"profile": profile, "cluster.scala": f'"{stated}"'}
    scenario = Scenario.loads(SMALL).with_overrides(changes)
    assert controller_policies(scenario).collections is collections
    assert broker_policies(scenario).collections is collections
