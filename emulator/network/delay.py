"""The delay of a link."""

from math import exp

from attrs import frozen

from emulator.streams import Stream


@frozen
class Delay:
    """``latency_us`` plus or minus up to ``jitter_us``, uniformly. A sum below 0 counts as 0.

    Attributes:
        sigma: above 0, the latency is a lognormal variable with the median ``latency_us``, and sigma is the
            standard deviation of its logarithm: most messages take about the median, a few take much longer. The
            jitter is added.
    """

    latency_us: int = 0
    jitter_us: int = 0
    sigma: float = 0.0

    def off_the_median(self, stream: Stream) -> int:
        """The deviation from the median of one message, in us, drawn from ``stream``."""
        return round(self.latency_us * (exp(self.sigma * stream.normal()) - 1))


NO_DELAY = Delay()
