package dev.berth.bench;

import io.javaoperatorsdk.operator.Operator;
import java.time.Duration;

/**
 * An operator on the Java Operator SDK: a Pod for every Widget.
 *
 * <p>Tuned for throughput: 64 reconciling threads instead of 50. There is no leader election.
 */
public final class Main {
  private static final int THREADS = 64;

  private Main() {}

  public static void main(String[] arguments) {
    var operator =
        new Operator(overrider -> overrider.withConcurrentReconciliationThreads(THREADS));
    operator.register(new WidgetReconciler());
    operator.installShutdownHook(Duration.ofSeconds(5));
    operator.start(); // returns when the caches are synced
    System.out.println("ready");
  }
}
