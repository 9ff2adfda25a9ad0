"""The meanings of the tables of the data set, column by column: texts for people, which files carry beside their
columns and docs/reference/dataset-tables.md is rendered from.

The columns and their types follow from the rows (``scenarios.runs.dataset.table_schemas``). A test checks that every
column
has its meaning here, and that nothing else does.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import Factory, frozen


@frozen
class Meaning:
    """The meaning of a column.

    Attributes:
        unit: the unit; empty for a column without one.
    """

    text: str
    unit: str = ""


@frozen
class ColumnMeaning:
    """The meaning of a table.

    Attributes:
        frequency: the occasion of each row.
        columns: the columns whose meaning is not the usual one of their name.
    """

    text: str
    frequency: str
    columns: Mapping[str, Meaning] = Factory(dict)

    def meaning(self, column: str) -> Meaning:
        """The meaning of a column. For a column without a description, as in the table of a plug-in, the text is
        empty."""
        found = self.columns.get(column) or USUAL.get(column) or Meaning("")
        return Meaning(found.text, "µs") if column.endswith("_us") else found


def _about(text: str, frequency: str, /, **columns: str | tuple[str, str]) -> ColumnMeaning:
    """A table's meaning. ``columns``: text, or unit and text."""
    meanings = {
        name: Meaning(told) if isinstance(told, str) else Meaning(told[1], told[0]) for name, told in columns.items()
    }
    return ColumnMeaning(text, frequency, meanings)


USUAL: Mapping[str, Meaning] = {
    "run_id": Meaning("the run"),
    "t_us": Meaning("virtual time"),
    "seq": Meaning("the event's place in the total order of the run"),
    "cause": Meaning("`seq` of the event that led to this one; 0 for none"),
    "w_us": Meaning("how long it held, from `t_us` on"),
    "topic": Meaning("topic"),
    "partition": Meaning("partition number"),
    "leader_epoch": Meaning("leader epoch"),
    "controller_epoch": Meaning("controller epoch"),
}
"""The meanings of columns that have the same in most tables."""

