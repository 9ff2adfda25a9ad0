"""The driver of Spark's Kafka source and sink: a structured query that reads, and one batch job after the other that
writes.

A query is in no group: its offsets are in its checkpoint. The sink has no transactions, so these are those of the
kafka-clients that source and sink bring along, called in Spark's own process.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from tempfile import TemporaryDirectory
from typing import Any, cast

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from scenarios.studies.clients.drivers.driver_reports import Driven

JARS = "UNDERSTUDY_SPARK_JARS"
PAUSE_S, AGAIN_S = 0.05, 0.2
COLUMNS = "value string, partition int"
FAILED = (PySparkException, Py4JError)


def begun() -> SparkSession:
    """A session that has carried out a job, a query, and one of each with a server that is not there: the first of
    each takes seconds, whatever it does."""
    jars = os.environ[JARS].replace(os.pathsep, ",")
    small = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
    settings: dict[str, Any] = {
        "spark.jars": jars, "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "600m", "spark.driver.extraJavaOptions": small, "spark.sql.codegen.wholeStage": "false",
    }  # fmt: skip
    spark = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    nowhere = {"kafka.bootstrap.servers": "127.0.0.1:1", "kafka.max.block.ms": "1", "topic": "none"}
    with suppress(*FAILED):
        spark.createDataFrame([("none", 0)], COLUMNS).write.format("kafka").options(**nowhere).save()
    with TemporaryDirectory() as folder:
        rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
        query = rows.writeStream.foreachBatch(_job).option("checkpointLocation", folder)
        query.trigger(availableNow=True).start().awaitTermination()
    nowhere = {"kafka.bootstrap.servers": "127.0.0.1:1", "kafka.default.api.timeout.ms": "1", "subscribe": "none"}
    with suppress(*FAILED):
        spark.read.format("kafka").options(**nowhere, **{"kafka.request.timeout.ms": "1"}).load().collect()
    return spark


def _job(rows: DataFrame, _batch: int) -> None:
    rows.write.format("noop").mode("overwrite").save()


def options(driven: Driven) -> dict[str, str]:
    """The settings of the client as options of source and sink."""
    return {f"kafka.{name}": _word(value) for name, value in driven.settings.items()}


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def error_name(error: BaseException) -> str:
    """The class of what it was in the end, in Kafka's words where it came from Kafka."""
    found = [word.rsplit(".", 1)[-1].rstrip(":") for word in str(error).split() if "org.apache.kafka.common" in word]
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    return next(iter(found[-1:]), condition or type(error).__name__)


def produce(spark: SparkSession, driven: Driven) -> None:
    held: list[tuple[str, int]] = []
    for due in driven.records():
        if due is not None:
            held.append(due)
            continue
        if held:
            write(spark, driven, held)
            held = []
        time.sleep(PAUSE_S)
    if held:
        write(spark, driven, held)


def write(spark: SparkSession, driven: Driven, records: list[tuple[str, int]]) -> None:
    """Write records by one job of one task. It is acknowledged as a whole."""
    for record, partition in records:
        driven.say("sent", record=record, partition=partition)
    rows = spark.createDataFrame(records, COLUMNS)
    try:
        rows.write.format("kafka").options(**options(driven)).option("topic", driven.topic).save()
    except FAILED as error:
        for record, partition in records:
            driven.say("failed", record=record, partition=partition, error=error_name(error))
    else:
        for record, partition in records:
            driven.say("acked", record=record, partition=partition, offset=-1)


class SparkReader:
    """A query, with its checkpoint. What ends it is reported, and it is started again from there.

    Attributes:
        read: the offset after the last record of each partition in the batch under way; the query commits it when it
            begins the next one.
    """

    def __init__(self, spark: SparkSession, driven: Driven, checkpoint: str) -> None:
        self.driven, self.read, self.batch = driven, dict[int, int](), -1
        source = spark.readStream.format("kafka").options(**options(driven)).option("subscribe", driven.topic)
        self.rows = source.option("startingOffsets", "earliest").load()
        self.checkpoint = checkpoint

    def start(self) -> StreamingQuery:
        self.read.clear()
        self.driven.say("assigned", partitions=list(range(self.driven.partitions)))
        return self.rows.writeStream.foreachBatch(self.take).option("checkpointLocation", self.checkpoint).start()

    def take(self, rows: DataFrame, batch: int) -> None:
        for partition, offset in sorted(self.read.items()):
            self.driven.say("committed", partition=partition, offset=offset)
        self.read.clear()
        for row in rows.selectExpr("CAST(value AS STRING) AS value", "partition", "offset").collect():
            self.driven.say("received", record=row.value, partition=row.partition, offset=row.offset)
            self.read[row.partition] = row.offset + 1


