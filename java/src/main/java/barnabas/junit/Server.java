package barnabas.junit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code barnabas serve-tests}, which the first test starts. The pipe to its stdin is closed when this process is
 * gone, however that ends, and then it ends.
 *
 * <p>The system property {@code barnabas.command}, or BARNABAS in the environment, says how it is started if not by
 * {@code barnabas}; {@code barnabas.options} has its options, such as {@code -b localhost:9092}. Both are split at
 * spaces.
 *
 * @param control HOST:PORT where it is asked
 * @param token what it has to be told
 * @param bootstrap the cluster that all proxies are in front of
 */
record Server(String control, String token, String bootstrap) {
    private static Server one;

    static synchronized Server get() {
        if (one == null) {
            try {
                one = start();
            } catch (IOException problem) {
                throw new UncheckedIOException(
                        "barnabas can't be started (install barnabas with the extras 'control,peers')", problem);
            }
        }
        return one;
    }

    private static Server start() throws IOException {
        List<String> command = new ArrayList<>(words("barnabas.command", System.getenv("BARNABAS")));
        if (command.isEmpty()) {
            command.add("barnabas");
        }
        command.addAll(List.of("--until-eof", "serve-tests"));
        command.addAll(words("barnabas.options", null));
        Process process =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        BufferedReader out = process.inputReader();
        String line = out.readLine();
        if (line == null) {
            throw new IOException("it was not ready: see what it said");
        }
        Thread rest = new Thread(() -> out.lines().forEach(said -> {}), "barnabas");
        rest.setDaemon(true);
        rest.start();
        JsonNode ready = new ObjectMapper().readTree(line).get("ready");
        return new Server(
                ready.get("control").asText(), ready.get("token").asText(), ready.get("bootstrap").asText());
    }

    private static List<String> words(String property, String other) {
        String given = System.getProperty(property, other == null ? "" : other).strip();
        return given.isEmpty() ? List.of() : List.of(given.split("\\s+"));
    }
}
