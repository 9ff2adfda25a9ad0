"""Packets that are lost, as TCP feels it: what was lost is sent again, and what was sent behind it waits.

A message is a number of packets. Of a long one a lost packet is noticed when those behind it arrive, and costs a round
trip (fast retransmit, RFC 5681). The last packets of a message have none behind them: these are sent again after the
retransmission time-out, 200 ms on Linux (TCP_RTO_MIN), and twice as long each time that they are lost again. After 15
times TCP gives the connection up (tcp_retries2).
"""

from bisect import bisect_right
from math import sqrt

from attrs import define, field, frozen

from emulator.streams import Stream

PACKET_BYTES = 1_448
"""Of a message in one packet: an Ethernet frame without the headers of IP and TCP."""
FIRST_RETRY_US, LAST_RETRY_US, RETRIES = 200_000, 120_000_000, 15
"""Linux: TCP_RTO_MIN, TCP_RTO_MAX, tcp_retries2."""
FIRST_SYN_RETRY_US, SYN_RETRIES = 1_000_000, 6
"""Of a handshake: RFC 6298, tcp_syn_retries."""
FEW_PACKETS = 3
"""A packet with fewer behind it is not noticed by duplicate acknowledgements."""
_DRAWS = 1 << 53


@frozen
class Burst:
    """Times in which a link loses more.

    Attributes:
        rate: the share of the packets that is lost in them.
        every_us, lasts_us: the least and the most time between two of them, and that one lasts.
    """

    rate: float
    every_us: tuple[int, int]
    lasts_us: tuple[int, int]


@frozen
class Loss:
    """What a link loses.

    Attributes:
        rate: the share of its packets, each lost by itself.
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
        draws: decides which packets are lost; ``bursts``: draws the times of the bursts.
        since_us: when the route began to lose packets.
    """

    loss: Loss
    draws: Stream
    bursts: Stream
    since_us: int
    _turns: list[int] = field(factory=list)
    """When the bursts begin and end, in order."""

    def of_message(self, now_us: int, size: int, round_trip_us: int) -> int | None:
        """How much later a message arrives that is sent now; None: never, since the connection is given up."""
        packets = -(-size // PACKET_BYTES)
        late_us = 0
        if packets > FEW_PACKETS and self._one_lost(now_us, packets - 1):
            late_us = round_trip_us
        again_us = self._last_packet(now_us, max(FIRST_RETRY_US, round_trip_us), RETRIES)
        return None if again_us is None else late_us + again_us

    def of_handshake(self, now_us: int) -> int | None:
        """The same for the first packet of a connection."""
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
        """How long it takes until TCP gives a connection up."""
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
