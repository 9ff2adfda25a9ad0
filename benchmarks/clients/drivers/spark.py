"""Spark's Kafka source in a structured streaming query, and its sink in one batch job after the other.

``UNDERSTUDY_SPARK_JARS`` has the class path of both. A query has no group: its offsets are in its checkpoint.
"""

import os
import time
from tempfile import TemporaryDirectory

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from benchmarks.clients.drivers.writing import TOPIC, arguments, write

PAUSE_S = 0.1
"""Between two jobs of the sink."""
LIMIT_S = 120.0
"""For the first record to arrive."""


def produce(spark: SparkSession, servers: str, seconds: float, rate: float) -> None:
    spark.range(1).write.format("noop").mode("overwrite").save()  # the first job takes seconds, whatever it does
    began = time.monotonic()
    first = 0
    while (elapsed := time.monotonic() - began) < seconds:
        due = int(elapsed * rate)
        if due > first:
            send(spark, servers, range(first, due))
            first = due
        time.sleep(PAUSE_S)


def send(spark: SparkSession, servers: str, numbers: range) -> None:
    """One job. It is acknowledged as a whole."""
    rows = spark.range(numbers.start, numbers.stop, 1, 1).selectExpr("CAST(id AS STRING) AS value")
    sink = rows.write.format("kafka").option("kafka.bootstrap.servers", servers).option("topic", TOPIC)
    try:
        sink.option("kafka.client.id", "producer").option("kafka.acks", "all").save()
    except (PySparkException, Py4JJavaError) as error:
        for number in numbers:
            write("failed", number, name(error))
    else:
        for number in numbers:
            write("acked", number)


def consume(spark: SparkSession, servers: str, seconds: float, _rate: float) -> None:
    late = [time.monotonic() + LIMIT_S]
    first: list[int] = []

    def received(rows: DataFrame, _batch: int) -> None:
        for row in rows.select(rows.value.cast("string").alias("value")).collect():
            write("received", int(row.value))
            if not first:
                first.append(int(row.value))
                late[0] = time.monotonic() + seconds

    options = {"kafka.bootstrap.servers": servers, "kafka.client.id": "consumer", "subscribe": TOPIC}
    spark.read.format("kafka").options(**options).load().collect()  # so that the query begins at once
    rows = spark.readStream.format("kafka").options(**options).option("startingOffsets", "earliest").load()
    with TemporaryDirectory() as checkpoint:
        query = rows.writeStream.foreachBatch(received).option("checkpointLocation", checkpoint).start()
        write("begun")
        try:
            while time.monotonic() < late[0] and not query.awaitTermination(1):
                pass
        except (PySparkException, Py4JJavaError) as error:
            write("error", error=name(error))
        query.stop()


def name(error: PySparkException | Py4JJavaError) -> str:
    """The class of what it was in the end, in Kafka's words where it came from Kafka."""
    text = str(error)
    found = [word.rsplit(".", 1)[-1].rstrip(":") for word in text.split() if word.startswith("org.apache.kafka.common")]
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    return next(iter(found[-1:]), condition or type(error).__name__)


def main() -> None:
    role, servers, seconds, rate = arguments()
    jars = os.environ["UNDERSTUDY_SPARK_JARS"].replace(os.pathsep, ",")
    builder = SparkSession.builder.master("local[1]").config("spark.jars", jars).config("spark.ui.enabled", "false")
    small = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
    spark = builder.config("spark.driver.memory", "600m").config("spark.driver.extraJavaOptions", small).getOrCreate()
    {"produce": produce, "consume": consume}[role](spark, servers, seconds, rate)
    spark.stop()


if __name__ == "__main__":
    main()
