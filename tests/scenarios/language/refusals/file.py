"""Refused: the file's form, the cluster, the profile and the strategy."""

from tests.scenarios.language.builders import SMALL, small_and, small_with
from tests.scenarios.language.refusals.writing import Case

CASES: dict[str, Case] = {
    "broken TOML": (
        SMALL + "x = = 1",
        f"small.toml:{SMALL.count(chr(10)) + 1}:5: broken TOML",
        "correct the syntax",
    ),
    "no value": (
        SMALL + "x = \n",
        "broken TOML: a value is missing here, or a text has no quotes",
        "correct the syntax",
    ),
    "a key twice": (
        small_with("brokers = 7", "brokers = 7\nbrokers = 6"),
        "broken TOML: this key is there already",
        "c",
    ),
    "one bracket": (small_with("[[topics]]", "[topics]"), "topics: a table does not fit", "two brackets, [[...]]"),
    "no inner list": (
        small_with("[[0, 1, 2], [1, 2, 3]]", "[0, 1, 2]"),
        "topics[0].assignment: a list of lists is meant",
        "put each into [brackets] of its own",
    ),
    "unknown key": (
        small_with("horizon", "horizn"),
        "small.toml:3:1 horizn: unknown key",
        "did you mean 'horizon'?",
    ),
    "unknown nested key": (small_with("brokers = 7", "brokers = 7\nrack = 3"), "cluster.rack", "'racks'"),
    "a build that the release has not": (
        small_with("brokers = 7", 'brokers = 7\nscala = "2.13"'),
        "cluster.scala: profile 'kafka-2.3' is older than the builds for Scala 2.13",
        'write "2.12", or leave it out',
    ),
    "misspelt required key": (
        small_with("brokers = 7", "broker = 7"),
        "cluster.broker",
        "did you mean 'brokers'?",
    ),
    "missing key": (small_with("brokers = 7\n", ""), "cluster: the key 'brokers' is missing", "add it"),
    "unknown kind of chaos": (
        small_and("[[chaos]]", 'kind = "attritions"'),
        "chaos[0].kind: unknown kind of chaos",
        "did you mean 'attrition'?",
    ),
    "chaos without a kind": (small_and("[[chaos]]", "times = 3"), "chaos[0]: the key 'kind' is missing", "add it"),
    "unknown key of chaos": (
        small_and("[[chaos]]", 'kind = "attrition"', "time = 3"),
        "chaos[0].time: unknown key",
        "did you mean 'times'?",
    ),
    "range of chaos from most to least": (
        small_and("[[chaos]]", 'kind = "attrition"', "times = [3, 1]"),
        "chaos[0].times: the first value is more than the second",
        "write the least first",
    ),
    "chaos at no broker": (
        small_and("[[chaos]]", 'kind = "attrition"', "brokers = [7]"),
        "chaos[0].brokers: broker 7 does not exist",
        "from 0 to 6",
    ),
    "chaos of no topic": (
        small_and("[[chaos]]", 'kind = "moves"', 'topics = ["order"]'),
        "chaos[0].topics: unknown topic 'order'",
        "did you mean 'orders'?",
    ),
    "too few brokers of chaos": (
        small_and("[[chaos]]", 'kind = "cluster"', "brokers = [2, 5]"),
        "chaos[0].brokers: the file needs 7 brokers",
        "write 7 or more",
    ),
    "wrong schema": (small_with("scenario/1", "scenario/9"), "schema", "did you mean 'scenario/1'?"),
    "wrong type": (
        small_with("brokers = 7", 'brokers = "7"'),
        "cluster.brokers: the text '7'",
        "an integer from 1",
    ),
    "number for a duration": (small_with('"1m"', "60"), "horizon: the number 60", "500ms"),
    "unknown unit": (small_with('"1m"', '"1min"'), "horizon: '1min'", "unknown unit"),
    "no time at all": (small_with('"1m"', '"0s"'), "horizon", "too small"),
    "service time of no message": (
        small_with("brokers = 7", 'brokers = 7\nservice = { LeaderAndISR = "1ms" }'),
        "cluster.service.LeaderAndISR: unknown message",
        "did you mean 'LeaderAndIsr'?",
    ),
    "service time of partitions that are not named": (
        small_with("brokers = 7", 'brokers = 7\nservice = { "ControlledShutdown/partition" = "1ms" }'),
        "cluster.service.ControlledShutdown/partition",
        "write ControlledShutdown alone",
    ),
    "service time without its unit": (
        small_with("brokers = 7", "brokers = 7\nservice = { Fetch = 1 }"),
        "cluster.service.Fetch",
        "500ms",
    ),
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
    "a ZooKeeper that is too far away": (
        small_with("brokers = 7", 'brokers = 7\nzk = { rtt = "1s" }'),
        "cluster.zk.rtt: two round trips of 1s take as long as a third of the session timeout, 6s, or longer",
        'session_timeout = "6001ms" or more',
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
    "a setting of another release": (
        small_with("brokers = 7", 'brokers = 7\nconfig = { "replica.lag.max.messages" = 9 }'),
        "cluster.config.replica.lag.max.messages",
        "profiles that have it: kafka-0.8",
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
    "profile: a release's number": (small_with("horizon", 'profile = "2.4.1"\nhorizon'), "profile", "'kafka-2.4'?"),
    "profile: a release without one": (
        small_with("horizon", 'profile = "kafka-2.2"\nhorizon'),
        "profile: unknown profile 'kafka-2.2'",
        "known: kafka-0.8, kafka-1.1, kafka-2.3",
    ),
    "unknown profile": (small_with("horizon", 'profile = "kafka-2.33"\nhorizon'), "profile", "'kafka-2.3'?"),
}
