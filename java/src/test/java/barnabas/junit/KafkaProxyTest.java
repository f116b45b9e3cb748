package barnabas.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.reporting.ReportEntry;
import org.junit.platform.testkit.engine.EngineTestKit;

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

    /** Run by the test after it. */
    static class Examples {
        static final List<Proxy> PROXIES = new ArrayList<>();

        @Test
        @DisplayName("it passes")
        void passes(@KafkaProxy Proxy proxy) {}

        @Test
        @DisplayName("it fails / 1")
        void fails(@KafkaProxy(MOVED) Proxy proxy) throws Exception {
            send(proxy.bootstrapServers(), "java-fails", 1);
            throw new AssertionError("broken");
        }

        @RepeatedTest(2)
        void shares(@KafkaProxy(value = MOVED, shared = true) Proxy proxy) throws Exception {
            PROXIES.add(proxy);
            send(proxy.bootstrapServers(), "java-shared", 1);
            proxy.waitFor("api == 'Produce' && error == ''", 1, Duration.ofSeconds(10));
            int all = PROXIES.size() == 1 ? 2 : 1; // the first has the fault
            assertEquals(all, proxy.exchanges(PRODUCED).size());
            proxy.assertRetries("Produce", all - 1, all - 1);
            assertEquals(PROXIES.get(0).bootstrapServers(), proxy.bootstrapServers());
        }
    }

    @Test
    void aFailedTestHasAReportAndACaptureThatStays() throws Exception {
        var events = EngineTestKit.engine("junit-jupiter")
                .selectors(DiscoverySelectors.selectClass(Examples.class))
                .execute()
                .testEvents();
        events.assertStatistics(counts -> counts.succeeded(3).failed(1).reportingEntryPublished(1));
        String report = events.reportingEntryPublished()
                .list()
                .get(0)
                .getRequiredPayload(ReportEntry.class)
                .getKeyValuePairs()
                .get("barnabas");
        assertTrue(report.startsWith("all that passed is "), report);
        assertTrue(report.contains("Produce v7 NOT_LEADER_OR_FOLLOWER"), report);
        assertTrue(report.contains("rule the leader has moved: 2 matched, 1 fired"), report);
        Path capture = Path.of(report.substring(report.indexOf("capture: ") + 9));
        assertEquals(Path.of("target/barnabas").toAbsolutePath(), capture.getParent());
        assertTrue(capture.getFileName().toString().matches("it_fails_1-\\w+\\.pcapng"), capture.toString());
        assertTrue(Files.size(capture) > 1000);
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(capture)));
        try (var captures = Files.list(capture.getParent())) {
            assertTrue(captures.noneMatch(file -> file.getFileName().toString().startsWith("it_passes")));
        }
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
