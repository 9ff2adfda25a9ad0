// kafka-clients, 2.4 to 3.9: a producer that sends numbered records, and a consumer of a group.

import java.time.Duration;
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
    static final String TOPIC = "orders";

    public static void main(String[] arguments) throws Exception {
        double seconds = Double.parseDouble(arguments[2]);
        double rate = Double.parseDouble(arguments[3]);
        if (arguments[0].equals("produce")) produce(arguments[1], seconds, rate);
        else consume(arguments[1], seconds);
        System.exit(0);
    }

    static void produce(String servers, double seconds, double rate) throws Exception {
        Map<String, Object> settings = Map.of("bootstrap.servers", servers, "client.id", "producer", "acks", "all");
        var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        long began = System.nanoTime();
        for (int record = 0; since(began) < seconds; ) {
            if (record >= since(began) * rate) {
                Thread.sleep(1);
                continue;
            }
            int number = record++;
            var value = new ProducerRecord<String, String>(TOPIC, String.valueOf(number));
            try {
                producer.send(value, (written, error) -> write(error == null ? "acked" : "failed", number, error));
            } catch (KafkaException error) {
                write("failed", number, error);
            }
        }
        producer.close(Duration.ofSeconds(60));
    }

    static void consume(String servers, double seconds) throws Exception {
        Map<String, Object> settings = new HashMap<>(Map.of("bootstrap.servers", servers, "client.id", "consumer",
            "group.id", "readers", "auto.offset.reset", "earliest"));
        var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        consumer.subscribe(List.of(TOPIC));
        long began = System.nanoTime();
        while (since(began) < seconds) {
            try {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100)))
                    write("received", Integer.parseInt(record.value()), null);
            } catch (KafkaException error) {
                write("error", -1, error);
                Thread.sleep(100);
            }
        }
        consumer.close();
    }

    static double since(long began) {
        return (System.nanoTime() - began) / 1e9;
    }

    static synchronized void write(String kind, int record, Exception error) {
        String name = error == null ? "" : error.getClass().getSimpleName();
        System.out.println("{\"t_s\": " + System.currentTimeMillis() / 1000.0 + ", \"kind\": \"" + kind
            + "\", \"record\": " + record + ", \"error\": \"" + name + "\"}");
    }
}
