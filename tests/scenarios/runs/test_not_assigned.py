"""A follower that its leader does not know yet, since the LeaderAndIsr that names it is late. Releases before KIP-320
check no leader epoch in fetches: such a follower may fetch, and what it says of itself does not count."""

import pytest

from emulator.protocol.events import BecameLeader, FetchPosition
from tests.scenarios.runs.building import EXECUTE, Table, play, scenario

CUT: Table = {"at": "1900ms", "action": "link.cut", "target": 3, "peer": 0}
"""The controller does not reach broker 0, which leads, until after the move to broker 2 has begun."""


@pytest.mark.parametrize("profile", ["kafka-1.1", "kafka-2.3"])
@pytest.mark.parametrize("duration", ["300ms", "1s"])
def test_it_joins_the_isr_also_where_there_is_nothing_to_fetch(profile: str, duration: str) -> None:
    """It has named the partition in its session and does not name it again: nothing has changed for it (KIP-227). Its
    first fetch waits for half a second."""
    cut = {**CUT, "duration": duration}
    played = play(
        scenario(
            brokers=4, controller=3, assignment=[[0, 1]], plan={0: (0, 1, 2)}, method=[cut, EXECUTE], profile=profile,
            size="0B", rate=0, horizon="1m",
        )
    )  # fmt: skip
    first = next(event for event in played.of(FetchPosition) if event.node == 2)
    assert first.t_us < next(event.t_us for event in played.of(BecameLeader) if event.leader_epoch == 1)
    assert played.run.passed, played.run.explanation
    assert played.state().isr == (0, 1, 2)
