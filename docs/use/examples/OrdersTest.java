// Does my producer survive its leader? A program of one file, with kafka-clients 2.1 or newer on the class path:
//   pip install understudy; java -cp "kafka-clients.jar:slf4j-api.jar" OrdersTest.java
// UNDERSTUDY names the command, where it is not on the path.

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;

public class OrdersTest {
    static final List<String> UNDERSTUDY =
        List.of(System.getenv().getOrDefault("UNDERSTUDY", "understudy").split(" "));
    static final String SCENARIO = """
        title = "orders"
        attached = ["billing"]
        [cluster]
        brokers = 3
        config = { "min.insync.replicas" = 2 }
        [[topics]]
        name = "orders"
        assignment = [[0, 1, 2]]
        """;

    public static void main(String[] arguments) throws Exception {
        Path folder = Files.createTempDirectory("orders-");
        Path scenario = Files.writeString(folder.resolve("orders.toml"), SCENARIO);
        Path ready = folder.resolve("ready.json");
        Path run = folder.resolve("run");
        Process served = understudy("serve", scenario.toString(), "--ready-file", ready.toString(), "--rate", "4",
            "--record", run.toString(), "--quiet");
        while (!Files.exists(ready)) Thread.sleep(50);
        String cluster = Files.readString(ready);
        try {
            noAcknowledgedOrderIsLostWhenTheLeaderDies(value(cluster, "bootstrap_servers"), value(cluster, "control"));
        } finally {
            understudy("ctl", "--control", value(cluster, "control"), "stop").waitFor();
        }
        if (served.waitFor() != 0) throw new AssertionError("understudy replay " + run);
        System.out.println("passed");
        System.exit(0);
    }

    static void noAcknowledgedOrderIsLostWhenTheLeaderDies(String servers, String control) throws Exception {
        Map<String, Object> settings = Map.of("bootstrap.servers", servers, "client.id", "billing", "acks", "all",
            "delivery.timeout.ms", 60000, "max.block.ms", 60000);
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            for (int order = 0; order < 100; order++) {
                sent.add(producer.send(new ProducerRecord<>("orders", "order " + order)));
                if (order == 50) understudy("ctl", "--control", control, "crash", "leader(orders-0)").waitFor();
            }
        }
        long last = 0;
        for (Future<RecordMetadata> one : sent) last = Math.max(last, one.get().offset()); // throws where it is lost
        if (last < 99) throw new AssertionError("the last offset is " + last);
    }

    static Process understudy(String... words) throws Exception {
        List<String> command = new ArrayList<>(UNDERSTUDY);
        command.addAll(List.of(words));
        return new ProcessBuilder(command).inheritIO().start();
    }

    /** The value of a key in the ready file, which is JSON in one line. */
    static String value(String json, String key) {
        Matcher found = Pattern.compile("\"" + key + "\": *\"([^\"]*)\"").matcher(json);
        if (!found.find()) throw new AssertionError(key + " is not in " + json);
        return found.group(1);
    }
}
