"""Refused: entries of the method and the rollbacks."""

from tests.scenarios.language.builders import SMALL, small_and
from tests.scenarios.language.refusals.writing import Case, acting

CASES: dict[str, Case] = {
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
    "target: a broker as text": (
        acting('action = "zk.expire"', 'target = "broker 3"'),
        "method[1].target: 'broker 3' is no target",
        "a broker is written as its number: target = 3",
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
    "election of an unknown partition": (
        acting('action = "election.preferred"', 'partitions = ["orders-0", "orders-7"]'),
        "method[1].partitions[1]: unknown partition 'orders-7'",
        "the last one of orders is 'orders-1'",
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
    "a shutdown without a target": (
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
    "a log directory that would come back by itself": (
        acting('action = "log_dir.offline"', "target = 1", 'duration = "5s"'),
        "method[1].duration: a log directory that is offline returns only when its broker restarts",
        "add restart = true",
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
        acting('action = "topic.delete"', 'topic = "orders"').replace("title =", 'profile = "wiki-text"\ntitle =', 1),
        "method[1].action: profile 'wiki-text' knows no deletion of topics",
        "'kafka-2.3'",
    ),
    "records deleted of nothing": (
        acting('action = "records.delete"'),
        "method[1].topic",
        "neither or both of 'topic' and 'partitions'; write one of them",
    ),
    "records deleted of a topic and of partitions": (
        acting('action = "records.delete"', 'topic = "orders"', 'partitions = ["orders-0"]'),
        "method[1].topic",
        "neither or both of 'topic' and 'partitions'; write one of them",
    ),
    "records deleted of an unknown topic": (
        acting('action = "records.delete"', 'topic = "order"'),
        "method[1].topic: unknown topic 'order'",
        "did you mean 'orders'?",
    ),
    "records deleted of an unknown partition": (
        acting('action = "records.delete"', 'partitions = ["orders-9"]'),
        "method[1].partitions[0]: unknown partition 'orders-9'",
        "'orders-1'",
    ),
    "records deleted before a word": (
        acting('action = "records.delete"', 'topic = "orders"', 'before = "start"'),
        "method[1].before: the text 'start' does not fit",
        'an offset from 0, or "end"',
    ),
    "records deleted before a negative offset": (
        acting('action = "records.delete"', 'topic = "orders"', "before = -1"),
        "method[1].before",
        "an integer from 0",
    ),
    "records deleted before there was DeleteRecords": (
        acting('action = "records.delete"', 'topic = "orders"').replace("title =", 'profile = "kafka-0.8"\ntitle =', 1),
        "method[1].action: profile 'kafka-0.8' deletes no records on request",
        "'kafka-1.1'",
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
}
