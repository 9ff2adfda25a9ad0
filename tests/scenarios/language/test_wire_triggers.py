"""Triggers at messages and at writes to ZooKeeper: what is refused, and what a path may look like."""

import pytest

from emulator.protocol.api import apis
from scenarios.errors import BadInput
from scenarios.language import Scenario, Target, When, WhenMessage, WhenZk, fits
from scenarios.language.known_names import only_attached_send
from scenarios.language.messages import ZNODES, check_path, topic_of
from tests.scenarios.language.builders import SMALL, small_and
from tests.scenarios.language.refusals import acting, when


def acts(condition: str, action: str = "message.cut", *more: str) -> str:
    return small_and("[[method]]", f"when = {{ {condition} }}", f'action = "{action}"', *more)


REFUSED: dict[str, tuple[str, str, str]] = {
    "no such message": (when('message = "LeaderAndISR"'), "when.message: unknown message", "'LeaderAndIsr'?"),
    "nothing like it": (when('message = "Gossip"'), "when.message", "known: Produce, Fetch, ListOffsets"),
    "no such edge": (when('message = "Fetch", edge = "applied"'), "when.edge", "known: sent, delivered, answered"),
    "an answer is not answered": (
        when('message = "Fetch", response = true, edge = "answered"'), "when.edge", '"delivered"',
    ),
    "unknown partition": (when('message = "Fetch", partition = "orders-7"'), "when.partition", "'orders-1'"),
    "unknown topic": (when('message = "Fetch", topic = "order"'), "when.topic", "'orders'?"),
    "unknown sender": (when('message = "Fetch", from = 9'), "when.from", "from 0 to 6"),
    "unknown receiver": (when('message = "Fetch", to = [1, 7]'), "when.to", "from 0 to 6"),
    "unknown role": (when('message = "Fetch", to = "leder(orders-0)"'), "when.to", "'leader'?"),
    "names no partition": (
        when('message = "UpdateMetadata", response = true, partition = "orders-0"'), "when.partition", "leave",
    ),
    "names no topic's partition": (when('message = "Metadata", topic = "orders"'), "when.topic", "leave"),
    "unknown key": (when('message = "Fetch", broker = 1'), "when.broker: unknown key", "known: message, response"),
    "since an unreachable step": (
        when('message = "Fetch", since = { step = "kafka-6794.3" }'), "when.since.step", "that have it: kafka-6794",
    ),
    "two conditions": (when('message = "Fetch", step = "wiki.3"'), "when.message", "keep one"),
    "no condition": (when('partition = "orders-0"'), "when: the key 'step' is missing", "'message'"),
    "a misspelt condition": (when('massage = "Fetch"'), "when.massage: unknown key", "'message'?"),
    "no such write": (when('zk = "setdata"'), "when.zk: unknown write", "'setData'?"),
    "a read": (when('zk = "getData"'), "when.zk", "'setData'?"),
    "no such znode": (
        when('zk = "setData", path = "/brokers/topics/orders/partitions/0/stat"'), "when.path", "partitions/*/state'?",
    ),
    "a znode of no topic": (when('zk = "setData", path = "/brokers/topics/order"'), "when.path", "'orders'?"),
    "a session's path": (when('zk = "session.expired", path = "/controller"'), "when.path", "leave it out"),
    "a session's edge": (when('zk = "session.expired", edge = "before"'), "when.edge", "leave 'edge' out"),
    "cut what": (acting('action = "message.cut"'), "method[1]: message.cut acts on the message", "message ="),
    "cut a step": (acts('step = "wiki.3"'), "method[1]: message.cut acts on the message", "message ="),
    "cut a session": (acts('zk = "session.expired"'), "when.zk: 'session.expired' is no message", "'setData'"),
    "cut for a while": (acts('message = "Fetch"', "message.cut", 'duration = "1s"'), "duration", "done at once"),
    "delay by nothing": (acts('message = "Fetch"', "message.delay"), "needs 'delay'", "add it"),
    "hold whom": (acts('message = "Fetch"', "message.hold", "target = 3"), "target", "takes no target"),
    "release of a message that is not held": (
        acting('action = "message.release"', 'message = "session.expired"'), "message: unknown message", "known:",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_line(case: str) -> None:
    text, where, hint = REFUSED[case]
    with pytest.raises(BadInput) as caught:
        Scenario.loads(text, source="small.toml")
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("small.toml")
    assert where in message
    assert hint in message


LOG_DIRS = """
[method.plan]
version = 1
partitions = [{ topic = "orders", partition = 0, replicas = [3, 4, 5], log_dirs = ["/data/0", "any", "any"] }]
"""
SENT_ON_DEMAND = {
    "Produce": '[[workloads]]\ntopic = "orders"\nproducerRate = 100',
    "InitProducerId": '[[workloads]]\ntopic = "orders"\nproducerRate = 100\nconfig = { "enable.idempotence" = true }',
    "Metadata": '[[workloads]]\ntopic = "orders"\nproducerRate = 100',
    "ControlledShutdown": '[[method]]\nat = "3s"\naction = "broker.controlled_shutdown"\ntarget = 1',
    "ElectLeaders": '[[method]]\nat = "3s"\naction = "election.preferred"\nvia = "api"',
    "AlterReplicaLogDirs": f'[[method]]\nat = "3s"\naction = "reassign.execute"\n{LOG_DIRS}',
    "DescribeLogDirs": f'[[method]]\nat = "3s"\naction = "reassign.verify"\n{LOG_DIRS}',
    "AlterPartitionReassignments": '[[method]]\nat = "3s"\naction = "reassign.cancel"',
    "ListPartitionReassignments": '[[method]]\nat = "3s"\naction = "reassign.list"',
    "DeleteRecords": '[[method]]\nat = "3s"\naction = "records.delete"\ntopic = "orders"',
}

WITH_PROFILE = ("AlterIsr", "AllocateProducerIds")
"""The messages that only later profiles send."""


def test_no_broker_asks_the_controller_for_producer_ids_before_3_0() -> None:
    producer = '[[workloads]]\ntopic = "orders"\nproducerRate = 100\nconfig = { "enable.idempotence" = true }\n'
    text = f'{SMALL}\n{producer}[[method]]\nwhen = {{ message = "AllocateProducerIds" }}\naction = "message.cut"\n'
    with pytest.raises(BadInput, match=r"AllocateProducerIds is never sent here; write profile 'kafka-3\.0', and add"):
        Scenario.loads(text)
    newer = text.replace('title = "small"', 'title = "small"\nprofile = "kafka-3.0"')
    assert Scenario.loads(newer)
    with pytest.raises(BadInput, match="AllocateProducerIds is never sent here"):
        Scenario.loads(newer.replace(producer, ""))


def test_no_leader_asks_the_controller_for_an_isr_before_2_7() -> None:
    text = f'{SMALL}\n[[method]]\nwhen = {{ message = "AlterIsr" }}\naction = "message.cut"\n'
    with pytest.raises(BadInput, match=r"AlterIsr is never sent here; write a profile .* such as 'kafka-2\.7'"):
        Scenario.loads(text)
    assert Scenario.loads(text.replace('title = "small"', 'title = "small"\nprofile = "kafka-2.7"'))


def test_a_message_that_only_real_clients_send_needs_one() -> None:
    text = f'{SMALL}\n[[method]]\nwhen = {{ message = "Heartbeat" }}\naction = "message.cut"\n'
    with pytest.raises(BadInput, match="only real clients send Heartbeat; list the client"):
        Scenario.loads(text)
    assert Scenario.loads(f'attached = ["billing"]\n{text}').attached == ("billing",)


@pytest.mark.parametrize(
    "message", [message for message in apis() if message not in WITH_PROFILE and not only_attached_send(message)]
)
def test_a_message_that_is_never_sent_is_refused(message: str) -> None:
    quiet = SMALL.replace('[[workloads]]\ntopic = "orders"\nproducerRate = 100\n', "").replace('"wiki"', '"kip-455"')
    text = f'{quiet}\n[[method]]\nwhen = {{ message = "{message}" }}\naction = "message.cut"\n'
    if message == "AlterIsr":
        with pytest.raises(BadInput, match="AlterIsr is never sent here; write a profile"):
            Scenario.loads(text)
        text = f'profile = "kafka-2.7"\n{text}'
    if message in SENT_ON_DEMAND:
        with pytest.raises(BadInput, match=rf"method\[1\].when.message: {message} is never sent here; add "):
            Scenario.loads(text)
        text += SENT_ON_DEMAND[message]
    assert Scenario.loads(text).method[1].name == "message.cut"


def test_an_executor_that_asks_by_the_api_looks_by_the_api() -> None:
    by_api = SMALL.replace('action = "reassign.execute"', 'action = "reassign.execute"\nvia = "api"')
    text = by_api + '\n[[method]]\nwhen = { message = "ListPartitionReassignments" }\naction = "message.cut"\n'
    assert Scenario.loads(text.replace('"wiki"', '"kip-455+serial"'))
    with pytest.raises(BadInput, match="ListPartitionReassignments is never sent here"):
        Scenario.loads(text.replace('"wiki"', '"kip-455"'))


def test_a_table_becomes_the_condition_that_it_names() -> None:
    text = acts('message = "Fetch", from = 1, to = "leader(orders-0)", since = "5s"')
    text += '[[method]]\nwhen = { zk = "multi", since = { step = "wiki.1" } }\naction = "message.hold"\n'
    scenario = Scenario.loads(text)
    message, write = (entry.trigger for entry in scenario.method[1:])
    assert isinstance(message, WhenMessage)
    assert isinstance(write, WhenZk)
    assert message.since == 5_000_000
    assert (message.source, message.target) == (Target(brokers=[1]), Target(role="leader(orders-0)"))
    assert write.since == When(steps="wiki.1")
    assert Scenario.loads(scenario.to_toml()) == scenario


def test_paths() -> None:
    assert fits("/brokers/topics/*/partitions/*/state", "/brokers/topics/orders/partitions/0/state")
    assert not fits("/brokers/topics/*", "/brokers/topics/orders/partitions")
    assert not fits("/brokers/topics/orders", "/brokers/topics/*")
    for path in (*ZNODES, "/brokers/topics/a/partitions/0/state", "/*/topics/*", "/config/topics/a", "/*"):
        check_path(path)
    for path in ("/brokers", "controller", "/brokers/topics/a/", ""):
        with pytest.raises(BadInput, match="no znode of Kafka's"):
            check_path(path)
    assert topic_of("/brokers/topics/orders/partitions/0/state") == topic_of("/config/topics/orders") == "orders"
    assert topic_of("/brokers/topics/*/partitions") is None
