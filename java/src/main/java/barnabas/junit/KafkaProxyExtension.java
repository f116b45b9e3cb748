package barnabas.junit;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Starts a proxy for a parameter, and ends it with its test. */
final class KafkaProxyExtension implements ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(KafkaProxyExtension.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.isAnnotated(KafkaProxy.class)
                && parameter.getParameter().getType() == Proxy.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        String scenario = parameter.findAnnotation(KafkaProxy.class).orElseThrow().value();
        Proxy proxy = Proxy.begin(Server.get(), context.getDisplayName(), scenario);
        CloseableResource end = () -> {
            String said = proxy.end();
            if (context.getExecutionException().isPresent()) {
                context.publishReportEntry("barnabas", said);
                System.err.println(said);
            }
        };
        context.getStore(NAMESPACE).put(parameter.getIndex(), end);
        return proxy;
    }
}
