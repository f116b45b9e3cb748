package barnabas.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;

class KafkaProxyTest {
    static final String PRODUCED = "api == 'Produce'";
    static final String MOVED = """
            version: 1
            rules:
              - name: the leader has moved
                match: {api: Produce, direction: request}
                when: {times: 1, scope: rule}
                do: {respond: {error: NOT_LEADER_OR_FOLLOWER}}
            """;

    /** What is tested: records, each acknowledged. */
    private static void send(String bootstrap, String topic, int count) throws Exception {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", bootstrap, "client.id", "maker", "enable.idempotence", true);
        StringSerializer text = new StringSerializer();
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings, text, text)) {
            for (int number = 0; number < count; number++) {
                producer.send(new ProducerRecord<>(topic, 0, "k", "tea")).get(60, TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void aRecordIsSentAgainWhenTheLeaderHasMoved(@KafkaProxy(MOVED) Proxy proxy) throws Exception {
        send(proxy.bootstrapServers(), "java-moved", 1);
        var produced = proxy.waitFor(PRODUCED, 2, Duration.ofSeconds(10));
        assertEquals("NOT_LEADER_OR_FOLLOWER", produced.get(0).get("error").asText());
        assertEquals("", produced.get(1).get("error").asText());
        assertEquals(1, proxy.fired("the leader has moved"));
        proxy.assertRetries("Produce", 1, 1);
        proxy.assertNoDuplicates();
    }

    @Test
    void rulesAreAddedInMidTest(@KafkaProxy Proxy proxy) throws Exception {
        send(proxy.bootstrapServers(), "java-added", 1);
        proxy.rule("{name: slow, match: {api: Produce, direction: response}, do: {delay: 100ms}}");
        send(proxy.bootstrapServers(), "java-added", 1);
        var produced = proxy.exchanges(PRODUCED);
        assertEquals(2, produced.size());
        assertTrue(produced.get(1).get("latency_ms").asDouble() >= 100);
        assertEquals(0, produced.get(0).get("rules").size());
    }

    @Test
    void whatIsWrongSaysWhatPassed(@KafkaProxy Proxy proxy) throws Exception {
        send(proxy.bootstrapServers(), "java-wrong", 1);
        var waited = assertThrows(
                AssertionError.class, () -> proxy.waitFor("api == 'Fetch'", 1, Duration.ofMillis(50)));
        assertTrue(waited.getMessage().startsWith("0 of 1 with filter="), waited.getMessage());
        assertTrue(waited.getMessage().contains("Produce"), waited.getMessage());
        var asserted = assertThrows(AssertionError.class, () -> proxy.assertFindings("backoff"));
        assertEquals("check backoff finds nothing", asserted.getMessage());
        var refused = assertThrows(IllegalArgumentException.class, () -> proxy.rule("{name: a, do: clos}"));
        assertTrue(refused.getMessage().contains("did you mean 'close'?"), refused.getMessage());
    }
}
