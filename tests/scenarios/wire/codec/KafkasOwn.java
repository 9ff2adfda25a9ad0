import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

/** Reads lines of kind, API, version and bytes, and writes what Kafka's own classes make of them. */
public class KafkasOwn {
    public static void main(String[] args) throws Exception {
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var words = line.split(" ", -1);
            try {
                System.out.println(again(words[0], Short.parseShort(words[1]), Short.parseShort(words[2]), words[3]));
            } catch (RuntimeException error) {
                System.out.println(error);
            }
        }
    }

    static String again(String kind, short api, short version, String bytes) {
        var type = ApiMessageType.fromApiKey(api);
        ApiMessage message = kind.equals("request") ? type.newRequest() : type.newResponse();
        var from = ByteBuffer.wrap(HexFormat.of().parseHex(bytes));
        message.read(new ByteBufferAccessor(from), version);
        if (from.hasRemaining()) return from.remaining() + " bytes are left";
        var cache = new ObjectSerializationCache();
        var to = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(to), cache, version);
        return HexFormat.of().formatHex(to.array());
    }
}
