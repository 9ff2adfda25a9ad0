"""What a protocol says of itself is what scenario files are checked against."""

import pytest

from controller.reassignment.kafka_42 import Kafka42
from controller.reassignment.kafka_6794 import Kafka6794
from controller.reassignment.kip_455 import Kip455
from controller.reassignment.policy import ReassignmentProtocol
from controller.reassignment.wiki import Wiki
from scenarios.language.phases import PHASE_STEPS
from scenarios.language.steps import PROTOCOLS


@pytest.mark.parametrize("protocol", [Wiki(), Kafka6794(), Kafka42(), Kip455()], ids=lambda p: p.name)
def test_steps_and_phases(protocol: ReassignmentProtocol) -> None:
    assert protocol.steps == tuple(PROTOCOLS[protocol.name].steps)
    spans = {phase: (span.first, span.last) for phase, span in PHASE_STEPS[protocol.name].items()}
    assert dict(protocol.phases) == spans
