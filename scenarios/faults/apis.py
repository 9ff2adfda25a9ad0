"""A message on its way, in one line of text."""

from __future__ import annotations

from emulator.network import InterceptedMessage
from emulator.protocol.api import Message
from emulator.protocol.api import Response as Answer
from emulator.zookeeper import ZOOKEEPER
from emulator.zookeeper.messages import Ask, Multi, Op, Request, Response

NAMED = 3
"""Partitions that a line names."""


def operations(request: Request) -> tuple[Op, ...]:
    """What is asked of ZooKeeper, taken apart; a read stands for itself and is called no write."""
    return request.ops if isinstance(request, Multi) else (request,)  # type: ignore[return-value]


def told(passing: InterceptedMessage) -> str:
    """A message in a line: what, from whom to whom, about what."""
    body = passing.body
    way = f"{_machine(passing.source)} -> {_machine(passing.target)}"
    if isinstance(body, Ask):
        kind = type(body.request).__name__
        return f"{kind[0].lower()}{kind[1:]} {way}: {', '.join(op.path for op in operations(body.request))}"
    if isinstance(body, Response):
        return f"answer {way}: {', '.join(one.path for one in body.results or (body,))}"
    assert isinstance(body, Message)
    named = [str(tp) for tp in body.topic_partitions()]
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    about = f": {', '.join(named[:NAMED])}{more}" if named else ""
    return f"{'answer to ' if isinstance(body, Answer) else ''}{body.api.name} {way}{about}"


def _machine(number: int) -> str:
    return "ZooKeeper" if number == ZOOKEEPER else str(number) if number >= 0 else f"client {number}"
