import java.time.Duration;
import java.util.*;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.acl.*;
import org.apache.kafka.common.config.*;
import org.apache.kafka.common.resource.*;
import org.apache.kafka.common.serialization.*;

/** One request of each kind that Kafka's own clients send: producer, transactional producer, consumer, admin client. */
public class SendEverything {
    static final TopicPartition ORDERS = new TopicPartition("orders", 0);

    interface Step {
        void run() throws Exception;
    }

    static void attempt(Step step) {
        try {
            step.run();
        } catch (Exception error) {
            System.err.println(error);
        }
    }

    public static void main(String[] args) {
        var common = new HashMap<String, Object>(Map.of("bootstrap.servers", args[0], "client.id", "app"));
        var strings = new StringSerializer();
        attempt(() -> {
            try (var producer = new KafkaProducer<>(common, strings, strings)) {
                producer.send(new ProducerRecord<>("orders", "key", "value")).get(5, TimeUnit.SECONDS);
            }
        });
        attempt(() -> {
            var settings = new HashMap<>(common);
            settings.putAll(Map.of("transactional.id", "transfer", "max.block.ms", 5000));
            var producer = new KafkaProducer<>(settings, strings, strings);
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("orders", "key", "value")).get(5, TimeUnit.SECONDS);
            var group = new ConsumerGroupMetadata("readers");
            attempt(() -> producer.sendOffsetsToTransaction(Map.of(ORDERS, new OffsetAndMetadata(5)), group));
            attempt(producer::commitTransaction);
            producer.close(Duration.ofSeconds(1));
        });
        attempt(() -> {
            var settings = new HashMap<>(common);
            settings.putAll(Map.of("group.id", "readers", "auto.offset.reset", "earliest", "heartbeat.interval.ms", 100));
            var read = new StringDeserializer();
            try (var consumer = new KafkaConsumer<>(settings, read, read)) {
                consumer.subscribe(List.of("orders"));
                for (int i = 0; i < 10; i++) consumer.poll(Duration.ofMillis(200));
                consumer.commitSync(Map.of(ORDERS, new OffsetAndMetadata(5, Optional.of(1), "here")), Duration.ofSeconds(2));
            }
        });
        try (var admin = Admin.create(common)) {
            administer(admin);
        }
    }

    static void administer(Admin admin) {
        var topic = new ConfigResource(ConfigResource.Type.TOPIC, "orders");
        var retention = new AlterConfigOp(new ConfigEntry("retention.ms", "1000"), AlterConfigOp.OpType.SET);
        var target = Optional.of(new NewPartitionReassignment(List.of(1, 2)));
        var replica = new TopicPartitionReplica("orders", 0, 0);
        var calls = List.<Step>of(
            () -> done(admin.describeCluster().nodes()),
            () -> done(admin.createTopics(List.of(new NewTopic("new", Map.of(0, List.of(1, 2))))).all()),
            () -> done(admin.deleteTopics(List.of("new")).all()),
            () -> done(admin.createPartitions(Map.of("orders", NewPartitions.increaseTo(3))).all()),
            () -> done(admin.describeConfigs(List.of(topic)).all()),
            () -> done(admin.incrementalAlterConfigs(Map.of(topic, List.of(retention))).all()),
            () -> done(admin.alterPartitionReassignments(Map.of(ORDERS, target)).all()),
            () -> done(admin.listPartitionReassignments().reassignments()),
            () -> done(admin.electLeaders(ElectionType.PREFERRED, Set.of(ORDERS)).all()),
            () -> done(admin.describeLogDirs(List.of(0)).allDescriptions()),
            () -> done(admin.alterReplicaLogDirs(Map.of(replica, "/data")).all()),
            () -> done(admin.deleteRecords(Map.of(ORDERS, RecordsToDelete.beforeOffset(3))).all()),
            () -> done(admin.listOffsets(Map.of(ORDERS, OffsetSpec.latest())).all()),
            () -> done(admin.listConsumerGroups().all()),
            () -> done(admin.describeConsumerGroups(List.of("readers")).all()),
            () -> done(admin.listConsumerGroupOffsets("readers").partitionsToOffsetAndMetadata()),
            () -> done(admin.deleteConsumerGroupOffsets("readers", Set.of(ORDERS)).all()),
            () -> done(admin.deleteConsumerGroups(List.of("readers")).all()),
            () -> done(admin.describeAcls(new AclBindingFilter(ResourcePatternFilter.ANY, AccessControlEntryFilter.ANY)).values())
        );
        for (var call : calls) attempt(call);
    }

    static void done(KafkaFuture<?> future) throws Exception {
        future.get(2, TimeUnit.SECONDS);
    }
}
