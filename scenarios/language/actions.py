"""The actions a method may take: what each needs, and one line on what it does.

`undo` names the action that ends the effect: such an action takes a `duration`, after which it is undone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from emulator.network import Delay
from emulator.protocol.errors import Errors
from scenarios.errors import BadInput, did_you_mean
from scenarios.language.configs import DYNAMIC_CONFIG, DYNAMIC_SETTINGS
from scenarios.language.messages import check_held
from scenarios.language.plan import LOG_DIR, PLAN_IN_PLACE
from scenarios.language.schema.kinds import (
    DURATION,
    RATE,
    REPLICAS,
    SIGMA,
    SOME_TIME,
    Choice,
    Integer,
    Kind,
    ListOf,
    Text,
)
from scenarios.language.schema.reader import Block, key
from scenarios.language.targets import PEER, TARGET
from scenarios.language.topics import MOST_PARTITIONS, PARTITION_NAME, TOPIC_NAME, TopicSpec
from scenarios.language.when import STEP_WHEN


@frozen(kw_only=True)
class DelaySpec:
    """What a link's delay becomes longer by."""

    latency_us: int = field(metadata=key(DURATION, "one-way delay added", name="latency"))
    jitter_us: int = field(
        default=0, metadata=key(DURATION, "most that chance adds to it, or takes off", name="jitter")
    )
    sigma: float = field(default=0.0, metadata=key(SIGMA, "spread of a lognormal one with that median"))

    @property
    def delay(self) -> Delay:
        """As the network knows it."""
        return Delay(self.latency_us, self.jitter_us, self.sigma)


@frozen
class Parameter:
    """One key of an action. A parameter that is not required and absent takes `default` (None = not
    limited)."""

    name: str
    kind: Kind[Any]
    help: str
    required: bool = False
    default: Any = None


@frozen
class Action:
    name: str
    help: str
    takes_target: bool = False
    parameters: tuple[Parameter, ...] = ()
    undo: str | None = None
    acts_on_message: bool = False
    """Acts on the very message, or write to ZooKeeper, that its entry waits for."""

    def parameter(self, name: str) -> Parameter | None:
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


_CRASH = Parameter(
    "kind",
    Choice(("process", "host"), "kind of crash"),
    "process keeps what was appended, host loses what was not flushed",
    default="process",
)
_PEER = Parameter("peer", PEER, 'the other end: brokers or "zookeeper"; absent = every other broker')
_DIRECTION = Parameter("direction", Choice(("both", "to", "from"), "direction"), "seen from the target", default="both")
_TOPIC = Parameter("topic", TOPIC_NAME, "the topic's name", required=True)
_OF_PARTITION = Parameter("partition", PARTITION_NAME, "the partition", required=True)
_TIMES = Parameter("times", Integer(1), "so many times; each raised epoch is told anew", default=1)
_DELAY = Parameter("delay", Block(DelaySpec), "how much slower", required=True)
_GATE = Parameter("gate", STEP_WHEN, "the step and its filters", required=True)
_EXPECT_ERROR = Parameter(
    "expect_error",
    Choice(
        tuple(
            error.name
            for error in (
                Errors.UNKNOWN_TOPIC_OR_PARTITION,
                Errors.REQUEST_TIMED_OUT,
                Errors.INVALID_REPLICA_ASSIGNMENT,
                Errors.REASSIGNMENT_IN_PROGRESS,
                Errors.NO_REASSIGNMENT_IN_PROGRESS,
            )
        ),
        "error",
    ),
    "the code that is to be answered, for one partition at least, and no other; absent = none may be",
)
_VIA = Parameter(
    "via",
    Choice(("zk", "api"), "way"),
    "by /admin/reassign_partitions or by AlterPartitionReassignments; absent = as the profile's tool",
)
_SETTINGS = ListOf(Choice(tuple(DYNAMIC_SETTINGS), "setting"), unique=True, empty=False)
_LOG_DIR = Parameter("log_dir", LOG_DIR, 'which log directory; absent or "any" = all')
_IN_PROGRESS = ListOf(PARTITION_NAME, unique=True, empty=False)

_ELECTION_ERRORS = tuple(
    error.name
    for error in (
        Errors.UNKNOWN_SERVER_ERROR,
        Errors.UNKNOWN_TOPIC_OR_PARTITION,
        Errors.LEADER_NOT_AVAILABLE,
        Errors.REQUEST_TIMED_OUT,
        Errors.INVALID_TOPIC_EXCEPTION,
        Errors.PREFERRED_LEADER_NOT_AVAILABLE,
    )
)

