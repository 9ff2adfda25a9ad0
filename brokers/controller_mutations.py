"""The quota of the partitions that one client creates and deletes (KIP-599; TokenBucket and ControllerMutationQuota,
2.7.2 to 3.9)."""

from collections.abc import Callable
from math import inf

from attrs import define

from emulator.protocol.errors import ApiException, Errors

WINDOWS_S = 11.0
"""controller.quota.window.num times controller.quota.window.size.seconds."""


@define(eq=False)
class TokenBucket:
    """Tokens that come with the rate of a quota, up to those of ``WINDOWS_S``. The bucket is full at first; taking
    more than it has leaves a debt."""

    _tokens: float = inf
    _updated_ms: int = 0

    def measure(self, rate: float, now_ms: int) -> float:
        """The tokens now; below 0: the quota is exhausted."""
        self._tokens = min(WINDOWS_S * rate, self._tokens + rate * (now_ms - self._updated_ms) / 1000)
        self._updated_ms = now_ms
        return self._tokens

    def take(self, count: int, rate: float, now_ms: int) -> None:
        self._tokens = self.measure(rate, now_ms) - count


class ControllerMutationQuota:
    """The quota of one request that changes topics; this one has no bound (UnboundedControllerMutationQuota)."""

    __slots__ = ()

    def record(self, partitions: int) -> None:
        """Count partitions that are about to be created or deleted. Raises: ApiException, where they may not be."""

    @property
    def throttle_ms(self) -> int:
        """How long the client's channel is muted from now on."""
        return 0


@define(eq=False)
class BoundedControllerMutationQuota(ControllerMutationQuota):
    """A quota with a bound.

    Attributes:
        rate: partitions per second.
        is_strict: nothing is counted and allowed while the quota is exhausted (StrictControllerMutationQuota). If not,
            everything is, and the client is throttled (PermissiveControllerMutationQuota).
        now_ms: the broker's clock.
    """

    bucket: TokenBucket
    rate: float
    is_strict: bool
    now_ms: Callable[[], int]
    _until_ms: int = 0

    def record(self, partitions: int) -> None:
        """Count partitions. Raises: ApiException with THROTTLING_QUOTA_EXCEEDED, where the quota is strict."""
        now_ms = self.now_ms()
        if not self.is_strict:
            self.bucket.take(partitions, self.rate, now_ms)
        tokens = self.bucket.measure(self.rate, now_ms)
        if tokens < 0:
            # A rate of 0 brings no tokens; Kafka's throttle time is then infinite, which is none as an int.
            self._until_ms = now_ms + (int(-tokens / self.rate * 1000 + 0.5) if self.rate else 0)
            if self.is_strict:
                raise ApiException(Errors.THROTTLING_QUOTA_EXCEEDED, "The throttling quota has been exceeded.")
        elif self.is_strict:
            self.bucket.take(partitions, self.rate, now_ms)

    @property
    def throttle_ms(self) -> int:
        """The throttle time of the last violation, less what has passed since."""
        return java_int(max(self._until_ms - self.now_ms(), 0))


def java_int(value: int) -> int:
    """The int that Java makes of a throttle time that does not fit into 32 bits; 0 where that is negative."""
    return max((value + (1 << 31)) % (1 << 32) - (1 << 31), 0)