def consume(spark: SparkSession, driven: Driven) -> None:
    with TemporaryDirectory() as checkpoint:
        reader = SparkReader(spark, driven, checkpoint)
        query = reader.start()
        while driven.goes_on:
            try:
                ended = query.awaitTermination(1)
            except FAILED as error:
                driven.say("error", error=error_name(error))
                time.sleep(AGAIN_S)
                ended = True
            if ended:
                query = reader.start()
        query.stop()


class SparksOwnClient:
    """Transactions of the kafka-clients of source and sink.

    Attributes:
        java: the packages of Spark's process.
    """

    def __init__(self, spark: SparkSession, driven: Driven) -> None:
        self.driven, self.java = driven, cast("Any", spark)._jvm
        self.settings = self.java.java.util.HashMap()
        for name, value in driven.settings.items():
            self.settings.put(name, _word(value))
        self.producer = self.initialised()

    def initialised(self) -> Any:
        kafka = self.java.org.apache.kafka
        text = kafka.common.serialization.StringSerializer
        while True:
            producer = kafka.clients.producer.KafkaProducer(self.settings, text(), text())
            try:
                producer.initTransactions()
                return producer
            except Py4JJavaError as error:
                self.driven.say("error", error=java_name(error))
                self.close(producer)

    def close(self, producer: Any) -> None:
        producer.close(self.java.java.time.Duration.ofMillis(0))

    def carry_out(self, number: int, records: list[tuple[str, int]], commits: bool) -> None:
        """Carry out one transaction. Raises: Py4JJavaError where its outcome is unknown and the producer of no more
        use."""
        record_of = self.java.org.apache.kafka.clients.producer.ProducerRecord
        self.producer.beginTransaction()
        self.driven.say("begun", transaction=number)
        under_way = []
        for record, partition in records:
            self.driven.say("sent", record=record, partition=partition, transaction=number)
            under_way.append(self.producer.send(record_of(self.driven.topic, partition, None, record)))
        if not commits or not self.committed(number):
            self.again(self.producer.abortTransaction)
            self.driven.say("aborted", transaction=number)
            return
        for (record, partition), written in zip(records, under_way, strict=True):
            self.driven.say("acked", record=record, partition=partition, offset=written.get().offset())

    def committed(self, number: int) -> bool:
        """Whether a transaction could be committed; if not it has to be aborted."""
        try:
            self.again(self.producer.commitTransaction)
        except Py4JJavaError as error:
            self.driven.say("error", error=java_name(error), transaction=number)
            return False
        self.driven.say("committed", transaction=number)
        return True

    def again(self, call: Callable[[], object]) -> None:
        """Kafka's client wants a call that has timed out to be repeated until its outcome is known."""
        while True:
            try:
                call()
                return
            except Py4JJavaError as error:
                if java_name(error) != "TimeoutException":
                    raise
                self.driven.say("error", error="TimeoutException")


def java_name(error: Py4JJavaError) -> str:
    return str(error.java_exception.getClass().getSimpleName())


def transact(spark: SparkSession, driven: Driven) -> None:
    client = SparksOwnClient(spark, driven)
    for due in driven.transactions():
        if due is None:
            time.sleep(0.002)
            continue
        number, records, commits = due
        try:
            client.carry_out(number, records, commits)
        except Py4JJavaError as error:
            driven.say("unknown", transaction=number, error=java_name(error))
            client.close(client.producer)
            client.producer = client.initialised()
    client.producer.close()


ROLES = {"produce": produce, "consume": consume, "transact": transact}

if __name__ == "__main__":
    reports = os.dup(1)
    os.dup2(2, 1)  # whatever Java writes is no report
    sys.stdout = os.fdopen(reports, "w", encoding="utf-8")
    spark = begun()
    client: Any = cast("Any", spark)._jvm.org.apache.kafka.common.utils.AppInfoParser.getVersion()
    driven = Driven("spark", f"{spark.version} (kafka-clients {client})")
    ROLES[driven.plan["role"]](spark, driven)
    spark.stop()
