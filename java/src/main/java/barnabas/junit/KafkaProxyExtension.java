package barnabas.junit;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Gives a parameter its proxy, and ends it with its test. */
final class KafkaProxyExtension implements ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(KafkaProxyExtension.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.isAnnotated(KafkaProxy.class)
                && parameter.getParameter().getType() == Proxy.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        KafkaProxy asked = parameter.findAnnotation(KafkaProxy.class).orElseThrow();
        String name = context.getDisplayName();
        Proxy proxy = asked.shared()
                ? shared(context, asked.value()).since()
                : Proxy.begin(Server.get(), name, asked.value());
        CloseableResource end = () -> {
            if (!asked.shared()) {
                proxy.end();
            }
            if (context.getExecutionException().isPresent()) {
                String report = proxy.report(name);
                context.publishReportEntry("barnabas", report);
                System.err.println(report);
            }
        };
        context.getStore(NAMESPACE).put(parameter.getIndex(), end);
        return proxy;
    }

    private static Proxy shared(ExtensionContext context, String scenario) {
        return context.getRoot()
                .getStore(NAMESPACE)
                .getOrComputeIfAbsent(scenario, key -> Proxy.begin(Server.get(), "shared", key), Proxy.class);
    }
}
