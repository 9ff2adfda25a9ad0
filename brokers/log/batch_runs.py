"""The batches of a log that has extents: a sequence of batches like the list that other logs have, kept as runs.

Places count batches, whether they are objects or not. So what a log says of itself (what is flushed, where a segment
begins, what a recovery removes) does not depend on how its batches are kept.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, overload

from emulator.protocol.extents import ExtentPart
from emulator.protocol.types import Batch

Run = list[Batch] | ExtentPart
Piece = Batch | ExtentPart
"""One batch, or several of one extent."""


def _next_offset(batch: Batch) -> int:
    return batch.next_offset


def _end_of(run: Run) -> int:
    return run.next_offset if isinstance(run, ExtentPart) else run[-1].next_offset


def _length(run: Run) -> int:
    return run.count if isinstance(run, ExtentPart) else len(run)


class BatchRuns(Sequence[Batch]):
    """Batches in the order of their offsets, without gaps.

    Attributes:
        append: appends one batch that is an object: the method of the last run, so that it costs what it costs in a
            list.
    """

    __slots__ = ("_runs", "_starts", "_tail", "_tail_start", "append")

    append: Callable[[Batch], None]

    def __init__(self, batches: Iterable[Batch] = ()) -> None:
        self._runs: list[Run] = []
        """All runs but the last; none is empty."""
        self._starts: list[int] = []
        """The place of the first batch of each."""
        self._begin_tail(list(batches), 0)

    def _begin_tail(self, tail: list[Batch], start: int) -> None:
        self._tail, self._tail_start, self.append = tail, start, tail.append

    def append_part(self, part: ExtentPart) -> None:
        """Append the batches of ``part``. One that goes on where the last run ends, in the same extent, becomes one
        with it."""
        if self._tail:
            self._runs.append(self._tail)
            self._starts.append(self._tail_start)
            self._begin_tail([], self._tail_start + len(self._tail))
        last = self._runs[-1] if self._runs else None
        if isinstance(last, ExtentPart) and last.extent is part.extent and last.end == part.begin:
            self._runs[-1] = ExtentPart(part.extent, last.begin, part.end)
        else:
            self._runs.append(part)
            self._starts.append(self._tail_start)
        self._tail_start += part.count

    # -- a sequence of batches ----------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._tail_start + len(self._tail)

    def __iter__(self) -> Iterator[Batch]:
        for run in (*self._runs, self._tail):
            yield from run.batches() if isinstance(run, ExtentPart) else run

    @overload
    def __getitem__(self, place: int) -> Batch: ...
    @overload
    def __getitem__(self, place: slice) -> list[Batch]: ...
    def __getitem__(self, place: int | slice) -> Batch | list[Batch]:
        if isinstance(place, slice):
            begin, end, _step = place.indices(len(self))
            return [batch for each in self.pieces(begin, end) for batch in in_objects(each)]
        if place < 0:
            place += len(self)
            if place < 0:
                raise IndexError(place)
        if place >= self._tail_start:
            return self._tail[place - self._tail_start]
        at = bisect_right(self._starts, place) - 1
        run, within = self._runs[at], place - self._starts[at]
        return run.batch(within) if isinstance(run, ExtentPart) else run[within]

    def __setitem__(self, place: int | slice, value: Any) -> None:
        """Replace one batch, or all from a place on, as the methods of ``emulator.disks.File`` do."""
        if isinstance(place, slice):
            begin, end, _step = place.indices(len(self))
        else:
            begin = place % len(self)
            end = begin + 1
        after = list(self.pieces(end, len(self)))
        del self[begin:]
        self._extend([*(value if isinstance(place, slice) else (value,)), *after])

    def __delitem__(self, places: slice) -> None:
        """Remove the batches at these places."""
        begin, end, _step = places.indices(len(self))
        if begin >= end:
            return
        if end == len(self) and begin >= self._tail_start:
            del self._tail[begin - self._tail_start :]
            return
        kept = [*self.pieces(0, begin), *self.pieces(end, len(self))]
        self._runs, self._starts = [], []
        self._begin_tail([], 0)
        self._extend(kept)

    def _extend(self, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            if isinstance(piece, ExtentPart):
                self.append_part(piece)
            else:
                self.append(piece)

    # -- what need not look at each batch -----------------------------------------------------------------------------

    def pieces(self, begin: int, end: int) -> Iterator[Piece]:
        """The batches at the places ``[begin, end)``: objects, and parts of extents."""
        at = max(0, bisect_right(self._starts, begin) - 1)
        for start, run in zip((*self._starts[at:], self._tail_start), (*self._runs[at:], self._tail), strict=True):
            first, last = max(begin - start, 0), min(end - start, _length(run))
            if first < last:
                if isinstance(run, ExtentPart):
                    yield run.between(first, last)
                else:
                    for place in range(first, last):
                        yield run[place]

    def ended(self, offset: int) -> int:
        """The number of batches that end at or before ``offset``."""
        at = bisect_right(self._runs, offset, key=_end_of)
        if at == len(self._runs):
            return self._tail_start + bisect_right(self._tail, offset, key=_next_offset)
        run = self._runs[at]
        within = run.ended(offset) if isinstance(run, ExtentPart) else bisect_right(run, offset, key=_next_offset)
        return self._starts[at] + within

    def read(self, offset: int, max_bytes: int) -> tuple[Batch, ...]:
        """The batches as ``Log.read`` returns them."""
        found: list[Batch] = []
        left = max_bytes
        for piece in self.pieces(self.ended(offset), len(self)):
            if not isinstance(piece, ExtentPart):
                if piece.size > left < max_bytes:
                    break
                found.append(piece)
                left -= piece.size
                continue
            fitting = min(max(left // piece.extent.batch_size, 0 if left < max_bytes else 1), piece.count)
            if fitting > 0:
                found += piece.between(0, fitting).batches()
                left -= fitting * piece.extent.batch_size
            if fitting < piece.count:
                break
        return tuple(found)


# -- the same of the lists of other logs ------------------------------------------------------------------------------


def pieces(batches: Sequence[Batch], begin: int, end: int) -> Iterator[Piece]:
    """The batches at the places ``[begin, end)``, those of extents together."""
    if type(batches) is BatchRuns:  # ``isinstance`` with an abstract class is slow
        return batches.pieces(begin, end)
    return iter(batches if end - begin == len(batches) else batches[begin:end])


def all_pieces(batches: Sequence[Batch]) -> Iterator[Piece]:
    return pieces(batches, 0, len(batches))


def in_objects(piece: Piece) -> Sequence[Batch]:
    """The batches of ``piece``."""
    return piece.batches() if isinstance(piece, ExtentPart) else (piece,)


def newest_us(piece: Piece) -> int:
    """The time of the latest record of ``piece``."""
    return piece.newest_us if isinstance(piece, ExtentPart) else piece.timestamp_us


def ended(batches: Sequence[Batch], offset: int) -> int:
    """The number of batches that end at or before ``offset``."""
    if type(batches) is BatchRuns:
        return batches.ended(offset)
    return bisect_right(batches, offset, key=_next_offset)
