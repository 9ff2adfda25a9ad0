import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.AppInfoParser;

/** The driver of Kafka's own client: java -cp CLASS_PATH JavaDriver.java. */
public final class JavaDriver {
    private static final long COMMIT_MS = 300;
    private static volatile boolean ended;
    private final String plan;
    private final String name;
    private final String topic;
    private final int partitions;
    private final Properties settings = new Properties();

    private JavaDriver(String plan) {
        this.plan = plan;
        name = text("name");
        topic = text("topic");
        partitions = number("partitions");
        String inner = plan.substring(plan.indexOf("\"settings\""));
        Matcher each = Pattern.compile("\"([\\w.]+)\": (?:\"([^\"]*)\"|([^,{}]+))").matcher(inner.substring(inner.indexOf('{')));
        while (each.find()) {
            settings.put(each.group(1), each.group(2) != null ? each.group(2) : each.group(3).trim());
        }
        for (String kind : List.of("key", "value")) {
            settings.put(kind + ".serializer", ByteArraySerializer.class.getName());
            settings.put(kind + ".deserializer", ByteArrayDeserializer.class.getName());
        }
    }

    private String text(String key) {
        return found("\"" + key + "\": \"([^\"]*)\"");
    }

    private int number(String key) {
        return Integer.parseInt(found("\"" + key + "\": (\\d+)"));
    }

    private String found(String pattern) {
        Matcher one = Pattern.compile(pattern).matcher(plan);
        if (!one.find()) {
            throw new IllegalArgumentException("the plan has no " + pattern);
        }
        return one.group(1);
    }

    private static synchronized void say(String seen, String more) {
        System.out.println("{\"seen\": \"" + seen + "\"" + (more.isEmpty() ? "" : ", " + more) + "}");
        System.out.flush();
    }

    private static void sayError(Exception error) {
        say("error", "\"error\": \"" + error.getClass().getSimpleName() + "\"");
    }

    public static void main(String[] none) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        say("ready", "\"client\": \"java\", \"version\": \"" + AppInfoParser.getVersion() + "\"");
        JavaDriver driver = new JavaDriver(input.readLine());
        Thread watch = new Thread(() -> {
            try {
                while (input.readLine() != null) {
                    continue;
                }
            } catch (java.io.IOException error) {
                sayError(error);
            }
            ended = true;
        });
        watch.setDaemon(true);
        watch.start();
        switch (driver.text("role")) {
            case "produce" -> driver.produce();
            case "transact" -> driver.transact();
            default -> driver.consume();
        }
    }

    private void send(KafkaProducer<byte[], byte[]> producer, int number, String more) {
        int partition = number % partitions;
        String which = "\"record\": \"" + name + "-" + number + "\", \"partition\": " + partition;
        say("sent", which + more);
        try {
            byte[] value = (name + "-" + number).getBytes(StandardCharsets.UTF_8);
            producer.send(new ProducerRecord<>(topic, partition, null, value), (written, error) -> {
                if (error == null) {
                    say("acked", which + ", \"offset\": " + (written.hasOffset() ? written.offset() : -1));
                } else {
                    say("failed", which + ", \"error\": \"" + error.getClass().getSimpleName() + "\"");
                }
            });
        } catch (KafkaException error) {
            say("failed", which + ", \"error\": \"" + error.getClass().getSimpleName() + "\"");
        }
    }

    private boolean isDue(int count, long began) throws InterruptedException {
        if (count < (System.nanoTime() - began) / 1e9 * number("rate")) {
            return true;
        }
        Thread.sleep(2);
        return false;
    }

    private void produce() throws InterruptedException {
        long began = System.nanoTime();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings)) {
            for (int count = 0; !ended; ) {
                if (isDue(count, began)) {
                    send(producer, count++, "");
                }
            }
            producer.flush();
        }
    }

    private void transact() throws InterruptedException {
        int size = number("records");
        int aborted = number("aborted");
        long began = System.nanoTime();
        KafkaProducer<byte[], byte[]> producer = initialised();
        for (int count = 0; !ended; ) {
            if (!isDue(count + size - 1, began)) {
                continue;
            }
            int number = count / size + 1;
            try {
                carryOut(producer, number, count, size, number % aborted != 0);
            } catch (KafkaException | IllegalStateException error) {
                say("unknown", "\"transaction\": " + number + ", \"error\": \"" + error.getClass().getSimpleName() + "\"");
                producer.close(Duration.ZERO);
                producer = initialised();
            }
            count += size;
        }
        producer.close();
    }

    private KafkaProducer<byte[], byte[]> initialised() {
        while (true) {
            KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings);
            try {
                producer.initTransactions();
                return producer;
            } catch (KafkaException error) {
                sayError(error);
                producer.close(Duration.ZERO);
            }
        }
    }

    private void carryOut(KafkaProducer<byte[], byte[]> producer, int number, int first, int size, boolean commits) {
        producer.beginTransaction();
        String which = "\"transaction\": " + number;
        say("begun", which);
        for (int each = first; each < first + size; each++) {
            send(producer, each, ", " + which);
        }
        try {
            if (commits) {
                again(producer::commitTransaction);
                say("committed", which);
                return;
            }
        } catch (KafkaException error) {
            sayError(error);
        }
        again(producer::abortTransaction);
        say("aborted", which);
    }

    /** Kafka's client wants a call that has timed out to be repeated until its outcome is known. */
    private static void again(Runnable call) {
        while (true) {
            try {
                call.run();
                return;
            } catch (TimeoutException error) {
                sayError(error);
            }
        }
    }

    private void consume() {
        Map<TopicPartition, OffsetAndMetadata> read = new TreeMap<>((a, b) -> a.partition() - b.partition());
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings)) {
            consumer.subscribe(List.of(topic), listener(read));
            long due = System.currentTimeMillis() + COMMIT_MS;
            while (!ended) {
                try {
                    for (ConsumerRecord<byte[], byte[]> one : consumer.poll(Duration.ofMillis(100))) {
                        say("received", "\"record\": \"" + new String(one.value(), StandardCharsets.UTF_8)
                            + "\", \"partition\": " + one.partition() + ", \"offset\": " + one.offset());
                        read.put(new TopicPartition(topic, one.partition()), new OffsetAndMetadata(one.offset() + 1));
                    }
                } catch (KafkaException error) {
                    sayError(error);
                }
                if (System.currentTimeMillis() >= due) {
                    commit(consumer, read);
                    due = System.currentTimeMillis() + COMMIT_MS;
                }
            }
            commit(consumer, read);
        }
    }

    private static void commit(KafkaConsumer<byte[], byte[]> consumer, Map<TopicPartition, OffsetAndMetadata> read) {
        if (read.isEmpty()) {
            return;
        }
        try {
            consumer.commitSync(read);
            read.forEach((tp, at) -> say("committed", "\"partition\": " + tp.partition() + ", \"offset\": " + at.offset()));
            read.clear();
        } catch (KafkaException error) {
            sayError(error);
        }
    }

    private static ConsumerRebalanceListener listener(Map<TopicPartition, OffsetAndMetadata> read) {
        return new ConsumerRebalanceListener() {
            @Override
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                read.clear();
                say("revoked", "\"partitions\": " + numbers(partitions));
            }

            @Override
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                read.clear();
                say("assigned", "\"partitions\": " + numbers(partitions));
            }
        };
    }

    private static List<Integer> numbers(Collection<TopicPartition> partitions) {
        return new ArrayList<>(partitions.stream().map(TopicPartition::partition).sorted().collect(Collectors.toList()));
    }
}
