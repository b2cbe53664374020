package example;

/** The variables with which the checks are started. */
final class Environment {
  private Environment() {}

  static String get(String name) {
    String value = System.getenv(name);
    if (value == null || value.isEmpty()) throw new IllegalStateException(name + " must be set");
    return value;
  }
}
