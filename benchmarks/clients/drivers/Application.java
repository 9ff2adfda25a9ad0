// kafka-clients, 2.4 to 3.9: producers that send numbered records, and consumers of a group.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

public class Application {
    // What a job says, and the setting of the client that it is. What no job says is the client's own default.
    static final Map<String, String> SETTINGS = Map.of("name", "client.id", "group", "group.id", "acks", "acks",
        "compression", "compression.type", "idempotent", "enable.idempotence", "session_ms", "session.timeout.ms",
        "heartbeat_ms", "heartbeat.interval.ms");

    static volatile int allowed = Integer.MAX_VALUE;
    static volatile boolean ended = false;

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("jobs")) jobs(arguments[1]);
        else carryOut(arguments[0], arguments[1], Map.of("seconds", arguments[2], "rate", arguments[3]));
        System.exit(0);
    }

    static void jobs(String servers) throws Exception {
        var lines = new BufferedReader(new InputStreamReader(System.in));
        var running = new ArrayList<Thread>();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("allow")) {
                allowed = Integer.parseInt(words[1]);
                continue;
            }
            Map<String, String> job = new HashMap<>();
            for (int word = 1; word < words.length; word++) job.put(words[word].split("=")[0], words[word].split("=")[1]);
            running.add(new Thread(() -> carryOut(words[0], servers, job)));
            running.get(running.size() - 1).start();
        }
        ended = true;
        allowed = Integer.MAX_VALUE;
        for (Thread each : running) each.join();
    }

    static void carryOut(String role, String servers, Map<String, String> job) {
        try {
            if (role.equals("produce")) produce(servers, job);
            else consume(servers, job);
        } catch (Exception error) {
            write("error", -1, error, job);
            throw new IllegalStateException(error);
        }
    }

    static Map<String, Object> settings(Map<String, Object> usual, Map<String, String> job) {
        var settings = new HashMap<>(usual);
        job.forEach((key, value) -> { if (SETTINGS.containsKey(key)) settings.put(SETTINGS.get(key), value); });
        return settings;
    }

    static double number(Map<String, String> job, String key) {
        return job.containsKey(key) ? Double.parseDouble(job.get(key)) : Double.POSITIVE_INFINITY;
    }

    static void produce(String servers, Map<String, String> job) throws Exception {
        var settings = settings(Map.of("bootstrap.servers", servers, "client.id", "producer", "acks", "all"), job);
        var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        double seconds = number(job, "seconds"), rate = number(job, "rate"), records = number(job, "records");
        Integer partitions = job.containsKey("partitions") ? Integer.valueOf(job.get("partitions")) : null;
        String topic = job.getOrDefault("topic", "orders");
        long began = System.nanoTime();
        for (int record = 0; since(began) < seconds && record < records; ) {
            if (record >= since(began) * rate || record >= allowed) {
                Thread.sleep(1);
                continue;
            }
            int number = record++;
            Integer partition = partitions == null ? null : number % partitions;
            var value = new ProducerRecord<String, String>(topic, partition, null, String.valueOf(number));
            try {
                producer.send(value, (written, error) -> write(error == null ? "acked" : "failed", number, error, job));
            } catch (KafkaException error) {
                write("failed", number, error, job);
            }
        }
        producer.close(Duration.ofSeconds(60));
    }

    static void consume(String servers, Map<String, String> job) throws Exception {
        Map<String, Object> usual = Map.of("bootstrap.servers", servers, "client.id", "consumer",
            "group.id", "readers", "auto.offset.reset", "earliest");
        var consumer = new KafkaConsumer<>(settings(usual, job), new StringDeserializer(), new StringDeserializer());
        double seconds = number(job, "seconds"), records = number(job, "records");
        consumer.subscribe(List.of(job.getOrDefault("topic", "orders")));
        long began = System.nanoTime();
        int received = 0;
        while (since(began) < seconds && received < records && !ended) {
            try {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100))) {
                    write("received", Integer.parseInt(record.value()), null, job);
                    received++;
                }
            } catch (KafkaException error) {
                write("error", -1, error, job);
                Thread.sleep(100);
            }
        }
        consumer.close();
    }

    static double since(long began) {
        return (System.nanoTime() - began) / 1e9;
    }

    static synchronized void write(String kind, int record, Exception error, Map<String, String> job) {
        String name = error == null ? "" : error.getClass().getSimpleName();
        System.out.println("{\"t_s\": " + System.currentTimeMillis() / 1000.0 + ", \"kind\": \"" + kind
            + "\", \"record\": " + record + ", \"error\": \"" + name + "\", \"name\": \""
            + job.getOrDefault("name", "") + "\"}");
    }
}
