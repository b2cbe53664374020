package example;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.util.LinkedHashMap;
import java.util.Map;

/** Prints a line of JSON for every check. */
final class Report {
  /** Performs a check and returns what it saw. Throws if that is not what it expects. */
  @FunctionalInterface
  interface Check {
    String run() throws Exception;
  }

  private static final Gson JSON = new GsonBuilder().disableHtmlEscaping().create();

  private boolean failed;

  void check(String name, Check check) {
    try {
      print(name, true, check.run());
    } catch (Exception | AssertionError error) {
      failed = true;
      print(name, false, error.toString());
    }
  }

  boolean hasFailed() {
    return failed;
  }

  static void require(boolean holds, String expected, Object actual) {
    if (!holds) throw new AssertionError("expected " + expected + ", but got " + actual);
  }

  private static void print(String name, boolean ok, String detail) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("check", name);
    line.put("ok", ok);
    line.put("detail", detail);
    System.out.println(JSON.toJson(line));
  }
}
