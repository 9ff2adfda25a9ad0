"""A sequence of batches kept as runs, against a list of the same batches."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from brokers.log.batch_runs import BatchRuns, all_pieces, ended, in_objects
from emulator.protocol.extents import Extent
from emulator.protocol.types import Batch

PLACE = st.integers(0, 30)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 3)),
        st.tuples(st.just("extent"), st.integers(1, 9)),
        st.tuples(st.sampled_from(("drop", "truncate", "damage", "lose")), PLACE),
    )
)


def shape(batch: Batch) -> tuple[int, ...]:
    return batch.base_offset, batch.next_offset, batch.size, batch.id


@given(STEPS)
def test_against_a_list(steps: list[tuple[str, int]]) -> None:
    runs, batches, end = BatchRuns(), list[Any](), 0
    both = (runs, batches)
    for number, (step, much) in enumerate(steps):
        if step == "append":
            batch = Batch(end, end + much, 0, 10 * much, 1000 * number)
            for each in both:
                each.append(batch)
        elif step == "extent":
            extent = Extent(end, much, 2, 10, 0, 1000 * number)
            cut = much // 2
            for part in (extent.whole.between(0, cut), extent.whole.between(cut, much)):
                if part.count:
                    runs.append_part(part)
            batches += extent.whole.batches()
        for each in both if step == "drop" else ():
            del each[:much]
        for each in both if step == "truncate" else ():
            del each[much:]
        if step == "damage" and batches:
            place = much % len(batches) - (len(batches) if much % 2 else 0)
            old = batches[place]
            for each in both:
                each[place] = Batch(old.base_offset, old.next_offset, 0, old.size, -7)
        if step == "lose" and much < len(batches):
            for each in both:
                each[much:] = batches[much : much + 1]
        end = batches[-1].next_offset if batches else end
        expected = [shape(batch) for batch in batches]
        assert [shape(batch) for batch in runs] == expected
        assert [shape(batch) for piece in all_pieces(runs) for batch in in_objects(piece)] == expected
        assert (len(runs), bool(runs)) == (len(batches), bool(batches))
        assert [shape(runs[place]) for place in range(-len(batches), len(batches))] == 2 * expected
        assert [shape(batch) for batch in runs[1:7]] == expected[1:7]
        offsets = range(batches[0].base_offset if batches else 0, end + 2)
        assert [ended(runs, offset) for offset in offsets] == [ended(batches, offset) for offset in offsets]
