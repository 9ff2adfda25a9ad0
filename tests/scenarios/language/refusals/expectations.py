"""Refused: what is expected, and the steady state."""

from tests.scenarios.language.builders import small_and
from tests.scenarios.language.refusals.writing import Case, acting, expecting

CASES: dict[str, Case] = {
    "an error that no request is answered with": (
        acting('action = "reassign.execute"', 'expect_error = "NO_REASSIGNMENT"'),
        "method[1].expect_error: unknown error",
        "did you mean 'NO_REASSIGNMENT_IN_PROGRESS'?",
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
    "after an action that no entry performs": (
        expecting('isr = { "orders-0" = [0, 1, 2] }\nafter = "link.heal"'),
        "expect[0].after: no entry performs link.heal",
        "known: reassign.execute",
    ),
    "after an action, which time is no number": (
        expecting('isr = { "orders-0" = [0, 1, 2] }\nafter = "link.heal#last"'),
        "expect[0].after",
        '"link.heal#2" for the second time',
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
    "partition beyond those that are added": (
        acting('action = "topic.expand"', 'topic = "orders"', "partitions = 3")
        + '[[expect]]\nassignment = { "orders-3" = [0, 1, 2] }\n',
        "expect[0].assignment: unknown partition 'orders-3'",
        "the last one of orders is 'orders-2'",
    ),
}
