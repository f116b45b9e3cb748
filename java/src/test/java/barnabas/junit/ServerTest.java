package barnabas.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerTest {
    /** Finds barnabas with programs on the PATH. */
    private static String found(Path folder, String programs, Map<String, String> settings) throws IOException {
        Path path = Files.createTempDirectory(folder, "path");
        for (String program : programs.split(" ")) {
            Files.createFile(path.resolve(program)).toFile().setExecutable(true);
        }
        Map<String, String> environment = new HashMap<>(settings);
        environment.put("PATH", path.toString());
        return String.join(" ", Server.command(environment));
    }

    @Test
    void aProgramThatPrintsNothingIsNotWaitedForWithoutEnd() {
        var late = assertThrows(IOException.class, () -> Server.start(List.of("sh", "-c", "cat"), 0));
        assertEquals(
                "it was not ready after 0 s: sh -c cat --until-eof serve-tests; set BARNABAS to the command that starts "
                        + "barnabas, or BARNABAS_START_SECONDS to a longer time",
                late.getMessage());
        assertEquals(300, Server.startSeconds(Map.of()));
        assertEquals(9, Server.startSeconds(Map.of("BARNABAS_START_SECONDS", "9")));
        var wrong = assertThrows(
                IllegalStateException.class, () -> Server.startSeconds(Map.of("BARNABAS_START_SECONDS", "soon")));
        assertEquals("BARNABAS_START_SECONDS is not a whole number: soon", wrong.getMessage());
    }

    @Test
    void howBarnabasIsStarted(@TempDir Path folder) throws IOException {
        var both = Map.of("BARNABAS_WHEEL", "a.whl", "BARNABAS_IMAGE", "a:1");
        var more = Map.of("BARNABAS_WHEEL", "a.whl[tls]", "BARNABAS_IMAGE", "a:1");
        var words = Map.of("BARNABAS", "python3  -m\tbarnabas");
        assertEquals("python3 -m barnabas", found(folder, "barnabas uvx", words));
        assertEquals("barnabas", found(folder, "barnabas uvx", both));
        assertEquals("uvx --from a.whl[control,peers] barnabas", found(folder, "uvx pipx docker", both));
        assertEquals("pipx run --spec a.whl[tls] barnabas", found(folder, "pipx docker", more));
        assertEquals("docker run --rm -i --network host a:1", found(folder, "docker podman", both));
        assertEquals("podman run --rm -i --network host a:1", found(folder, "podman", both));
        var missing = assertThrows(
                IllegalStateException.class, () -> found(folder, "uvx pipx docker podman", Map.of()));
        assertEquals(
                "barnabas is not on the PATH: install it with the extras control and peers, or set BARNABAS_WHEEL "
                        + "(its wheel, for uvx or pipx on the PATH) or BARNABAS_IMAGE (its image, for docker or podman on the PATH)",
                missing.getMessage());
    }
}
