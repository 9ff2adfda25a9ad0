"""How long a link holds a message back."""

from math import exp

from attrs import frozen

from emulator.streams import Stream


@frozen
class Delay:
    """``latency_us``, give or take up to ``jitter_us``, all of it equally likely.

    Attributes:
        sigma: more than 0 spreads the latency like a lognormal variable with the median ``latency_us``, most messages
            near it and few far behind: sigma is the standard deviation of its logarithm. The jitter comes on top.

    Where chance takes off more than there is, a message arrives as it is sent.
    """

    latency_us: int = 0
    jitter_us: int = 0
    sigma: float = 0.0

    def off_the_median(self, stream: Stream) -> int:
        """How much longer or shorter than the median this time, drawn from ``stream``."""
        return round(self.latency_us * (exp(self.sigma * stream.normal()) - 1))


NO_DELAY = Delay()
