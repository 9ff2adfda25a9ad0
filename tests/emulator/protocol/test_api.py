"""Every API declares its name, its messages and their partitions once."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

import pytest

import emulator.protocol
from emulator.protocol.alter_reassignments import AlterPartitionReassignmentsRequest
from emulator.protocol.api import (
    AbstractControlRequest,
    Request,
    Response,
    apis,
    control_apis,
    declare,
    forms,
    names_partitions,
)
from emulator.protocol.controlled_shutdown import ControlledShutdownResponse
from emulator.protocol.elect_leaders import ElectionType, ElectLeadersRequest
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import FetchRequest, FetchResponse
from emulator.protocol.log_dirs import DescribeLogDirsRequest
from emulator.protocol.metadata import MetadataRequest
from emulator.protocol.offsets_for_leader_epoch import ListOffsetsRequest
from emulator.protocol.produce import ProducedBatch, ProduceRequest, ProduceResponse
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition

ONE, TWO = TopicPartition("orders", 0), TopicPartition("orders", 1)


def classes() -> Iterator[tuple[str, type]]:
    """Every class that a module of the protocol has, with the name of its module; not those of events."""
    for found in walk_packages(emulator.protocol.__path__, "emulator.protocol."):
        if not found.name.startswith("emulator.protocol.events"):
            for kind in vars(import_module(found.name)).values():
                if isinstance(kind, type) and kind.__module__ == found.name:
                    yield found.name, kind


def test_every_request_and_response_of_the_protocol_belongs_to_an_api() -> None:
    messages = {
        kind
        for module, kind in classes()
        if kind.__name__.endswith(("Request", "Response")) and module != "emulator.protocol.api"
    }
    declared = (kind for api in apis().values() for kind in (api.request, api.response))
    assert {form for kind in declared for form in forms(kind)} == messages
    for name, api in apis().items():
        assert (api.request.__name__, api.response.__name__) == (f"{name}Request", f"{name}Response")
        assert api.request.api is api.response.api is api
        assert issubclass(api.request, Request)
        assert issubclass(api.response, Response)


def test_apis_are_in_the_order_of_kafkas_numbers() -> None:
    keys = [api.key for api in apis().values()]
    assert keys == sorted(set(keys))


def test_the_controllers_requests_are_known_by_their_class() -> None:
    assert {api.name: api.snake_name for api in control_apis()} == {
        "LeaderAndIsr": "leader_and_isr",
        "StopReplica": "stop_replica",
        "UpdateMetadata": "update_metadata",
    }
    assert all(issubclass(api.request, AbstractControlRequest) for api in control_apis())


def test_a_second_api_of_the_same_name_is_refused() -> None:
    with pytest.raises(ValueError, match="two APIs are called Fetch"):
        declare(1, "Fetch", FetchRequest, FetchResponse, help="again")


@pytest.mark.parametrize(
    ("message", "named"),
    [
        (StopReplicaRequest(0, 1, 2, False, (ONE, TWO)), [ONE, TWO]),
        (ProduceRequest(1, 1000, (ProducedBatch(TWO, 1, 10, 1), ProducedBatch(ONE, 1, 10, 2)), 20), [TWO, ONE]),
        (ProduceResponse(((ONE, Errors.NONE, 5),)), [ONE]),
        (ListOffsetsRequest(ONE, 3, 1), [ONE]),
        (AlterPartitionReassignmentsRequest({TWO: (1, 2), ONE: None}), [TWO, ONE]),
        (ControlledShutdownResponse(Errors.NONE, (ONE,)), [ONE]),
        (ElectLeadersRequest(ElectionType.PREFERRED, None), []),
        (DescribeLogDirsRequest((TWO,)), [TWO]),
        (MetadataRequest(("orders",)), []),
    ],
)
def test_a_message_names_its_partitions_in_its_order(message: Request | Response, named: list[TopicPartition]) -> None:
    assert list(message.topic_partitions()) == named


def test_only_messages_that_define_their_partitions_can_name_any() -> None:
    assert names_partitions(FetchRequest)
    assert not names_partitions(MetadataRequest)
