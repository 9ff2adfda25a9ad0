"""The examples of the two documents on real brokers under load: what ZooKeeper holds, step by step.

The golden files have one line for each edge of each step and one for each write in between. Sources: the controller
page, KAFKA-6794, readings §2 and §4.
"""

from collections.abc import Sequence

import pytest

from emulator.protocol.events import Appended
from scenarios import profiles as releases
from tests.golden import check_golden
from tests.scenarios.cluster.contents import Contents, Row
from tests.scenarios.runs.building import EXECUTE, TP, Played, play, scenario

PROFILES = ("kafka-2.3", "wiki-text")
OLD, WIDE, NEW = (1, 2, 3), (1, 2, 3, 4, 5, 6), (4, 5, 6)
PAGE = [Row(OLD, 1, OLD), Row(WIDE, 1, WIDE), Row(WIDE, 4, WIDE), Row(WIDE, 4, NEW), Row(NEW, 4, NEW)]
"""The page's table. Its "step 2" is the beginning of the wait: the ISR grows in step 4 (readings §4)."""


def move(old: Sequence[int], new: Sequence[int], controller: int, strategy: str, profile: str) -> Played:
    """A move of a partition of 1 MiB under acks=all, done to its end."""
    wanted = scenario(
        brokers=7, controller=controller, assignment=[old], plan={0: new}, method=[EXECUTE], size="1MiB",
        strategy=strategy, profile=profile, config={"min.insync.replicas": 2},
        expect=[{"within": "1m", "assignment": {"orders-0": list(new)}}],
    )  # fmt: skip
    played = play(wanted)
    played.run.assert_expectations()
    assert len(played.of(Appended, lambda event: event.leader)) > 10, "the move has to happen under load"
    return played


@pytest.mark.parametrize("profile", PROFILES)
def test_the_pages_table(profile: str) -> None:
    played = move(OLD, NEW, controller=0, strategy="wiki", profile=profile)
    contents = Contents(played.events, TP)
    assert sorted(played.state().isr) == list(NEW), "followers that did not receive a new epoch go on"
    wide = releases.PROFILES[profile].policies.wiki.widened(OLD, NEW)
    page = [row._replace(assignment=wide if row.assignment == WIDE else row.assignment) for row in PAGE]
    assert_in_order(page, contents.rows)
    assert played.admin is None
    check_golden(f"wiki-{profile}-123-to-456", contents.text())


@pytest.mark.parametrize("profile", PROFILES)
def test_the_tickets_hops(profile: str) -> None:
    """KAFKA-6794's five assignments; broker 0 leads until the last hop."""
    played = move((0, 1, 2), (3, 4, 5), controller=6, strategy="kafka-6794", profile=profile)
    contents = Contents(played.events, TP)
    assignments = list(dict.fromkeys(row.assignment for row in contents.rows))
    assert assignments == [(0, 1, 2), (0, 1, 2, 3), (0, 2, 3, 4), (0, 3, 4, 5), (3, 4, 5)]
    assert {row.leader for row in contents.rows if row.assignment != (3, 4, 5)} == {0}
    assert_in_order([Row((3, 4, 5), 3, (3, 4, 5))], contents.rows[-1:])
    check_golden(f"kafka-6794-{profile}-012-to-345", contents.text())


def test_a_missing_row_would_be_noticed() -> None:
    rows = [PAGE[0], PAGE[1], PAGE[3], PAGE[4]]
    with pytest.raises(AssertionError, match=r"4/\{1,2,3,4,5,6\}"):
        assert_in_order(PAGE, rows)


def assert_in_order(wanted: Sequence[Row], among: Sequence[Row]) -> None:
    """``wanted`` are among the states, in this order. An ISR is a set: its order does not matter."""
    rest = (row._replace(isr=tuple(sorted(row.isr))) for row in among)
    for row in wanted:
        assert row in rest, f"never, or too early: {row}"
