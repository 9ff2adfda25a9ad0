"""Lost packets, as TCP handles them: what was lost is sent again, and what was sent after it waits.

A message is a number of packets. In a long message a lost packet is noticed when those after it arrive, and costs a
round trip (fast retransmit, RFC 5681). The last packets of a message have none after them: these are sent again after
the retransmission time-out, 200 ms on Linux (TCP_RTO_MIN), and twice as long each time that they are lost again. After
15 times TCP gives the connection up (tcp_retries2).
"""

from bisect import bisect_right
from math import sqrt

from attrs import define, field, frozen

from emulator.streams import Stream

PACKET_BYTES = 1_448
"""The bytes of a message in one packet: an Ethernet frame without the headers of IP and TCP."""
FIRST_RETRY_US, LAST_RETRY_US, RETRIES = 200_000, 120_000_000, 15
"""The time-outs and the number of retries of Linux: TCP_RTO_MIN, TCP_RTO_MAX, tcp_retries2."""
FIRST_SYN_RETRY_US, SYN_RETRIES = 1_000_000, 6
"""The first time-out and the number of retries of a handshake: RFC 6298, tcp_syn_retries."""
FEW_PACKETS = 3
"""The number of later packets that it takes to notice a lost one by duplicate acknowledgements."""
_DRAWS = 1 << 53


@frozen
class Burst:
    """Times in which a link loses more packets.

    Attributes:
        rate: the share of the packets that is lost in them.
        every_us, lasts_us: the least and the most time between two bursts, and the least and the most length of one.
    """

    rate: float
    every_us: tuple[int, int]
    lasts_us: tuple[int, int]


@frozen
class Loss:
    """The losses of a link.

    Attributes:
        rate: the share of its packets that is lost, each by itself.
    """

    rate: float = 0.0
    burst: Burst | None = None

    def bytes_per_s(self, round_trip_us: int) -> int | None:
        """The most that one connection carries, since TCP slows down at each loss: 1.22 packets / (round trip
        sqrt(rate)) (Mathis et al., The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm, 1997). None: no
        limit."""
        if not self.rate:
            return None
        return max(PACKET_BYTES, int(PACKET_BYTES * 1.22 * 1_000_000 / (max(round_trip_us, 1) * sqrt(self.rate))))


@define(eq=False)
class Losses:
    """The losses of one route.

    Attributes:
        draws: the stream that decides which packets are lost; ``bursts``: the stream of the times of the bursts.
        since_us: the time when the route began to lose packets.
    """

    loss: Loss
    draws: Stream
    bursts: Stream
    since_us: int
    _turns: list[int] = field(factory=list)
    """When the bursts begin and end, in order."""

    def of_message(self, now_us: int, size: int, round_trip_us: int) -> int | None:
        """The delay that losses add to a message that is sent now, in microseconds; None: it never arrives, since the
        connection is given up."""
        packets = -(-size // PACKET_BYTES)
        late_us = 0
        if packets > FEW_PACKETS and self._one_lost(now_us, packets - 1):
            late_us = round_trip_us
        again_us = self._last_packet(now_us, max(FIRST_RETRY_US, round_trip_us), RETRIES)
        return None if again_us is None else late_us + again_us

    def of_handshake(self, now_us: int) -> int | None:
        """The delay that losses add to the first packet of a connection; None: the connection fails."""
        return self._last_packet(now_us, FIRST_SYN_RETRY_US, SYN_RETRIES)

    def _one_lost(self, now_us: int, packets: int) -> bool:
        none_lost = (1.0 - self._rate(now_us)) ** packets
        return self.draws.below(_DRAWS) >= none_lost * _DRAWS

    def _last_packet(self, now_us: int, retry_us: int, retries: int) -> int | None:
        late_us = 0
        for _ in range(retries + 1):
            if self.draws.below(_DRAWS) >= self._rate(now_us + late_us) * _DRAWS:
                return late_us
            late_us += retry_us
            retry_us = min(2 * retry_us, LAST_RETRY_US)
        return None

    def given_up_after_us(self, round_trip_us: int) -> int:
        """The time after which TCP gives a connection up, in microseconds."""
        retry_us, sum_us = max(FIRST_RETRY_US, round_trip_us), 0
        for _ in range(RETRIES + 1):
            sum_us += retry_us
            retry_us = min(2 * retry_us, LAST_RETRY_US)
        return sum_us

    def _rate(self, t_us: int) -> float:
        burst = self.loss.burst
        if burst is None:
            return self.loss.rate
        turns = self._turns
        if not turns:
            turns.append(self.since_us + _between(burst.every_us, self.bursts))
        while turns[-1] <= t_us:
            turns.append(turns[-1] + _between(burst.lasts_us if len(turns) % 2 else burst.every_us, self.bursts))
        return burst.rate if bisect_right(turns, t_us) % 2 else self.loss.rate


def _between(ends: tuple[int, int], draws: Stream) -> int:
    return ends[0] + draws.below(ends[1] - ends[0] + 1)
