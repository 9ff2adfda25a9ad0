"""Scenarios that must be refused: their text, and two pieces that the message must hold (where; what
helps)."""

from tests.scenarios.language.builders import SMALL, small_and, small_with


def when(condition: str) -> str:
    return small_and("[[method]]", f"when = {{ {condition} }}", 'action = "controller.crash"')


def acting(*lines: str) -> str:
    return small_and("[[method]]", 'at = "2s"', *lines)


def expecting(line: str) -> str:
    return small_and("[[expect]]", line)


CASES: dict[str, tuple[str, str, str]] = {
    "broken TOML": (
        SMALL + "x = = 1",
        f"small.toml:{SMALL.count(chr(10)) + 1}: broken TOML",
        "mend the syntax",
    ),
    "unknown key": (
        small_with("horizon", "horizn"),
        "small.toml horizn: unknown key",
        "did you mean 'horizon'?",
    ),
    "unknown nested key": (small_with("brokers = 7", "brokers = 7\nrack = 3"), "cluster.rack", "'racks'"),
    "misspelt required key": (
        small_with("brokers = 7", "broker = 7"),
        "cluster.broker",
        "did you mean 'brokers'?",
    ),
    "missing key": (small_with("brokers = 7\n", ""), "cluster: the key 'brokers' is missing", "add it"),
    "later block": (small_and("[[chaos]]", 'kind = "attrition"'), "chaos", "docs/limits.md"),
    "wrong schema": (small_with("scenario/1", "scenario/9"), "schema", "did you mean 'scenario/1'?"),
    "wrong type": (
        small_with("brokers = 7", 'brokers = "7"'),
        "cluster.brokers: the text '7'",
        "an integer from 1",
    ),
    "number for a duration": (small_with('"1m"', "60"), "horizon: the number 60", "500ms"),
    "unknown unit": (small_with('"1m"', '"1min"'), "horizon: '1min'", "unknown unit"),
    "no time at all": (small_with('"1m"', '"0s"'), "horizon", "too small"),
    "unknown config": (
        small_with("controller = 6", 'controller = 6\nconfig = { "min.insync.replica" = 2 }'),
        "cluster.config.min.insync.replica",
        "did you mean 'min.insync.replicas'?",
    ),
    "config set elsewhere": (
        small_with("controller = 6", 'controller = 6\nconfig = { "zookeeper.session.timeout.ms" = 1 }'),
        "cluster.config",
        "cluster.zk",
    ),
    "card of no broker": (
        small_with("brokers = 7", 'brokers = 7\nnetwork.cards = [{ brokers = [7], egress = "1MB/s" }]'),
        "cluster.network.cards[0].brokers: broker 7 does not exist",
        "from 0 to 6",
    ),
    "two cards in one broker": (
        small_with("brokers = 7", "brokers = 7\nnetwork.cards = [{ brokers = [1] }, { brokers = [0, 1] }]"),
        "cluster.network.cards[1].brokers: broker 1 has a card already",
        "each broker once",
    ),
    "controller that is no broker": (
        small_with("controller = 6", "controller = 7"),
        "cluster.controller",
        "from 0 to 6",
    ),
    "topic on unknown broker": (
        small_with("[1, 2, 3]", "[1, 2, 9]"),
        "topics[0].assignment[1]: broker 9",
        "from 0 to 6",
    ),
    "topic with a replica twice": (
        small_with("[1, 2, 3]", "[1, 2, 2]"),
        "topics[0].assignment[1][2]: 2",
        "twice",
    ),
    "uneven replica lists": (small_with("[1, 2, 3]", "[1, 2]"), "topics[0].assignment[1]", "same number"),
    "partitions that disagree": (
        small_with('name = "orders"', 'name = "orders"\npartitions = 3'),
        "topics[0].partitions",
        "make them agree",
    ),
    "topic twice": (small_and("[[topics]]", 'name = "orders"'), "topics[1].name", "is there already"),
    "illegal topic name": (small_and("[[topics]]", 'name = "a b"'), "topics[1].name", "no topic name"),
    "more replicas than brokers": (
        small_and("[[topics]]", 'name = "b"', "replication_factor = 8"),
        "topics[1].replication_factor",
        "do not fit on 7 brokers",
    ),
    "load on unknown topic": (
        small_with('topic = "orders"\np', 'topic = "order"\np'),
        "workloads[0].topic",
        "'orders'?",
    ),
    "impossible acks": (small_with("= 100", "= 100\nacks = -2"), "workloads[0].acks", '"all"'),
    "acks as a number of replicas": (small_with("= 100", "= 100\nacks = 2"), "workloads[0].acks", '"all"'),
    "a setting of another release": (
        small_with("brokers = 7", 'brokers = 7\nconfig = { "replica.lag.max.messages" = 9 }'),
        "cluster.config.replica.lag.max.messages",
        "profiles that have it: kafka-0.8",
    ),
    "load that ends before it starts": (
        small_with("= 100", '= 100\nstart = "5s"\nstop = "4s"'),
        "workloads[0].stop",
        "before it starts",
    ),
    "unknown strategy": (
        small_with('"wiki"', '"wikki"'),
        "strategy.name: unknown strategy 'wikki'",
        "'wiki'?",
    ),
    "older strategy name": (small_with('"wiki"', '"one_by_one"'), "strategy.name", "write 'kafka-6794'"),
    "strategy: a name that stands for others": (
        small_with('"wiki"', '"width-K"'),
        "strategy.name",
        "write width-2, or width-all",
    ),
    "strategy part of an older form": (small_with('"wiki"', '"wiki+waves(10)"'), "strategy.name", "'waves-10'"),
    "unknown profile": (small_with("horizon", 'profile = "kafka-2.33"\nhorizon'), "profile", "'kafka-2.3'?"),
    "plan: wrong version": (
        small_with("version = 1", "version = 2"),
        "plan.version",
        "1, the only version of Kafka's reassignment JSON (Kafka: UNSUPPORTED_VERSION)",
    ),
    "plan: unknown topic": (
        small_with('topic = "orders", p', 'topic = "odrers", p'),
        "plan.partitions[0].topic",
        "'orders'? (Kafka: UNKNOWN_TOPIC_OR_PARTITION)",
    ),
    "plan: unknown partition": (
        small_with("partition = 0", "partition = 2"),
        "plan.partitions[0].partition",
        "0 to 1 (Kafka: UNKNOWN_TOPIC_OR_PARTITION)",
    ),
    "plan: unknown broker": (
        small_with("[3, 4, 5]", "[3, 4, 50]"),
        "plan.partitions[0].replicas: broker 50",
        "0 to 6 (Kafka: INVALID_REPLICA_ASSIGNMENT)",
    ),
    "plan: duplicate replicas": (
        small_with("[3, 4, 5]", "[3, 4, 3]"),
        "plan.partitions[0].replicas[2]: 3 is listed twice",
        "once (Kafka: INVALID_REPLICA_ASSIGNMENT)",
    ),
    "plan: no replicas": (
        small_with("[3, 4, 5]", "[]"),
        "plan.partitions[0].replicas: the list is empty",
        "at least one (Kafka: INVALID_REPLICA_ASSIGNMENT)",
    ),
    "plan: partition twice": (
        small_with("[3, 4, 5] }", '[3, 4, 5] }, { topic = "orders", partition = 0, replicas = [4] }'),
        "plan.partitions[1]: orders-0 is named twice",
        "keep one",
    ),
    "plan: log dir": (
        small_with("[3, 4, 5]", '[3], log_dirs = ["/data"]'),
        "plan.partitions[0].log_dirs[0]",
        "did you mean '/data/0'",
    ),
    "plan: no file": (
        small_with("version = 1", 'file = "gone.json"').replace("partitions = [{", "#"),
        "plan.file",
        "'gone.json'",
    ),
    "no plan": (
        "\n".join(line for line in SMALL.splitlines() if line[:4] not in {"[pla", "vers", "part"}),
        "method[0]",
        "[plan]",
    ),
    "unknown action": (acting('action = "broker.crush"'), "method[1].action", "did you mean 'broker.crash'?"),
    "action without target": (acting('action = "broker.crash"'), "method[1]", "'target' is missing"),
    "action with a target too many": (
        acting('action = "controller.crash"', "target = 1"),
        "method[1].target",
        "no target",
    ),
    "unknown parameter": (
        acting('action = "zk.expire"', "target = 1", 'kind = "host"'),
        "method[1].kind",
        "unknown key",
    ),
    "duration of an instant": (
        acting('action = "zk.expire"', "target = 1", 'duration = "1s"'),
        "method[1].duration",
        "leave",
    ),
    "missing parameter": (
        acting('action = "link.delay"', "target = 1"),
        "method[1]: link.delay needs 'delay'",
        "add it",
    ),
    "unknown crash": (
        acting('action = "broker.crash"', "target = 1", 'kind = "hosts"'),
        "method[1].kind",
        "'host'?",
    ),
    "no trigger": (small_and("[[method]]", 'action = "controller.crash"'), "method[1]", "nothing says when"),
    "two triggers": (acting('after = "1s"', 'action = "controller.crash"'), "method[1].after", "keep one"),
    "beyond the horizon": (small_with('at = "1s"', 'at = "61s"'), "method[0].at", "after the horizon"),
    "rollback at a time": (
        small_and("[[rollbacks]]", 'at = "1s"', 'action = "broker.start"', "target = 1"),
        "rollbacks[0].at",
        "leave it out",
    ),
    "rollback at a step": (
        small_and("[[rollbacks]]", 'when = { step = "wiki.4" }', 'action = "broker.start"', "target = 1"),
        "rollbacks[0].when",
        "wait for nothing",
    ),
    "rollback that would have to be undone": (
        small_and("[[rollbacks]]", 'duration = "5s"', 'action = "broker.pause"', "target = 1"),
        "rollbacks[0].duration",
        "nothing undoes a rollback",
    ),
    "rollback of a message": (
        small_and("[[rollbacks]]", 'action = "message.cut"'),
        "rollbacks[0].action",
        "write it in the method",
    ),
    "target: unknown broker": (
        acting('action = "zk.expire"', "target = 7"),
        "method[1].target: broker 7",
        "0 to 6",
    ),
    "target: unknown role": (
        acting('action = "zk.expire"', 'target = "leder(orders-0)"'),
        "method[1].target",
        "'leader'?",
    ),
    "target: unknown partition": (
        acting('action = "zk.expire"', 'target = "leader(orders-2)"'),
        "method[1].target",
        "orders-2",
    ),
    "target: not in the plan": (
        acting('action = "zk.expire"', 'target = "adding(orders-1)"'),
        "method[1].target",
        "not moved",
    ),
    "target: no role": (
        acting('action = "zk.expire"', 'target = "everyone"'),
        "method[1].target",
        "is no target",
    ),
    "target: fixed without number": (
        acting('action = "zk.expire"', 'target = { mode = "fixed" }'),
        "method[1].target.value",
        "give both",
    ),
    "peer: unknown broker": (
        acting('action = "link.cut"', "target = 1", "peer = 8"),
        "method[1].peer: broker 8",
        "0 to 6",
    ),
    "failing partition unknown": (
        acting('action = "fetcher.fail_partition"', "target = 1", 'partition = "orders-9"'),
        "method[1].partition",
        "unknown partition 'orders-9'",
    ),
    "created topic is there": (
        acting('action = "topic.create"', 'topic = { name = "orders" }'),
        "method[1].topic.name",
        "is there already",
    ),
    "held gate unknown": (
        acting('action = "gate.hold"', 'gate = { step = "wiki.13" }'),
        "method[1].gate.step",
        "unknown step 'wiki.13'",
    ),
    "step: unknown": (when('step = "move.strat"'), "method[1].when.step", "did you mean 'move.start'?"),
    "step: unknown in a list": (
        when('step = ["move.start", "wiki.99"]'),
        "method[1].when.step[1]",
        "unknown step",
    ),
    "step: of another strategy": (
        when('step = "kafka-6794.3"'),
        "method[1].when.step",
        "that have it: kafka-6794",
    ),
    "cancel without an API": (
        acting('action = "reassign.cancel"'),
        "method[1].action: strategy 'wiki' has no API",
        "that have it: kip-455",
    ),
    "list without an API": (acting('action = "reassign.list"'), "method[1].action", "has no API"),
    "execute by an API that is not there": (
        acting('action = "reassign.execute"', 'via = "api"'),
        "method[1].via",
        "that have it: kip-455",
    ),
    "execute by no known way": (
        acting('action = "reassign.execute"', 'via = "rpc"'),
        "method[1].via: unknown way",
        "known: zk, api",
    ),
    "cancel of an unknown partition": (
        acting('action = "reassign.cancel"', 'partitions = ["orders-7"]').replace('"wiki"', '"kip-455"'),
        "method[1].partitions[0]",
        "unknown partition 'orders-7'",
    ),
    "an error that no request is answered with": (
        acting('action = "reassign.execute"', 'expect_error = "NO_REASSIGNMENT"'),
        "method[1].expect_error: unknown error",
        "did you mean 'NO_REASSIGNMENT_IN_PROGRESS'?",
    ),
    "a plan of an action: unknown broker": (
        acting(
            'action = "reassign.execute"',
            'plan = { partitions = [{ topic = "orders", partition = 0, replicas = [7] }] }',
        ),
        "method[1].plan.partitions[0].replicas: broker 7",
        "0 to 6",
    ),
    "a plan of an action: no replicas": (
        acting(
            'action = "reassign.execute"',
            'plan = { partitions = [{ topic = "orders", partition = 0, replicas = [] }] }',
        ),
        "method[1].plan.partitions[0].replicas",
        "name at least one",
    ),
    "a plan of an action: in a file": (
        acting('action = "reassign.execute"', 'plan = { file = "move.json" }'),
        "method[1].plan.file",
        "unknown key 'file'",
    ),
    "step: unknown edge": (when('step = "wiki.3", edge = "afterwards"'), "method[1].when.edge", "'after'?"),
    "step: unknown partition": (
        when('step = "wiki.3", partition = "orders-8"'),
        "method[1].when.partition",
        "orders-8",
    ),
    "step: partition stays": (
        when('step = "wiki.3", partition = "orders-1"'),
        "method[1].when.partition",
        "not moved",
    ),
    "step: no partition name": (
        when('step = "wiki.3", partition = "orders"'),
        "method[1].when.partition",
        '"orders-0"',
    ),
    "step: unknown broker": (
        when('step = "broker-failure.1", broker = 9'),
        "method[1].when.broker",
        "0 to 6",
    ),
    "step: unknown topic": (when('step = "wiki.3", topic = "order"'), "method[1].when.topic", "'orders'?"),
    "step: hop of one hop": (when('step = "move.start", hop = 2'), "method[1].when.hop", "write 1 to 1"),
    "step: metric predicate": (when('metric = "isr_shrinks"'), "method[1].when.metric", "docs/limits.md"),
    "step: a shutdown that nobody asks for": (
        when('step = "shutdown.2"'),
        "method[1].when.step",
        "broker.controlled_shutdown",
    ),
    "election of an unknown partition": (
        acting('action = "election.preferred"', 'partitions = ["orders-0", "orders-7"]'),
        "method[1].partitions[1]: unknown partition 'orders-7'",
        "did you mean",
    ),
    "election of a partition twice": (
        acting('action = "election.preferred"', 'partitions = ["orders-0", "orders-0"]'),
        "method[1].partitions[1]",
        "listed twice",
    ),
    "election of no partition": (
        acting('action = "election.preferred"', "partitions = []"),
        "method[1].partitions",
        "name at least one",
    ),
    "settings of an unknown topic": (
        acting('action = "config.set"', 'topic = "order"', 'config = { "min.insync.replicas" = 2 }'),
        "method[1].topic: unknown topic 'order'",
        "did you mean 'orders'?",
    ),
    "a setting that cannot be changed": (
        acting('action = "config.set"', 'config = { "min.insync.replica" = 2 }'),
        "method[1].config.min.insync.replica",
        "did you mean 'min.insync.replicas'?",
    ),
    "a setting with a bad value": (
        acting('action = "config.set"', 'config = { "min.insync.replicas" = 0 }'),
        "method[1].config.min.insync.replicas",
        "from 1",
    ),
    "a topic's setting for all brokers": (
        acting('action = "config.set"', 'config = { "retention.ms" = 1000 }'),
        "method[1].config: retention.ms is a topic's",
        "'log.retention.ms'",
    ),
    "a broker's setting for a topic": (
        acting('action = "config.set"', 'topic = "orders"', 'config = { "log.retention.ms" = 1000 }'),
        "method[1].config: log.retention.ms is a broker's",
        "leave topic out",
    ),
    "a log directory that no disk has": (
        acting('action = "disk.full"', "target = 1", 'log_dir = "/data/1"'),
        "method[1].log_dir: no broker has a log directory '/data/1'",
        "did you mean '/data/0'?",
    ),
    "a partition's log and a log directory": (
        acting('action = "disk.fail"', "target = 1", 'log_dir = "/data/0"', 'partition = "orders-0"'),
        "method[1].log_dir",
        "leave log_dir out",
    ),
    "a slow disk that is not slow": (
        acting('action = "disk.slow"', "target = 1", 'log_dir = "any"'),
        "method[1]: nothing makes these disks slow",
        'write = "1MB/s"',
    ),
    "no setting": (acting('action = "config.set"', "config = {}"), "method[1].config", "min.insync.replicas"),
    "a shutdown of nobody": (
        acting('action = "broker.controlled_shutdown"'),
        "method[1]",
        "'target'",
    ),
    "a shutdown of an unknown broker": (
        acting('action = "broker.controlled_shutdown"', "target = 7"),
        "method[1].target: broker 7",
        "0 to 6",
    ),
    "an election that ends": (
        acting('action = "election.preferred"', 'duration = "5s"'),
        "method[1].duration",
        "takes no duration",
    ),
    "steady state: unknown metric": (
        small_and("[[steady_state]]", 'metric = "offline_partition"', "tolerance = 0"),
        "steady_state[0].metric",
        "'offline_partitions'?",
    ),
    "steady state: known at the end only": (
        small_and("[[steady_state]]", 'metric = "offline_s"', "tolerance = 0"),
        "steady_state[0].metric",
        "[[expect]]",
    ),
    "tolerance upside down": (
        small_and("[[steady_state]]", 'metric = "offline_partitions"', "tolerance = [2, 1]"),
        "steady_state[0].tolerance",
        "lower end first",
    ),
    "tolerance of one number": (
        small_and("[[steady_state]]", 'metric = "offline_partitions"', "tolerance = [2]"),
        "steady_state[0].tolerance",
        "two are needed",
    ),
    "expect nothing": (expecting('within = "1s"'), "expect[0]: 0 statements", "exactly one"),
    "expect two things": (
        expecting('step = "wiki.3"\ninvariant = "one_leader_per_epoch"'),
        "expect[0]: 2 statements",
        "one",
    ),
    "expect without limits": (expecting('metric = "leader_elections"'), "expect[0].tolerance", "write both"),
    "expect: unknown invariant": (
        expecting('invariant = "no_record_lost"'),
        "expect[0].invariant",
        "'no_acked_record_lost'?",
    ),
    "expect: unknown partition": (
        expecting('assignment = { "orders-5" = [1] }'),
        "expect[0].assignment",
        "orders-5",
    ),
    "expect: unknown broker": (
        expecting('leader = { "orders-0" = 9 }'),
        "expect[0].leader.orders-0",
        "0 to 6",
    ),
    "expect: unreachable step": (
        expecting('step = "kafka-6794.3"'),
        "expect[0].step",
        "that have it: kafka-6794",
    ),
    "unknown topic to delete": (
        acting('action = "topic.delete"', 'topic = "order"'),
        "method[1].topic: unknown topic 'order'",
        "did you mean 'orders'?",
    ),
    "topic to delete that is no name": (
        acting('action = "topic.delete"', 'topic = "or ders"'),
        "method[1].topic: 'or ders' is no topic name",
        "write 1 to 249",
    ),
    "topic to delete left out": (acting('action = "topic.delete"'), "method[1]", "needs 'topic'"),
    "topic deletion in a profile without": (
        acting('action = "topic.delete"', 'topic = "orders"').replace(
            'title =', 'profile = "wiki-text"\ntitle =', 1
        ),
        "method[1].action: profile 'wiki-text' knows no deletion of topics",
        "'kafka-2.3'",
    ),
    "step of a deletion that nobody asks for": (
        when('step = "delete.start"'),
        "method[1].when.step: step 'delete.start' is never reached",
        'add an entry with action = "topic.delete"',
    ),
    "topic expanded to what it has": (
        acting('action = "topic.expand"', 'topic = "orders"', "partitions = 1"),
        "method[1].partitions: 'orders' has 2 partitions by then",
        "write more than 2",
    ),
    "topic expanded after its deletion": (
        acting('action = "topic.delete"', 'topic = "orders"')
        + '[[method]]\nafter = "2s"\naction = "topic.expand"\ntopic = "orders"\npartitions = 2\n',
        "method[2].topic: topic 'orders' is deleted by then",
        "create it again",
    ),
    "added partitions with too few lists": (
        acting('action = "topic.expand"', 'topic = "orders"', "partitions = 4", "assignment = [[0, 1, 2]]"),
        "method[1].assignment: it lists 1 of 2 added partitions",
        "list each",
    ),
    "added partition with other replication": (
        acting('action = "topic.expand"', 'topic = "orders"', "partitions = 3", "assignment = [[0, 1]]"),
        "method[1].assignment[0]: 2 replicas where the replication factor is 3",
        "same number",
    ),
    "added partition on an unknown broker": (
        acting('action = "topic.expand"', 'topic = "orders"', "partitions = 3", "assignment = [[0, 1, 9]]"),
        "method[1].assignment[0]: broker 9 does not exist",
        "0 to 6",
    ),
    "added partition twice on a broker": (
        acting('action = "topic.expand"', 'topic = "orders"', "partitions = 3", "assignment = [[0, 1, 1]]"),
        "method[1].assignment[0][2]: 1 is listed twice",
        "once",
    ),
    "partition beyond those that are added": (
        acting('action = "topic.expand"', 'topic = "orders"', "partitions = 3")
        + '[[expect]]\nassignment = { "orders-3" = [0, 1, 2] }\n',
        "expect[0].assignment: unknown partition 'orders-3'",
        "did you mean 'orders-0'?",
    ),
}
