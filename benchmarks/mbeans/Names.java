import com.sun.tools.attach.VirtualMachine;
import java.util.Arrays;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** Prints the name of each MBean of Kafka in a Java process on this machine, a tab, and its attributes. */
class Names {
    public static void main(String[] words) throws Exception {
        var process = VirtualMachine.attach(words[0]);
        try (var connector = JMXConnectorFactory.connect(new JMXServiceURL(process.startLocalManagementAgent()))) {
            MBeanServerConnection server = connector.getMBeanServerConnection();
            for (ObjectName name : server.queryNames(new ObjectName("kafka.*:*"), null)) {
                var attributes = Arrays.stream(server.getMBeanInfo(name).getAttributes()).map(MBeanAttributeInfo::getName);
                System.out.println(name + "\t" + String.join(" ", attributes.sorted().toList()));
            }
        }
    }
}
