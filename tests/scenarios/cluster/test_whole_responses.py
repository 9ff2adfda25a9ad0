"""A producer settles a response in which all is well in one go, and decides batch by batch about every other. Both ways
come to the same run, event for event."""

from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.cluster.clients.producer import Producer
from tests.scenarios.runs.building import HEAL, Table, play, scenario

times = st.integers(1500, 5000)
faults = st.one_of(
    st.builds(lambda t: {"when": {"message": "Produce", "response": True, "since": f"{t}ms"}, "action": "message.cut"},
              times),
    st.builds(lambda t: {"at": f"{t}ms", "action": "broker.crash", "target": "leader(orders-0)", "duration": "4s"},
              times),
    st.builds(lambda t: {"at": f"{t}ms", "action": "link.cut", "target": 0, "peer": [1, 2], "duration": "6s"}, times),
    st.builds(lambda t: {"at": f"{t}ms", "action": "broker.pause", "target": 1, "duration": "6s"}, times),
)  # fmt: skip


@settings(max_examples=6, deadline=None)
@given(st.lists(faults, max_size=2), st.booleans(), st.sampled_from((1, 5)), st.sampled_from(("1", "all")))
def test_a_whole_response_is_settled_as_its_batches_would_be(
    method: list[Table], idempotent: bool, in_flight: int, acks: str
) -> None:
    config = {
        "enable.idempotence": idempotent, "max.in.flight.requests.per.connection": in_flight,
        "delivery.timeout.ms": 3000, "request.timeout.ms": 1500,
    }  # fmt: skip
    load = {"topic": "orders", "producerRate": 100, "stop": "7s", "linger": "50ms", "config": config}
    wanted = scenario(
        brokers=3, controller=2, assignment=[[0, 1, 2], [1, 2, 0], [0, 2, 1]], method=method, rollbacks=HEAL,
        horizon="1m", workloads=[load if idempotent else {**load, "acks": acks}], rate=0,
    )  # fmt: skip
    together = play(wanted).run.digest
    with patch.object(Producer, "_all_well", return_value=False):
        assert play(wanted).run.digest == together
