"""The requests of ``understudy.protocol``: all that a broker answers, and some of them sent by hand."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import emulator.protocol
import understudy.protocol
from emulator.protocol.api import Message, Request, Response
from understudy.protocol import (
    AlterReplicaLogDirsRequest,
    CreateTopicsRequest,
    DeleteRecordsRequest,
    DescribeLogDirsRequest,
    Errors,
    HeartbeatRequest,
    ListGroupsRequest,
    NewTopic,
    TopicPartition,
)
from understudy.testing import cluster, in_virtual_time

TP = TopicPartition("t", 0)


def messages(kind: type[Message]) -> Iterator[type[Message]]:
    """The classes of requests, or responses, of ``emulator.protocol`` that have an API."""
    for each in kind.__subclasses__():
        if getattr(each, "api", None) is not None and each.__module__.startswith(f"{emulator.protocol.__name__}."):
            yield each
        yield from messages(each)


def test_each_request_and_response_is_public() -> None:
    for module in pkgutil.walk_packages(emulator.protocol.__path__, "emulator.protocol."):
        importlib.import_module(module.name)
    names = {each.__name__ for kind in (Request, Response) for each in messages(kind)}
    assert len(names) > 80
    assert names - set(understudy.protocol.__all__) == set()


@in_virtual_time
async def test_requests_of_administrators_and_members_are_answered() -> None:
    async with cluster(2, {"t": [[0, 1]]}, profile="kafka-2.7") as c:
        await c.produce(TP, records=5)
        assert (await c.send(0, ListGroupsRequest())).groups == ()
        assert (await c.send(0, HeartbeatRequest("unknown", 1, "m"))).error is not Errors.NONE
        (deleted,) = (await c.send(0, DeleteRecordsRequest(((TP, 3),), 1_000_000))).partitions
        assert (deleted.error, deleted.low_watermark) == (Errors.NONE, 3)
        (directory,) = (await c.send(1, DescribeLogDirsRequest())).directories
        assert [replica.tp for replica in directory.replicas] == [TP]
        (moved,) = (await c.send(1, AlterReplicaLogDirsRequest(((TP, "/no/such"),)))).partitions
        assert moved == (TP, Errors.LOG_DIR_NOT_FOUND)
        create = CreateTopicsRequest((NewTopic("new", 1, 2),), 5_000_000)
        (created,) = (await c.send(c.controller(), create)).topics
        assert created.name == "new"
        assert c.znode("/brokers/topics/new") is not None
