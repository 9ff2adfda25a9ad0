import java.lang.reflect.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import kafka.cluster.EndPoint;
import kafka.zk.*;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import scala.Option;
import scala.collection.JavaConverters;

/** Prints what a release of Kafka writes into its znodes: java -cp JARS KafkasZnodes.java VERSION-OF-REGISTRATION. */
public class KafkasZnodes {
  static void print(String path, Object bytes) {
    System.out.println(path + "\t" + new String((byte[]) bytes, StandardCharsets.UTF_8));
  }
  public static void main(String[] words) throws Exception {
    int version = Integer.parseInt(words[0]);
    List<EndPoint> one = List.of(new EndPoint("127.0.0.1", 9093, new ListenerName("PLAINTEXT"), SecurityProtocol.PLAINTEXT));
    Object endpoints = JavaConverters.asScalaBuffer(one).toSeq();
    for (Option<String> rack : List.of(Option.<String>apply(null), Option.apply("rack-1"))) {
      for (Method each : BrokerIdZNode$.class.getMethods()) {
        if (!each.getName().equals("encode") || each.getParameterCount() < 6) continue;
        List<Object> given = new ArrayList<>(List.of(version, "127.0.0.1", 9093, endpoints, -1, rack));
        if (each.getParameterCount() > 6)
          given.add(Class.forName("org.apache.kafka.common.feature.Features").getMethod("emptySupportedFeatures").invoke(null));
        print("/brokers/ids/1", each.invoke(BrokerIdZNode$.MODULE$, given.toArray()));
      }
    }
    if (version >= 5) {
      Object status = ((scala.Enumeration) Class.forName("kafka.zk.FeatureZNodeStatus$").getField("MODULE$").get(null)).apply(1);
      Class<?> node = Class.forName("kafka.zk.FeatureZNode$");
      Object none = Class.forName("org.apache.kafka.common.feature.Features").getMethod("emptyFinalizedFeatures").invoke(null);
      for (Method each : node.getMethods()) {
        if (!each.getName().equals("apply")) continue;
        Object feature = each.invoke(node.getField("MODULE$").get(null), status, none);
        print("/feature", node.getMethod("encode", feature.getClass()).invoke(node.getField("MODULE$").get(null), feature));
      }
    }
    print("/controller", ControllerZNode.encode(1, 1234567890123L));
    print("/cluster/id", ClusterIdZNode$.MODULE$.toJson("AAAAAAAAAAAAAAAAAAAAAA"));
    print("/config/topics/orders", ConfigEntityZNode$.MODULE$.encode(new Properties() {{ put("retention.ms", "7000"); }}));
    print("/config/changes/config_change_0000000000", ConfigEntityChangeNotificationSequenceZNode$.MODULE$.encode("topics/orders"));
  }
}
