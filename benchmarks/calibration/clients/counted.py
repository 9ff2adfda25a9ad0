"""A producer whose batches are appended and refused for several reasons, for the counts of the brokers' metrics."""

from collections.abc import Mapping, Sequence

from attrs import define

from benchmarks.calibration.clients.base import ANYONE, Asking, Producer, Scripted, Step, appended

PRODUCER = Producer(7, 0)
FINE_BYTES, LARGE_BYTES = 100, 900

STEPS: Mapping[str, Sequence[Step]] = {
    "client": (
        *((1, 0, "orders 0 acks=all"),) * 3, *((1, 0, "orders 1 acks=1"),) * 2,
        (2, 0, "orders 0 too large"), (2, 0, "orders 0 too large"), (2, 0, "orders 1 too large"),
        (3, 0, "orders 0 out of order"), (3, 0, "strict 0 acks=all"), (3, 0, "strict 0 acks=1"),
        (4, 1, "orders 0 acks=1"), (4, 0, "orders 9 acks=1"), (4, 0, "nothing 0 acks=1"), (4, 0, "orders 0 acks=2"),
    ),
}  # fmt: skip


@define(eq=False)
class CountedProducer(Scripted):
    """The producer."""

    topic = "orders"

    def carry_out(self, broker: int, verb: str) -> Asking:
        topic, number, how = verb.split(maxsplit=2)
        acks = int(how.removeprefix("acks=").replace("all", "-1")) if how.startswith("acks=") else -1
        numbered = how == "out of order"
        part = yield from self.produce(
            broker,
            topic,
            int(number),
            acks=acks,
            producer=PRODUCER if numbered else ANYONE,
            sequence=5 if numbered else -1,
            size=LARGE_BYTES if how == "too large" else FINE_BYTES,
        )
        return appended(part)