ACTIONS: Mapping[str, Action] = {
    action.name: action
    for action in (
        Action(
            "reassign.execute",
            "hand the plan to the controller, as kafka-reassign-partitions.sh does",
            False,
            (
                Parameter("plan", PLAN_IN_PLACE, "a plan of its own, as in [plan]; absent = [plan]"),
                _VIA,
                Parameter(
                    "throttle",
                    RATE,
                    "set before (KIP-73) until reassign.verify clears it; absent = the strategy's, cleared at the end",
                ),
                Parameter(
                    "log_dirs_throttle",
                    RATE,
                    "bytes/s of each broker's copies between its log directories; reassign.verify clears it",
                ),
                Parameter(
                    "give_up_after",
                    SOME_TIME,
                    "so much later interrupt the command, if it waits (kafka-42's); what is not done is taken back",
                ),
                _EXPECT_ERROR,
            ),
        ),
        Action(
            "reassign.cancel",
            "cancel reassignments by the API (kip-455)",
            False,
            (Parameter("partitions", _IN_PROGRESS, "whose; absent = all in progress"), _EXPECT_ERROR),
        ),
        Action(
            "reassign.list",
            "write the reassignments in progress into the trace, as the API lists them (kip-455)",
            False,
            (Parameter("partitions", _IN_PROGRESS, "which; absent = all"),),
        ),
        Action(
            "reassign.verify",
            "write how far the moves are into the trace, and clear their throttles if they are over",
            False,
            (Parameter("plan", PLAN_IN_PLACE, "whose; absent = [plan]"), _VIA),
        ),
        Action("broker.crash", "kill the broker", True, (_CRASH,), undo="broker.start"),
        Action("broker.stop", "end the broker's process in order, asking nobody", True, undo="broker.start"),
        Action(
            "broker.controlled_shutdown",
            "tell the broker to end: the controller moves its leaderships first (SIGTERM)",
            True,
            undo="broker.start",
        ),
        Action("broker.start", "start a broker that is down, or that is shutting down, once it is", True),
        Action(
            "broker.pause",
            "stop its tasks and not its session's timer, like a long GC",
            True,
            undo="broker.resume",
        ),
        Action("broker.resume", "let a paused broker go on", True),
        Action("controller.crash", "kill the broker that is controller", False, (_CRASH,), undo="broker.start"),
        Action(
            "link.cut",
            "let nothing pass between the target and its peer",
            True,
            (_PEER, _DIRECTION),
            undo="link.heal",
        ),
        Action("link.heal", "undo link.cut and link.delay", True, (_PEER, _DIRECTION)),
        Action(
            "link.delay",
            "make messages slower between the target and its peer",
            True,
            (_DELAY, _PEER, _DIRECTION),
            undo="link.heal",
        ),
        Action(
            "broker.fail_start_replica",
            "make the broker fail when it is next told to follow in a partition: no log, no fetcher (KAFKA-42, 2b)",
            True,
            (_OF_PARTITION, _TIMES),
        ),
        Action(
            "broker.ignore_become_leader",
            "make the broker fail when it is next told to lead a partition: nobody serves it (KAFKA-42, 4b)",
            True,
            (_OF_PARTITION, _TIMES),
        ),
        Action("zk.expire", "expire the broker's ZooKeeper session", True),
        Action(
            "fetcher.fail_partition",
            "make the target's fetcher fail on one partition (KIP-461)",
            True,
            (
                Parameter("partition", PARTITION_NAME, "the partition that fails", required=True),
                Parameter(
                    "cause",
                    Choice(("append", "truncate", "unexpected"), "cause"),
                    "a storage error in the append or while truncating, or one in the append that nobody foresaw",
                    default="append",
                ),
            ),
        ),
        Action(
            "disk.fail",
            "let operations on a partition's log, or on all of a log directory, fail with an I/O error",
            True,
            (
                Parameter("partition", PARTITION_NAME, "whose log; absent = all of the log directory"),
                _LOG_DIR,
                Parameter(
                    "operation",
                    Choice(("any", "append", "read", "truncate", "flush"), "operation"),
                    "which operations",
                    default="any",
                ),
                Parameter("times", Integer(1), "how many of them fail; absent = all, until disk.heal"),
            ),
            undo="disk.heal",
        ),
        Action(
            "disk.slow",
            "let the disks of log directories take their time, until disk.heal gives them back what they were",
            True,
            (
                _LOG_DIR,
                Parameter("read", RATE, "bytes read per second; absent = reads take no time"),
                Parameter("write", RATE, "bytes appended per second; absent = no time"),
                Parameter("latency", DURATION, "time of each append and read besides", default=0),
            ),
            undo="disk.heal",
        ),
        Action(
            "disk.full",
            "let the disk of a log directory take nothing more: what writes fails",
            True,
            (_LOG_DIR,),
            undo="disk.heal",
        ),
        Action(
            "disk.heal",
            "end what is wrong with the disks; a directory that is offline needs a restart",
            True,
            (_LOG_DIR,),
        ),
        Action(
            "disk.corrupt",
            "spoil a batch in a partition's log: who fetches it sees that its checksum does not fit",
            True,
            (
                _OF_PARTITION,
                Parameter("batch", Choice(("first", "last"), "batch"), "which one", default="last"),
            ),
        ),
        Action("log_dir.offline", "let a log directory fail at once (KIP-112)", True, (_LOG_DIR,), undo="disk.heal"),
        Action(
            "topic.create",
            "create a topic",
            False,
            (Parameter("topic", Block(TopicSpec), "the topic, as in [[topics]]", required=True),),
        ),
        Action("topic.delete", "mark a topic for deletion, as kafka-topics.sh --delete does", False, (_TOPIC,)),
        Action(
            "topic.expand",
            "add partitions to a topic, as kafka-topics.sh --alter does",
            False,
            (
                _TOPIC,
                Parameter("partitions", Integer(1, MOST_PARTITIONS), "how many it has then, in all", required=True),
                Parameter(
                    "assignment",
                    ListOf(REPLICAS, empty=False),
                    "replicas of each added partition; absent = dealt out as Kafka does, racks left aside",
                ),
            ),
        ),
        Action(
            "election.preferred",
            "have the preferred replicas lead, as kafka-preferred-replica-election.sh does",
            False,
            (
                Parameter(
                    "partitions", ListOf(PARTITION_NAME, unique=True, empty=False), "which ones; absent = all there are"
                ),
                Parameter(
                    "via",
                    Choice(("zk", "api"), "way"),
                    "by /admin/preferred_replica_election or by ElectLeaders; absent = as the profile's tool",
                ),
                Parameter(
                    "expect_error",
                    Choice(_ELECTION_ERRORS, "error"),
                    "the code that is to be answered, for one partition at least, and no other; absent = none may be",
                ),
            ),
        ),
        Action(
            "config.set",
            "change settings while the cluster runs, as kafka-configs.sh does",
            False,
            (
                Parameter("config", DYNAMIC_CONFIG, "the settings under Kafka's names; others stay"),
                Parameter("remove", _SETTINGS, "settings that are to be set no more"),
                Parameter("topic", TOPIC_NAME, "whose settings; absent, as brokers = the default of all brokers"),
                Parameter("brokers", TARGET, "the brokers each of which gets them for its own"),
            ),
        ),
        Action("gate.hold", "let nobody pass a step until it is released", False, (_GATE,), undo="gate.release"),
        Action("gate.release", "let those held at a step go on", False, (_GATE,)),
        Action(
            "message.cut",
            "reset the connection at the very message that the entry waits for, which is lost; both ends learn of it",
            acts_on_message=True,
        ),
        Action(
            "message.delay",
            "make the link slower, from the very message that the entry waits for on",
            parameters=(_DELAY,),
            undo="message.release",
            acts_on_message=True,
        ),
        Action(
            "message.hold",
            "hold the very message that the entry waits for, and all that comes behind it on its connection",
            undo="message.release",
            acts_on_message=True,
        ),
        Action(
            "message.release",
            "let go what message.hold holds, and undo message.delay",
            parameters=(
                Parameter("message", Text(check_held, "a message or a write"), "only this; absent = whatever it is"),
            ),
        ),
    )
}


def find_action(name: str) -> Action:
    """The action of that name; `BadInput` when there is none."""
    if name in ACTIONS:
        return ACTIONS[name]
    raise BadInput(f"unknown action {name!r}; {did_you_mean(name, ACTIONS)}")
