"""Refused: when an entry of the method acts."""

from tests.scenarios.language.builders import small_and, small_with
from tests.scenarios.language.refusals.writing import Case, acting, when

CASES: dict[str, Case] = {
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
    "step: metric without a limit": (when('metric = "isr_shrinks"'), "method[1].when.above", "write one limit"),
    "step: a shutdown that is never requested": (
        when('step = "shutdown.2"'),
        "method[1].when.step",
        "broker.controlled_shutdown",
    ),
    "step of a deletion that is never requested": (
        when('step = "delete.start"'),
        "method[1].when.step: step 'delete.start' is never reached",
        'add an entry with action = "topic.delete"',
    ),
}
