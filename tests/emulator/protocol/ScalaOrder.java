import java.util.Scanner;
import kafka.controller.PartitionAndReplica;
import org.apache.kafka.common.TopicPartition;

/** Puts the keys of each line into Scala's collections, and prints the order of each: a set, a map, the two mutable ones, the groups. */
class ScalaOrder {
    public static void main(String[] words) {
        for (Scanner lines = new Scanner(System.in); lines.hasNextLine(); ) {
            scala.collection.mutable.Builder<Object, ?> set = scala.collection.immutable.Set$.MODULE$.newBuilder();
            scala.collection.mutable.Builder<scala.Tuple2<Object, Object>, ?> map = scala.collection.immutable.Map$.MODULE$.newBuilder();
            var table = new scala.collection.mutable.HashMap<Object, Object>();
            var members = new scala.collection.mutable.HashSet<Object>();
            var all = new scala.collection.mutable.ArrayBuffer<Object>();
            for (String word : lines.nextLine().split(" ")) {
                Object key = key(word);
                set.$plus$eq(key);
                map.$plus$eq(new scala.Tuple2<Object, Object>(key, 0));
                table.put(key, 0);
                members.add(key);
                all.$plus$eq(key);
            }
            print(((scala.collection.immutable.Set<?>) set.result()).iterator());
            print(((scala.collection.immutable.Map<?, ?>) map.result()).keysIterator());
            print(table.keysIterator());
            print(members.iterator());
            print(((scala.collection.immutable.Map<Object, ?>) (Object) all.groupBy(each -> each)).keysIterator());
        }
    }

    /** A broker (3), a partition (orders-1), or a replica (orders-1@3). */
    static Object key(String word) {
        int broker = word.indexOf('@');
        if (broker > 0) {
            return new PartitionAndReplica((TopicPartition) key(word.substring(0, broker)), Integer.parseInt(word.substring(broker + 1)));
        }
        int number = word.lastIndexOf('-');
        return number < 0 ? (Object) Integer.valueOf(word) : new TopicPartition(word.substring(0, number), Integer.parseInt(word.substring(number + 1)));
    }

    static void print(scala.collection.Iterator<?> keys) {
        var line = new StringBuilder();
        while (keys.hasNext()) {
            Object key = keys.next();
            line.append(key instanceof PartitionAndReplica replica ? replica.topicPartition() + "@" + replica.replica() : key).append(' ');
        }
        System.out.println(line.toString().trim());
    }
}
