"""The fluid model that the predictions of E4 to E6 come from: data flows, there are no messages and no protocol.

A leader's NIC is shared: followers in sync get what is written, the rest is shared evenly by those that catch up,
none of which takes more than its own NIC lets in (max-min). The log grows by what is written while they do.
"""

import math
from collections.abc import Sequence

from attrs import frozen


@frozen
class Hop:
    """Replicas that are added together: each one's seconds until it has caught up, in the order of arrival."""

    times: tuple[float, ...]

    @property
    def lasts(self) -> float:
        return self.times[-1]

    @property
    def excess(self) -> float:
        """Replica-seconds that those which are in sync wait for the last."""
        return sum(self.lasts - time for time in self.times)


def shares(left: float, ingress: Sequence[float]) -> list[float]:
    """``left`` shared by receivers that take at most ``ingress`` each, in ascending order."""
    rates = []
    for place, most in enumerate(ingress):
        rate = min(most, left / (len(ingress) - place))
        rates.append(rate)
        left -= rate
    return rates


def hop(size: float, write: float, egress: float, in_sync: int, ingress: Sequence[float]) -> Hop:
    """Replicas with NICs of ``ingress`` (ascending or not) are added beside ``in_sync`` followers.

    Sizes are in MB, rates in MB/s; a time is infinite where the NIC cannot carry it.
    """
    missing = [(most, size) for most in sorted(ingress)]
    now = 0.0
    times: list[float] = []
    while missing:
        left = max(0.0, egress - (in_sync + len(times)) * write)
        gains = [rate - write for rate in shares(left, [most for most, _ in missing])]
        ends = [gap / gain if gain > 0 else math.inf for (_, gap), gain in zip(missing, gains, strict=True)]
        step = min(ends)
        if step == math.inf:
            return Hop((*times, *[math.inf] * len(missing)))
        now += step
        times += [now for end in ends if end <= step * (1 + 1e-9)]
        missing = [
            (most, gap - gain * step)
            for (most, gap), gain, end in zip(missing, gains, ends, strict=True)
            if end > step * (1 + 1e-9)
        ]
    return Hop(tuple(times))


def hops(
    size: float, write: float, egress: float, replicas: int, ingress: Sequence[float], width: int
) -> tuple[Hop, ...]:
    """A move of all ``replicas`` to others, ``width`` at a time, the leader last."""
    done: list[Hop] = []
    for first in range(0, replicas, width):
        grown = size + write * sum(hop.lasts for hop in done)
        done.append(hop(grown, write, egress, replicas - 1, ingress[first : first + width]))
    return tuple(done)
