import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Follows a lobby with java.net.http: java Sse.java http://127.0.0.1:8080 */
public class Sse {
  record Event(String id, String type, String data) {}

  static final int LIMIT_SECONDS = 12;
  static final HttpClient client = HttpClient.newHttpClient();
  static final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  /** The JDK reads no JSON: a library does better. */
  static String find(String pattern, String json) {
    Matcher matcher = Pattern.compile(pattern).matcher(json);
    if (!matcher.find()) throw new IllegalStateException("no " + pattern + " in " + json);
    return matcher.group(1);
  }

  static HttpResponse<String> post(String address, String body, String... headers)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(address))
            .POST(HttpRequest.BodyPublishers.ofString(body));
    if (!body.isEmpty()) request.header("Content-Type", "application/json");
    if (headers.length > 0) request.headers(headers);
    HttpResponse<String> answer = client.send(request.build(), BodyHandlers.ofString());
    if (answer.statusCode() >= 300) throw new IllegalStateException(answer.body());
    return answer;
  }

  /** One connection; closing it ends the thread that reads. */
  static class Stream implements AutoCloseable {
    private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
    private final InputStream body;

    /** An id given goes on behind that event. */
    Stream(String address, String token, String lastId) throws Exception {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(URI.create(address))
              .headers("Accept", "text/event-stream", "Authorization", "Bearer " + token);
      if (lastId != null) request.header("Last-Event-ID", lastId);
      HttpResponse<InputStream> answer =
          client.send(request.build(), BodyHandlers.ofInputStream());
      if (answer.statusCode() != 200)
        throw new IllegalStateException("stream: " + answer.statusCode());
      body = answer.body();
      Thread reader = new Thread(this::read);
      reader.setDaemon(true);
      reader.start();
    }

    private void read() {
      String id = null;
      String type = "message";
      StringBuilder data = new StringBuilder();
      try (var lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8))) {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          int colon = line.indexOf(": ");
          String value = colon < 0 ? "" : line.substring(colon + 2);
          if (line.startsWith("id: ")) id = value;
          if (line.startsWith("event: ")) type = value;
          if (line.startsWith("data: ")) data.append(value).append("\n");
          if (!line.isEmpty()) continue;
          if (data.length() > 0) events.add(new Event(id, type, data.toString()));
          type = "message";
          data.setLength(0);
        }
      } catch (java.io.IOException error) {
        // The stream was closed.
      }
    }

    Event next() throws Exception {
      Event event = events.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
      if (event == null) throw new IllegalStateException("no event within " + LIMIT_SECONDS + " s");
      return event;
    }

    @Override
    public void close() throws Exception {
      body.close();
    }
  }

  static void show(Event event, long start) {
    String name = find("\"player\":\\{\"id\":\\d+,\"name\":\"([^\"]*)\"", event.data());
    long took = (System.nanoTime() - start) / 1_000_000;
    out.println(event.type() + " " + event.id() + " " + name + " " + took + " ms");
  }

  public static void main(String[] args) throws Exception {
    String url = args[0];
    String lobbies = url + "/v1/games/trivia/lobbies";
    String guest =
        find("\"access_token\":\"([^\"]+)\"", post(url + "/v1/gateway/guest", "{}").body());
    String game =
        """
        {"hostName":"Zoë","mode":"versus","category":"science","timer":30,"numQuestions":3}""";
    String lobby = post(lobbies, game, "Authorization", "Bearer " + guest).body();
    String code = find("\"code\":\"([A-Z2-9]{6})\"", lobby);
    String seat = find("\"player_token\":\"([^\"]+)\"", lobby);
    String token =
        post(lobbies + "/" + code + "/token", "", "X-Lobby-Token", seat)
            .headers()
            .firstValue("X-Hub-Token")
            .orElseThrow();
    String join = lobbies + "/" + code + "/join";
    String address = url + "/v1/hub?topic=/games/trivia/lobby/" + code;

    Event last;
    try (Stream stream = new Stream(address, token, null)) {
      last = stream.next();
      out.println(last.type() + " " + last.id());
      for (String name : new String[] {"Grace", "Łukasz", "小林"}) {
        long start = System.nanoTime();
        post(join, "{\"name\":\"" + name + "\"}");
        last = stream.next();
        show(last, start);
      }
    }

    post(join, "{\"name\":\"Odile\"}");
    long start = System.nanoTime();
    try (Stream stream = new Stream(address, token, last.id())) {
      show(stream.next(), start);
    }
  }
}
