package barnabas.junit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * {@code barnabas serve-tests}, which the first test starts. The pipe to its stdin is closed when this process is
 * gone, however that ends, and then it ends.
 *
 * <p>{@link #command} says how it is started; the system property {@code barnabas.options} has its options, such as
 * {@code -b localhost:9092}, split at spaces.
 *
 * @param control HOST:PORT where it is asked
 * @param token what it has to be told
 * @param bootstrap the cluster that all proxies are in front of
 */
record Server(String control, String token, String bootstrap) {
    /** The first start may download or build programs. */
    private static final long START_SECONDS = 300;

    private static Server one;

    static synchronized Server get() {
        if (one == null) {
            try {
                one = start(command(System.getenv()), startSeconds(System.getenv()));
            } catch (IOException problem) {
                throw new UncheckedIOException("barnabas can't be started: " + problem.getMessage(), problem);
            }
        }
        return one;
    }

    /** Returns how many seconds barnabas may take to start: BARNABAS_START_SECONDS, or START_SECONDS. */
    static long startSeconds(Map<String, String> environment) {
        String text = environment.getOrDefault("BARNABAS_START_SECONDS", "");
        try {
            return text.isEmpty() ? START_SECONDS : Long.parseLong(text);
        } catch (NumberFormatException problem) {
            throw new IllegalStateException("BARNABAS_START_SECONDS is not a whole number: " + text, problem);
        }
    }

    static Server start(List<String> words, long seconds) throws IOException {
        List<String> command = new ArrayList<>(words);
        command.addAll(List.of("--until-eof", "serve-tests"));
        command.addAll(words(System.getProperty("barnabas.options")));
        Process process =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        BufferedReader out = process.inputReader();
        String line = CompletableFuture.supplyAsync(() -> lineOf(out))
                .completeOnTimeout("", seconds, TimeUnit.SECONDS)
                .join();
        if (line != null && line.isEmpty()) {
            process.destroyForcibly();
            throw new IOException("it was not ready after " + seconds + " s: " + String.join(" ", command)
                    + "; set BARNABAS to the command that starts barnabas, or BARNABAS_START_SECONDS to a longer time");
        }
        if (line == null) {
            throw new IOException("it was not ready: " + String.join(" ", command));
        }
        Thread rest = new Thread(() -> out.lines().forEach(said -> {}), "barnabas");
        rest.setDaemon(true);
        rest.start();
        JsonNode ready = new ObjectMapper().readTree(line).get("ready");
        return new Server(
                ready.get("control").asText(), ready.get("token").asText(), ready.get("bootstrap").asText());
    }

    private static String lineOf(BufferedReader out) {
        try {
            return out.readLine();
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
    }

    /**
     * Returns the words that start barnabas. The first that is there: the system property {@code barnabas.command} or
     * BARNABAS in the environment (split at spaces), barnabas on the PATH, the wheel BARNABAS_WHEEL by uvx or pipx, the
     * image BARNABAS_IMAGE by docker or podman.
     */
    static List<String> command(Map<String, String> environment) {
        List<String> given = words(System.getProperty("barnabas.command", environment.get("BARNABAS")));
        if (!given.isEmpty()) {
            return given;
        }
        List<List<String>> ways = new ArrayList<>(List.of(List.of("barnabas")));
        String wheel = environment.getOrDefault("BARNABAS_WHEEL", "");
        if (!wheel.isEmpty()) {
            String spec = wheel.contains("[") ? wheel : wheel + "[control,peers]";
            ways.add(List.of("uvx", "--from", spec, "barnabas"));
            ways.add(List.of("pipx", "run", "--spec", spec, "barnabas"));
        }
        String image = environment.getOrDefault("BARNABAS_IMAGE", "");
        if (!image.isEmpty()) {
            for (String program : List.of("docker", "podman")) {
                ways.add(List.of(program, "run", "--rm", "-i", "--network", "host", image));
            }
        }
        String[] folders = environment.getOrDefault("PATH", "").split(File.pathSeparator);
        return ways.stream()
                .filter(words -> Stream.of(folders).anyMatch(folder -> isExecutable(Path.of(folder, words.get(0)))))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(
                        "barnabas is not on the PATH: install it with the extras control and peers, or set BARNABAS_WHEEL "
                                + "(its wheel, for uvx or pipx on the PATH) or BARNABAS_IMAGE (its image, for docker or podman on the PATH)"));
    }

    private static boolean isExecutable(Path file) {
        return Files.isRegularFile(file) && Files.isExecutable(file);
    }

    private static List<String> words(String text) {
        return text == null || text.isBlank() ? List.of() : List.of(text.strip().split("\\s+"));
    }
}
