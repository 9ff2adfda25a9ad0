"""The fidelity benchmark, scaled down: a second or two of protocol weighs more then."""

import pytest

from benchmarks.fidelity.__main__ import CASES, Case, arithmetic_s


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.partitions))
def test_a_replica_catches_up_at_what_its_card_leaves_beside_the_writes(case: Case) -> None:
    took_s = case.took_s(500)
    assert 0.95 * arithmetic_s(500) <= took_s <= 1.07 * arithmetic_s(500) + 2
