package barnabas.junit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The proxy of one test, or what one test sees of a shared proxy. Exchanges, rules and findings are JSON as the HTTP API of barnabas has it. What can't be
 * done is an {@link IllegalArgumentException} that says why; what does not hold is an {@link AssertionError}.
 */
public final class Proxy {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static final int LONGEST_NAME = 200;

    private final Server server;
    private final String path;
    private final String bootstrapServers;
    private final int since;

    private Proxy(Server server, JsonNode test, int since) {
        this.server = server;
        this.path = "/" + test.get("id").asText();
        this.bootstrapServers = test.get("bootstrap").asText();
        this.since = since;
    }

    static Proxy begin(Server server, String name, String scenario) {
        ObjectNode body = JSON.createObjectNode();
        body.put("name", name.substring(0, Math.min(name.length(), LONGEST_NAME)));
        if (!scenario.isBlank()) {
            body.put("scenario", scenario);
        }
        return new Proxy(server, ask(server, "POST", "", body.toString()), 0);
    }

    /** Returns this proxy without the exchanges so far. */
    Proxy since() {
        JsonNode test = ask("GET", "", "");
        return new Proxy(server, test, test.get("exchanges").asInt());
    }

    /** HOST:PORT for the clients that are tested. */
    public String bootstrapServers() {
        return bootstrapServers;
    }

    /** What the proxy is in front of: for what is to pass no rule. */
    public String cluster() {
        return server.bootstrap();
    }

    /** Adds a rule (YAML), asked last. */
    public void rule(String rule) {
        ask("POST", "/rules", rule);
    }

    /** How often a rule did something so far. */
    public int fired(String rule) {
        for (JsonNode each : ask("GET", "/scenario", "").get("rules")) {
            if (each.get("name").asText().equals(rule)) {
                return each.get("fired").asInt();
            }
        }
        throw new IllegalArgumentException("no rule is called " + rule);
    }

    /** The exchanges that have passed so far, of those that pass a filter, such as {@code api == 'Produce'}. */
    public List<JsonNode> exchanges(String filter) {
        String query = URLEncoder.encode(filter, StandardCharsets.UTF_8);
        return list(ask("GET", "/exchanges?last=100000&since=" + since + "&filter=" + query, ""));
    }

    /** Waits until so many exchanges that pass a filter have passed since the test began. */
    public List<JsonNode> waitFor(String filter, int count, Duration timeout) {
        ObjectNode body = JSON.createObjectNode();
        body.put("filter", filter).put("count", count).put("since", since).put("timeout_ms", timeout.toMillis());
        return list(ask("POST", "/wait_for", body.toString()).get("exchanges"));
    }

    /** So many requests of an API were sent again, and no more. */
    public void assertRetries(String api, int atLeast, int atMost) {
        ObjectNode body = JSON.createObjectNode();
        body.putObject("retries").put("api", api).put("at_least", atLeast).put("at_most", atMost);
        assertThat(body);
    }

    /** No broker has taken a batch of an idempotent producer twice. */
    public void assertNoDuplicates() {
        assertThat(JSON.createObjectNode().put("duplicate_sequences", 0));
    }

    /** These checks find something, and no others. */
    public void assertFindings(String... checks) {
        ObjectNode body = JSON.createObjectNode();
        List.of(checks).forEach(body.putArray("findings")::add);
        assertThat(body);
    }

    private void assertThat(ObjectNode what) {
        JsonNode said = ask("POST", "/assert", what.put("since", since).toString());
        if (!said.get("holds").asBoolean()) {
            List<String> broken = new ArrayList<>();
            said.get("broken").forEach(each -> broken.add(each.asText()));
            throw new AssertionError(String.join("\n", broken));
        }
    }

    void end() {
        ask("DELETE", "", "");
    }

    /** Returns the last exchanges, what the rules did, what checks find, and the path of the capture, which stays. */
    String report(String name) {
        String said = new String(send(server, "GET", path + "/report?since=" + since, ""), StandardCharsets.UTF_8);
        try {
            return said + "capture: " + keep(name);
        } catch (IOException | RuntimeException problem) {
            return said + "capture: " + problem;
        }
    }

    private Path keep(String name) throws IOException {
        byte[] capture = send(server, "GET", path + "/capture", "");
        String start = name.substring(0, Math.min(name.length(), LONGEST_NAME)).replaceAll("\\W+", "_");
        Path folder = Files.createDirectories(reports().toAbsolutePath());
        Path file = Files.write(folder.resolve(start + "-" + path.substring(1) + ".pcapng"), capture);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------")); // it may have passwords
    }

    private static Path reports() {
        String given = System.getenv("BARNABAS_REPORTS");
        if (given != null && !given.isEmpty()) {
            return Path.of(given);
        }
        boolean gradle = Files.exists(Path.of("build.gradle")) || Files.exists(Path.of("build.gradle.kts"));
        return Path.of(gradle ? "build" : "target", "barnabas");
    }

    private JsonNode ask(String method, String what, String body) {
        return ask(server, method, path + what, body);
    }

    private static JsonNode ask(Server server, String method, String path, String body) {
        try {
            return JSON.readTree(send(server, method, path, body));
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
    }

    private static byte[] send(Server server, String method, String path, String body) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + server.control() + "/v1/tests" + path))
                .header("Authorization", "Bearer " + server.token())
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                .build();
        try {
            HttpResponse<byte[]> answer = HTTP.send(request, BodyHandlers.ofByteArray());
            if (answer.statusCode() < 400) {
                return answer.body();
            }
            String said = JSON.readTree(answer.body()).get("error").asText();
            if (answer.statusCode() == 408) {
                throw new AssertionError(said);
            }
            throw new IllegalArgumentException(said);
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        } catch (InterruptedException problem) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(problem);
        }
    }

    private static List<JsonNode> list(JsonNode array) {
        List<JsonNode> found = new ArrayList<>();
        array.forEach(found::add);
        return found;
    }
}
