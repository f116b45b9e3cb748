package barnabas.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * On a parameter of type {@link Proxy}: a proxy for this test alone, or a shared one. If the test fails, the report and
 * stderr have the last exchanges, what the rules did, what checks find, and the path of the capture: a folder of
 * BARNABAS_REPORTS in the environment, else {@code target/barnabas} (Maven) or {@code build/barnabas} (Gradle).
 */
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(KafkaProxyExtension.class)
public @interface KafkaProxy {
    /** The scenario: YAML, or the name of one that comes with barnabas; empty: no rules. */
    String value() default "";

    /**
     * All tests that have this scenario share one proxy, which ends with the JVM. Each test sees the exchanges since its
     * own beginning.
     */
    boolean shared() default false;
}
