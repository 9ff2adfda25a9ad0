"""The waits of a producer's batches."""

from attrs import define, field

from emulator.protocol.events import Produced
from scenarios.observe.measures.percentile import weighted_percentiles
from scenarios.runs.runner import Stage


@define(eq=False)
class Latencies:
    """Every batch that was acknowledged or failed, as (closed, latency, error); microseconds.

    ``watch`` is for ``emulate``.
    """

    batches: list[tuple[int, int, str]] = field(factory=list)

    def watch(self, stage: Stage) -> None:
        stage.cluster.trace.fold(Produced, self._produced)

    def _produced(self, event: Produced) -> None:
        self.batches.append((event.t_us - event.latency_us, event.latency_us, event.error))

    def between(self, start_s: float, end_s: float) -> list[tuple[int, int, str]]:
        """The batches closed in that stretch."""
        return [batch for batch in self.batches if start_s * 1_000_000 <= batch[0] < end_s * 1_000_000]

    def percentile_ms(self, share: float, start_s: float, end_s: float) -> float:
        """A percentile of the latencies of batches closed in that stretch; failed ones with the time until they
        failed."""
        weights: dict[int, int] = {}
        for _, latency, _ in self.between(start_s, end_s):
            weights[latency] = weights.get(latency, 0) + 1
        [found] = weighted_percentiles(weights, (share,))
        assert found is not None, "nothing was sent then"
        return found / 1_000
