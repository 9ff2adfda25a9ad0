"""Every outcome and every harm, on runs made up for it; and what the undisturbed move does is no harm."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from scenarios.studies.atlas.outcome import HARMS, OUTCOMES, CellFinding, judge, own_harms
from scenarios.studies.atlas.plans import DEFAULT
from scenarios.studies.atlas.run_summary import RunSummary

GOOD = RunSummary(
    assignment=(1, 3, 4),
    leader=1,
    isr=(3, 4, 1),
    replicas=(1, 3, 4),
    passed={"wiki.1": 1, "wiki.2": 1},
    healed_us=8_000_000,
    end_us=12_000_000,
)
SECOND = 1_000_000


def found(undisturbed: RunSummary = GOOD, **changes: Any) -> CellFinding:
    return judge(evolve(GOOD, **changes), DEFAULT, undisturbed)


def test_a_good_end_is_finished() -> None:
    assert (found().outcome, found().why, found().harms) == ("finished", "", {})


INJECTED: dict[str, dict[str, Any]] = {
    "leaderless": {"offline_us": 2 * SECOND},
    "leader-outside-assignment": {"leader": 0, "isr": (0, 1, 3, 4)},
    "isr-outside-assignment": {"isr": (0, 1, 3, 4)},
    "under-min-isr": {"under_min_isr_us": 2 * SECOND},
    "acks-1-loss": {"lost_one": 3},
    "stray": {"replicas": (0, 1, 3, 4)},
    "wrong-order": {"assignment": (3, 1, 4)},
    "other-invariant": {"other_violations": ("isr_in_assignment: broker 9",)},
    "steps-rerun": {"passed": {"wiki.1": 2, "wiki.2": 1}},
}


def test_every_harm_is_injected() -> None:
    assert list(INJECTED) == list(HARMS)


@pytest.mark.parametrize("harm", HARMS)
def test_each_harm_is_named(harm: str) -> None:
    finding = found(**INJECTED[harm])
    assert finding.outcome == "harmed"
    assert harm in finding.harms
    assert finding.why


def test_the_worst_harm_comes_first() -> None:
    finding = found(**{**INJECTED["steps-rerun"], **INJECTED["stray"], **INJECTED["leaderless"]})
    assert list(finding.harms) == ["leaderless", "stray", "steps-rerun"]


@pytest.mark.parametrize("field", ["offline_us", "under_min_isr_us"])
def test_a_short_outage_is_no_harm(field: str) -> None:
    changes: dict[str, Any] = {field: 90_000}
    assert found(**changes).outcome == "finished"


def test_a_batch_that_fell_between_two_requests_is_no_harm() -> None:
    assert found(lost_one=1).outcome == "finished"
    assert found(evolve(GOOD, lost_one=2), lost_one=3).outcome == "finished"
    lost = found(evolve(GOOD, lost_one=2), lost_one=4)
    assert lost.harms == {"acks-1-loss": "2 batches acknowledged with acks=1 lost"}


@pytest.mark.parametrize("harm", ["leaderless", "under-min-isr", "acks-1-loss", "steps-rerun"])
def test_what_the_undisturbed_move_does_too_is_no_harm(harm: str) -> None:
    same = evolve(GOOD, **INJECTED[harm])
    assert judge(same, DEFAULT, same).outcome == "finished"
    if harm != "steps-rerun":
        assert harm in own_harms(same, DEFAULT)


def test_a_membership_that_the_protocol_goes_through_is_a_harm_where_it_stays() -> None:
    through = evolve(GOOD, leader_outside_us=5_000, isr_outside_us=5_000)
    assert found(through, leader_outside_us=9 * SECOND, isr_outside_us=9 * SECOND).outcome == "finished"
    assert "leader-outside-assignment" in found(through, leader=0).harms
    other = found(leader_outside_us=9 * SECOND)
    assert other.harms == {"leader-outside-assignment": "the leader was outside the assignment for 9.0 s"}


def test_what_a_waiting_move_brings_is_not_left_behind() -> None:
    """KAFKA-42 assigns last: until then its new replicas are outside the assignment."""
    waiting = found(
        open=True, waiting="kafka-42.3", assignment=(0, 1, 2), replicas=(0, 1, 2, 4), isr=(0, 1, 2, 4), leader=0
    )
    assert waiting.outcome == "stuck"
    assert not waiting.harms


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"open": True, "waiting": "wiki.4", "isr": (1, 3)}, "the move waits at wiki.4: ISR [1,3] lacks 4"),
        ({"assignment": (0, 1, 2)}, "the move was given up: the assignment is [0,1,2] instead of [1,3,4]"),
        ({"leader": -1, "isr": (1,)}, "no leader, ISR [1]"),
        (
            {"isr": (1, 3), "failed": {4: "a disk"}},
            "the assignment is [1,3,4], and ISR [1,3] lacks 4 (its fetcher gave the partition up: a disk)",
        ),
        (
            {"behind": "the ISR's 3 (at 935) does not follow leader 1 (at 1300)"},
            "the assignment is [1,3,4], and the ISR's 3 (at 935) does not follow leader 1 (at 1300)",
        ),
        ({"isr": (1, 3), "fetching": {4: (0, 7)}}, "it fetches from 0, which is not the leader"),
    ],
)
def test_stuck_says_what_is_waited_for(changes: dict[str, Any], why: str) -> None:
    finding = found(**changes)
    assert finding.outcome == "stuck"
    assert why in finding.stuck


@pytest.mark.parametrize(
    "changes",
    [
        {"violations": ("one_leader_per_epoch: two", "one_leader_per_epoch: three")},
        {"lost_all": 1},
        {"divergence": "committed records differ on 1 and its leader 3, from offset 7 on"},
    ],
)
def test_unsafe_comes_before_everything(changes: dict[str, Any]) -> None:
    finding = found(**changes, open=True, lost_one=4)
    assert finding.outcome == "unsafe"
    assert finding.why.startswith(finding.unsafe)


def test_outcomes_are_ordered_from_the_best() -> None:
    assert list(OUTCOMES) == ["finished", "harmed", "stuck", "unsafe"]
