import com.sun.tools.attach.VirtualMachine;
import java.util.Arrays;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** Prints the name of each MBean of Kafka in a Java process on this machine, a tab, and its attributes; with a second word
 *  the value of that attribute alone, of those that have it. */
class Names {
    public static void main(String[] words) throws Exception {
        var process = VirtualMachine.attach(words[0]);
        try (var connector = JMXConnectorFactory.connect(new JMXServiceURL(process.startLocalManagementAgent()))) {
            MBeanServerConnection server = connector.getMBeanServerConnection();
            for (ObjectName name : server.queryNames(new ObjectName("kafka.*:*"), null)) {
                if (words.length > 1) {
                    var found = server.getAttributes(name, new String[] {words[1]}).asList();
                    found.forEach(each -> System.out.println(name + "\t" + each.getValue()));
                    continue;
                }
                var attributes = Arrays.stream(server.getMBeanInfo(name).getAttributes()).map(MBeanAttributeInfo::getName);
                System.out.println(name + "\t" + String.join(" ", attributes.sorted().toList()));
            }
        }
    }
}
