"""The effect of client quotas on one connection: an answer has the throttle time, and the channel is muted for it
(KIP-219, 2.0); before, the answer itself came later.

Brokers handle one request of a connection at a time. Here several of one client can be under way, until its broker has
quotas: then each waits for the answer to the one before it.
"""

from collections import deque
from typing import TYPE_CHECKING, Any

from attrs import define, field

from brokers.client_quotas import ClientQuotas
from scenarios.wire.apis.base import Body, Connection

if TYPE_CHECKING:
    from scenarios.wire.gateway.gateway import Gateway

PRODUCE, FETCH = 0, 1


@define(eq=False)
class Throttling:
    """The throttled channel of one connection.

    Attributes:
        held: the requests that wait until the one before is answered, and the channel is muted no more.
        muted_until_us: the time until which it is muted.
    """

    gateway: "Gateway"
    context: Connection
    held: deque[bytes] = field(factory=deque)
    muted_until_us: int = 0

    @property
    def quotas(self) -> ClientQuotas | None:
        """The quotas of the broker; None: no client has ever had one."""
        return self.gateway.cluster.brokers[self.context.broker].client_quotas

    def holds(self, data: bytes, under_way: bool) -> bool:
        """Whether a request has to wait. ``under_way``: an earlier one is not answered."""
        waits = under_way or self.gateway.cluster.world.now < self.muted_until_us
        if not self.held and (not waits or self.quotas is None):
            return False
        self.held.append(data)
        return True

    def next(self, under_way: bool) -> bytes | None:
        """The next request whose wait is over; it is held no more."""
        if not self.held or under_way or self.gateway.cluster.world.now < self.muted_until_us:
            return None
        return self.held.popleft()

    def fit(self, body: Body) -> None:
        """Let a Fetch ask for no more than the quota lets pass in a window (KAFKA-9677, 2.5)."""
        quotas, running = self.quotas, self.gateway.cluster.brokers[self.context.broker]
        if quotas is None or not running.spec.policies.fetches_fit_quota:
            return
        most = quotas.fetch.most_in_window(*self._client)
        if most is not None:
            body["max_bytes"] = min(body["max_bytes"], most)
            body["min_bytes"] = min(body["min_bytes"], body["max_bytes"])

    def produced(self, size: int) -> int:
        """Count a Produce request. Returns its throttle time in ms."""
        quotas = self.quotas
        return 0 if quotas is None else quotas.produce.record(*self._client, size, self._now_ms)

    def fetched(self, size: int) -> int:
        """Count the answer to a Fetch. Returns its throttle time in ms. Since 2.0 a throttled one is not sent, so its
        bytes do not count."""
        quotas, now_ms = self.quotas, self._now_ms
        if quotas is None:
            return 0
        throttle_ms = quotas.fetch.record(*self._client, size, now_ms)
        if throttle_ms > 0 and self.answers_at_once:
            quotas.fetch.unrecord(*self._client, size, now_ms)
        return throttle_ms

    def mute(self, throttle_ms: int) -> int:
        """Mute the channel. Returns the time in us after which its client may go on."""
        self.muted_until_us = self.gateway.cluster.world.now + throttle_ms * 1000
        return throttle_ms * 1000

    @property
    def answers_at_once(self) -> bool:
        """Whether a throttled request is answered at once (KIP-219)."""
        return self.gateway.cluster.brokers[self.context.broker].spec.policies.throttled_are_answered

    @property
    def _client(self) -> tuple[str, str]:
        """The user and the client id that the quotas are looked up for."""
        return self.context.user, self.context.client_id

    @property
    def _now_ms(self) -> int:
        return self.gateway.cluster.brokers[self.context.broker].process.clock_us // 1000


def throttled_fetch(body: Body) -> Body:
    """The answer to a Fetch that is throttled: no records, in its session if it is of one (getThrottledResponse)."""
    of_session: Any = body.get("session_epoch", -1) > 0
    return {"error_code": 0, "session_id": body["session_id"] if of_session else 0, "responses": []}
