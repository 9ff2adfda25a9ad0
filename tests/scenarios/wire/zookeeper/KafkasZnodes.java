import java.lang.reflect.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import kafka.cluster.EndPoint;
import kafka.zk.*;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import scala.Option;
import scala.collection.JavaConverters;

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
    print("/controller", ControllerZNode.encode(1, 1234567890123L));
    print("/cluster/id", ClusterIdZNode$.MODULE$.toJson("AAAAAAAAAAAAAAAAAAAAAA"));
    print("/config/topics/orders", ConfigEntityZNode$.MODULE$.encode(new Properties() {{ put("retention.ms", "7000"); }}));
    print("/config/changes/config_change_0000000000", ConfigEntityChangeNotificationSequenceZNode$.MODULE$.encode("topics/orders"));
  }
}
