"""Bytes that reach a gateway from a broken client."""

import struct
from collections.abc import Sequence

from hypothesis import strategies as st


@st.composite
def damaged(draw: st.DrawFn, frames: Sequence[bytes], first: Sequence[bytes] = ()) -> bytes:
    """``first`` and a few of ``frames``, some bytes of which were changed, removed or repeated."""
    sent = [*first, *draw(st.lists(st.sampled_from(frames), min_size=1, max_size=4))]
    data = bytearray(b"".join(struct.pack(">i", len(frame)) + frame for frame in sent))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data) - 1))
        data[at : at + draw(st.integers(0, 3))] = draw(st.binary(max_size=4))
        data += b"\0"
    return bytes(data)
