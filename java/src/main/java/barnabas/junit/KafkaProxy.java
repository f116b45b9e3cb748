package barnabas.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/** On a parameter of type {@link Proxy}: a proxy for this test alone. */
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(KafkaProxyExtension.class)
public @interface KafkaProxy {
    /** The scenario: YAML, or the name of one that comes with barnabas; empty: no rules. */
    String value() default "";
}
