import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** First in, first out, in Java without any library. Run it with {@code java Fifo.java}. */
public class Fifo {
  static final String TESTBED = env("BERTH_TESTBED", "main");
  static final URI TURN = URI.create(env("BERTH_URL", "http://127.0.0.1:8080") + "/v1/schedulers/fifo/turn");
  static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  public static void main(String[] args) throws InterruptedException {
    var begin = "{\"testbed\": %s}".formatted(Json.write(TESTBED));
    var request = begin;
    while (true) {
      try {
        var reply = ask(request);
        var code = reply.get("code") instanceof String text ? text : "";
        if (reply.has("turn")) {
          request = "{\"testbed\": %s, \"after\": %d, \"decisions\": [%s]}"
              .formatted(Json.write(TESTBED), reply.number("turn", 0), String.join(", ", decide(reply)));
          continue;
        }
        if (code.startsWith("BERTH_TURN_")) request = begin; // the gateway does not remember us
        else if (reply.number("status", 500) < 500) {
          System.err.println(code);
          System.exit(1);
        }
      } catch (IOException | IllegalArgumentException error) {
        System.err.println(error); // the connection was lost, or something in between has answered
      }
      Thread.sleep(1000); // and ask again: decisions are carried out once, however often they are sent
    }
  }

  /** Jobs get slots in the order of submission until there are too few. */
  static List<String> decide(Json.Record turn) {
    var free = new ArrayList<Integer>();
    for (var slot : turn.records("slots")) if (slot.get("state").equals("free")) free.add(slot.number("id", 0));
    var decisions = new ArrayList<String>();
    for (var job : turn.records("queue")) {
      var executors = job.record("executors");
      int count = executors.number("preferred", executors.number("min", 1));
      if (count > free.size()) break;
      var slots = free.subList(0, count);
      decisions.add("{\"job\": %s, \"slots\": %s, \"reason\": \"first in the queue\"}"
          .formatted(Json.write((String) job.get("name")), slots));
      slots.clear(); // of those that are free
    }
    return decisions;
  }

  /** Sends the decisions about the last turn; returns the next one as soon as there is something to decide. */
  static Json.Record ask(String body) throws IOException, InterruptedException {
    var request = HttpRequest.newBuilder(TURN)
        .timeout(Duration.ofMinutes(1))
        .header("Content-Type", "application/json")
        .header("Authorization", "Bearer " + env("BERTH_TOKEN", ""))
        .POST(BodyPublishers.ofString(body));
    return Json.read(CLIENT.send(request.build(), BodyHandlers.ofString()).body());
  }

  static String env(String name, String otherwise) {
    var value = System.getenv(name);
    return value == null || value.isEmpty() ? otherwise : value;
  }
}

/** Reads JSON, which the JDK does not: objects, lists, strings, numbers, booleans and null, one method each. */
class Json {
  /** An object, with its values by name. */
  record Record(Map<String, Object> values) {
    boolean has(String name) {
      return values.containsKey(name);
    }

    Object get(String name) {
      return values.get(name);
    }

    int number(String name, int otherwise) {
      return get(name) instanceof Double number ? number.intValue() : otherwise;
    }

    Record record(String name) {
      return (Record) get(name);
    }

    List<Record> records(String name) {
      return ((List<?>) get(name)).stream().map(Record.class::cast).toList();
    }
  }

  private final String text;
  private int at = 0;

  private Json(String text) {
    this.text = text;
  }

  /** Throws an IllegalArgumentException if it is no JSON object. */
  static Record read(String text) {
    var json = new Json(text);
    if (json.value() instanceof Record record && json.peek() == END) return record;
    throw json.wrong();
  }

  /** A string as JSON has it. */
  static String write(String text) {
    var out = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') out.append('\\').append(c);
      else if (c < ' ') out.append("\\u%04x".formatted((int) c));
      else out.append(c);
    }
    return out.append('"').toString();
  }

  private static final char END = '\0';

  private Object value() {
    return switch (peek()) {
      case '{' -> object();
      case '[' -> list();
      case '"' -> string();
      case 't' -> word("true", true);
      case 'f' -> word("false", false);
      case 'n' -> word("null", null);
      default -> number();
    };
  }

  private Record object() {
    var values = new LinkedHashMap<String, Object>();
    expect('{');
    while (!taken('}')) {
      if (!values.isEmpty()) expect(',');
      var name = string();
      expect(':');
      values.put(name, value());
    }
    return new Record(values);
  }

  private List<Object> list() {
    var values = new ArrayList<>();
    expect('[');
    while (!taken(']')) {
      if (!values.isEmpty()) expect(',');
      values.add(value());
    }
    return values;
  }

  private String string() {
    var out = new StringBuilder();
    expect('"');
    for (char c = next(); c != '"'; c = next()) out.append(c == '\\' ? escaped() : c);
    return out.toString();
  }

  private char escaped() {
    char c = next();
    return switch (c) {
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> (char) Integer.parseInt("" + next() + next() + next() + next(), 16);
      default -> c;
    };
  }

  private Double number() {
    int start = at;
    while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) at++;
    if (at == start) throw wrong();
    return Double.valueOf(text.substring(start, at));
  }

  private Object word(String word, Object meaning) {
    if (!text.startsWith(word, at)) throw wrong();
    at += word.length();
    return meaning;
  }

  /** The next character that is no space. */
  private char peek() {
    while (at < text.length() && text.charAt(at) <= ' ') at++;
    return at < text.length() ? text.charAt(at) : END;
  }

  private boolean taken(char c) {
    if (peek() != c) return false;
    at++;
    return true;
  }

  private void expect(char c) {
    if (!taken(c)) throw wrong();
  }

  private char next() {
    if (at == text.length()) throw wrong();
    return text.charAt(at++);
  }

  private IllegalArgumentException wrong() {
    return new IllegalArgumentException("this is no JSON, at " + at + ": " + text);
  }
}
