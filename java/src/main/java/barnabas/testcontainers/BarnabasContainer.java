package barnabas.testcontainers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.utility.DockerImageName;

/**
 * {@code barnabas proxy} in a container, in front of brokers in the same network. Ports have the same number inside and
 * outside, since the proxy tells clients the ports of its listeners.
 *
 * <pre>{@code
 * var proxy = new BarnabasContainer("barnabas", "kafka:9092").withNetwork(network).withScenario(yaml);
 * proxy.start();
 * sendOrders(proxy.bootstrapServers());
 * }</pre>
 */
public class BarnabasContainer extends GenericContainer<BarnabasContainer> {
    private static final int BROKERS = 10;
    private static final int LOWEST = 20_000;
    private static final int HIGHEST = 32_000;
    private static final String SCENARIO = "/data/scenario.yaml";
    private static final String CAPTURE = "/data/capture.pcapng";

    private final String cluster;
    private String scenario = "";
    private int port;

    /**
     * Prepares a container.
     *
     * @param image the image that the repository's Containerfile builds
     * @param cluster HOST:PORT of the brokers, as they are called in the network
     */
    public BarnabasContainer(String image, String cluster) {
        super(DockerImageName.parse(image));
        this.cluster = cluster;
        waitingFor(Wait.forLogMessage(".*\"ready\".*", 1));
    }

    /**
     * Sets the rules.
     *
     * @param yaml a scenario
     * @return this container
     */
    public BarnabasContainer withScenario(String yaml) {
        scenario = yaml;
        return self();
    }

    /** Returns HOST:PORT for the clients that are tested. */
    public String bootstrapServers() {
        return getHost() + ":" + port;
    }

    /**
     * Copies the capture (pcapng), as far as it is written.
     *
     * @param file where to
     */
    public void capture(Path file) {
        copyFileFromContainer(CAPTURE, file.toString());
    }

    @Override
    protected void configure() {
        port = freePorts();
        for (int each = port; each <= port + BROKERS; each++) {
            addFixedExposedPort(each, each);
        }
        List<String> command = new ArrayList<>(List.of("proxy", "-b", cluster, "--advertise", getHost()));
        command.addAll(List.of("--listen", "0.0.0.0:" + port));
        command.addAll(List.of("--broker-ports", (port + 1) + "-" + (port + BROKERS)));
        command.addAll(List.of("--log", "json", "--capture", CAPTURE));
        if (!scenario.isEmpty()) {
            withCopyToContainer(Transferable.of(scenario), SCENARIO);
            command.addAll(List.of("--scenario", SCENARIO));
        }
        setCommand(command.toArray(String[]::new));
    }

    /** Returns the first of the ports in a row that are free now. */
    private static int freePorts() {
        for (int attempt = 0; attempt < 100; attempt++) {
            int first = ThreadLocalRandom.current().nextInt(LOWEST, HIGHEST);
            if (areFree(first)) {
                return first;
            }
        }
        throw new IllegalStateException("no " + (BROKERS + 1) + " ports in a row are free");
    }

    private static boolean areFree(int first) {
        List<ServerSocket> sockets = new ArrayList<>();
        try {
            for (int each = first; each <= first + BROKERS; each++) {
                sockets.add(new ServerSocket(each));
            }
            return true;
        } catch (IOException taken) {
            return false;
        } finally {
            for (ServerSocket socket : sockets) {
                try {
                    socket.close();
                } catch (IOException problem) {
                    throw new UncheckedIOException(problem);
                }
            }
        }
    }
}
