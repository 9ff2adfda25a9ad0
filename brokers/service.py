"""The time that requests take a broker, by their API: a fixed part, and a part for each partition that they name.

Unless a scenario sets it, requests take no time, and no broker has request handler threads.
"""

from collections.abc import Mapping
from typing import NamedTuple

from attrs import frozen

from emulator.protocol.api import Request


class ServiceTime(NamedTuple):
    """The service time of one API, in microseconds."""

    request_us: int = 0
    partition_us: int = 0


@frozen
class ServiceTimes:
    """The service times of a cluster's brokers.

    Attributes:
        times: the times by class of request, as its API declares it; other requests take no time.
    """

    times: Mapping[type[Request], ServiceTime]

    def of_us(self, request: Request) -> int:
        """The time for which ``request`` occupies a request handler thread."""
        time = self.times.get(request.api.request)
        if time is None:
            return 0
        if not time.partition_us:
            return time.request_us
        return time.request_us + time.partition_us * sum(1 for _ in request.topic_partitions())