ABOUT: Mapping[str, ColumnMeaning] = {
    "runs": _about(
        "What was run, and what came of it. A run without a row here does not count.",
        "one row per run",
        seed="seed",
        profile="profile",
        scenario="digest of the scenario, before the run's own seed, strategy and grid",
        version="version of Understudy",
        code="digest of its code",
        grid='the arm\'s point of the grid, a JSON object: `{"strategy.throttle": "10MB/s"}`',
        status=(
            "`done`; or `failed`, when the program broke: then there is an `error`, what follows is null, and no other "
            "table has a row of the run"
        ),
        error="what broke, in one line; null for `done`",
        verdict="`passed` or `failed`: what was expected of the run",
        reason="why the verdict is `failed`, empty for passed",
        digest="digest of the trace",
        virtual_us="when the run ended",
        events="events in its trace",
        completed="whether every move finished; null when there was none",
    ),
    "figures": _about(
        "The figures that each run computed itself, the rows of `compare` and of its `--format json`.",
        "one row per figure of a run that is done",
        name="the figure, such as `under_min_isr_s` or `lag_p99`",
        value=(
            "s or ms where the name ends so",
            "null where the run has none, as the time of moves that did not end",
        ),
    ),
    "isr_events": _about(
        (
            "The state of each partition as ZooKeeper has it. It ends with the step `delete.partitions` of "
            "its topic's deletion; from then on Kafka's controller does not count it either."
        ),
        "one row per interval in which nothing in it changes; they tile the partition's life",
        leader="leader's id, -1 for none",
        isr="in-sync replicas",
        assignment="replicas in the topic's znode",
        original="replicas before the move that is open, else empty",
        target="replicas after it, else empty",
        min_isr="min.insync.replicas that holds for the topic",
        isr_live="members of the ISR whose process runs",
        under_replicated_assigned="ISR smaller than the assignment (Kafka up to 2.4)",
        under_replicated_draft="a replica from before the move is out of sync (KIP-352's draft)",
        under_replicated_final="replicas that the move does not add outnumber the ISR (KIP-352 as adopted in 2.5)",
        under_min_isr="ISR smaller than `min_isr`",
        offline="ZooKeeper names no leader",
    ),
    "replica_lag": _about(
        "The lag of each follower.",
        "one row per change, on a grid of 100 ms; while there is a lag also when the fetch offset moves",
        node="follower",
        leader="leader that ZooKeeper names",
        lag=(
            "records",
            (
                "Kafka's `ConsumerLag`: leader's high watermark less fetch offset; null while the follower does "
                "not fetch the partition"
            ),
        ),
        true_lag=("records", "distance between the two logs' ends"),
        fetch_offset=(
            "records",
            "the follower's fetch offset; null where `lag` is; while there is no lag it moves on within the row",
        ),
    ),
    "isr_changes": _about(
        "What leaders did to their ISR.",
        "one row per change",
        node="leader",
        kind="`shrink`, `expand`, or `failed` (lost against a newer version)",
        isr="the new ISR; null for `failed`",
        zk_version="version of the state znode; null for `failed`",
    ),
    "moves": _about(
        "The moves, from the operator's request on.",
        "one row per moved partition",
        original="replicas before",
        target="requested replicas",
        finished="whether it was done: it ended, and its target was the assignment; if not, `w_us` lasts until the "
        "run's end",
        failed="whether it ended and was not done: refused, or lost with all that asked for it",
        begun="whether a controller took it up",
    ),
    "added_replicas": _about(
        "What each replica received in a move that did not have the partition before it, nor got it with a topic that "
        "was made during it.",
        "one row per added replica that received anything",
        w_us="how long the move took; of an open one up to the run's end",
        node="the added replica",
        bytes=("bytes", "what it fetched"),
        lost_bytes=("bytes", "of these, what it lost again before the move ended: truncated, or deleted with its log"),
        assigned="whether it was in the assignment when the move ended; if not, all of `bytes` was wasted",
    ),
    "requests": _about(
        "Control requests that controllers sent.",
        "one row per request",
        api="`LeaderAndIsr`, `UpdateMetadata` or `StopReplica`",
        node="controller",
        broker="receiver",
        broker_epoch="broker epoch (KIP-380)",
        partitions="partition states in the request",
    ),
    "elections": _about(
        "Leaders chosen and written.",
        "one row per election",
        leader="new leader",
        isr="ISR it starts with",
        selector="`new` (a new partition's first), `offline`, `reassigned`",
        unclean="whether the leader was out of sync",
    ),
    "produce": _about(
        (
            "The outcome of each batch, as its producer knows it. A batch that is neither acknowledged nor "
            "given up when the run ends has a row of that time with the outcome `unfinished`: its latency is "
            "censored, `latency_us` is a lower bound. The figures `produce_p50_us`, `produce_p99_us` and "
            "`produce_max_us` count it with that; `unfinished_batches` and `unfinished_wait_us` say how many "
            "there are and how long the oldest has waited."
        ),
        "one row per batch",
        node="producer, -10 and below",
        id="the batch",
        acks="0, 1 or -1 (all)",
        error="`NONE`, or Kafka's name of the last error",
        base_offset=("records", "first offset, -1 if unknown"),
        next_offset=("records", "offset after the last, -1 if unknown"),
        leader="broker that answered, -1 for none",
        latency_us="from closing the batch to its outcome; of an unfinished one to the run's end",
        attempts="from 1; 0 for a batch that was never sent",
        outcome=("`acked`, `sent` (acks=0), `duplicate`, or given up: `failed`, `retries`, `expired`, or `unfinished`"),
    ),
    "leaps": _about(
        (
            "The leaps of a sampled run (docs/understand/sampled.md): times in which no message of clients and "
            "fetchers was simulated. What they brought is in the rows of the other tables that have this row's end as "
            "their time; `produce` has no rows of it."
        ),
        "one row per leap",
        batches="batches that producers would have closed meanwhile, about",
        reason="why it ended: `copy` (a replica caught up), `event`, `window`, `entry` or `limit`",
        stretch_us="begin of the stretch that stands for it: what is seen there has more weight",
        stretch_until_us="its end",
    ),
    "consume": _about(
        "What one poll returned to an application of one partition.",
        "one row per poll and partition",
        node="consumer, -1000000 and below",
        offset=("records", "first offset"),
        next_offset=("records", "offset after the last"),
        leader="broker that it came from",
        leader_epoch="leader epoch, as the consumer knew it",
        high_watermark=("records", "the last one that the consumer received"),
        delay_us=(
            "since a leader's high watermark passed the last of them; null where that was before the first "
            "consumer started"
        ),
    ),
    "consumer_lag": _about(
        "One consumer's lag in one partition: the leader's high watermark less the consumer's position.",
        "one row per change, on a grid of 100 ms",
        node="consumer, -1000000 and below",
        lag=("records", "committed and not yet read"),
    ),
    "faults": _about(
        "What the scenario did to the cluster.",
        "one row per action",
        action="the action",
        target="the brokers it hit, joined by commas",
        detail="kind of crash, or the partition that fails",
    ),
    "steps": _about(
        "The edges of protocol steps ([the list](scenario-file.md#steps)).",
        "one row per edge of a step",
        step="step",
        edge="`before` or `after`",
        broker="broker it is about, -1 for none",
        hop="hop of kafka-6794, 0 outside",
        node="broker that did it",
        detail="details, in words",
    ),
    "violations": _about(
        "Broken invariants of the [checkers](../understand/checkers.md).",
        "one row per violation, up to ten per checker",
        invariant="the checker's name",
        statement="what should have held; what was found",
    ),
    "losses": _about(
        "Acknowledged data that a later leader lacks.",
        "one row per finding, acks=all and acks=1 apart",
        acks="with which they were acknowledged: -1 (all) or 1",
        unclean="lost by an unclean election, acks=all",
        unflushed="lost with the machines of all in-sync replicas, which had not flushed them, acks=all (KIP-966)",
        batches=("batches", "how many"),
        records=("records", "how many"),
        id="id of the first batch",
        base_offset=("records", "where that batch was"),
        next_offset=("records", "where the last batch ended"),
        leader="the leader that lacks them",
        leader_epoch="its leader epoch",
        log_end_offset=("records", "where its log ends"),
    ),
    "fetchers": _about(
        "Starts and stops of replica fetcher threads, and KIP-461's failed partitions.",
        "one row per start, stop, failure or cleared failure",
        node="follower",
        kind="`started`, `stopped`, `failed` or `failure_cleared`",
        fetcher="the thread's name; null for `failure_cleared`",
        leader="the broker it fetches from; null for `failed` and `failure_cleared`",
        topic="topic; null where there is none",
        partition="partition number; null where there is none",
        reason="why; null for `started`",
        error="of `failed` and of a thread that died: Kafka's name of the code, or the exception's class; else null",
    ),
    "true_gauges": _about(
        "The true values of some of Kafka's gauges; `broker_metrics` has what brokers showed.",
        "one row per change",
        node="broker, -1 for the cluster",
        name="the MBean, such as `kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions`",
        value="the gauge",
    ),
    "broker_metrics": _about(
        (
            "What the brokers' own metrics showed ([which there are](../use/metrics.md)) (carry the last value "
            "forward, or look for the row in whose `w_us` a moment lies). Only in the data set of `run "
            "--trace`; a sweep leaves it out. Rates and quantiles are not there, nor is `MinFetchRate`, which"
            " is one: `understudy metrics` computes them. A metric without a row at some moment did not exist"
            " then; a broker that is down has none."
        ),
        "one row per change; a timer: one row for each time",
        node="broker",
        kind="`gauge`, `meter` or `timer`",
        name=(
            "the MBean with its type and tags, such as "
            "`kafka.cluster:type=Partition,name=UnderReplicated,topic=orders,partition=0`"
        ),
        topic="topic among its tags; null where there is none",
        partition="partition number among its tags; null where there is none",
        value="a gauge's value; what a meter has counted; what a timer has timed, in µs, one row for each time",
    ),
    "broker_traffic": _about(
        (
            "What each broker's meters counted: clients by BytesInPerSec and BytesOutPerSec, replication by "
            "ReplicationBytesInPerSec and ReplicationBytesOutPerSec."
        ),
        "one row per broker and second in which they counted",
        w_us="a second",
        node="broker",
        bytes_in=("bytes", "received from producers"),
        bytes_out=("bytes", "sent to consumers"),
        replication_bytes_in=("bytes", "received as follower; null where the release does not measure it"),
        replication_bytes_out=("bytes", "sent to followers; null where the release does not measure it"),
    ),
    "zk_writes": _about(
        "Writes that ZooKeeper applied, without what was written.",
        "one row per write",
        client="machine that sent the write, -1 for ZooKeeper itself",
        op="`create`, `setData` or `delete`",
        path="znode",
        version="data version after the write (before it, for `delete`)",
        zxid="transaction",
    ),
    "events": _about(
        ("The whole trace: every event of any kind. Only in the data set of `run --trace`; a sweep leaves it out."),
        "one row per event",
        kind="the event's class",
        node="its node, if it has one",
        topic="topic; null where there is none",
        partition="partition number; null where there is none",
        fields="the fields without a column here, a JSON object",
    ),
    "account": _about(
        "What `understudy run` printed of the run. Only in the data set of `run --trace`.",
        "one row per statement",
        t_us="when an expectation came true or was found broken; null where that is not known, and for the rest",
        part="`headline`, `expectation`, `known`, `drawn`, `explanation` (a line of it) or `replay`",
        label=("of a headline, its subject; of something known, the checkers; of a drawn value, its place in the file"),
        text="the statement",
        bad="the parts of the text that report harm",
        ok="whether an expectation held; null for the rest",
        found="what was found about an expectation",
    ),
}
"""The meaning of each table, by its name."""
