import com.segment.analytics.kotlin.core.AliasEvent;
import com.segment.analytics.kotlin.core.Analytics;
import com.segment.analytics.kotlin.core.BaseEvent;
import com.segment.analytics.kotlin.core.Configuration;
import com.segment.analytics.kotlin.core.GroupEvent;
import com.segment.analytics.kotlin.core.IdentifyEvent;
import com.segment.analytics.kotlin.core.RequestFactory;
import com.segment.analytics.kotlin.core.ScreenEvent;
import com.segment.analytics.kotlin.core.Settings;
import com.segment.analytics.kotlin.core.TrackEvent;
import com.segment.analytics.kotlin.core.compat.ConfigurationBuilder;
import com.segment.analytics.kotlin.core.platform.Plugin;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import kotlinx.serialization.json.Json;
import kotlinx.serialization.json.JsonArray;
import kotlinx.serialization.json.JsonElement;
import kotlinx.serialization.json.JsonElementKt;
import kotlinx.serialization.json.JsonObject;

/** Makes the calls of the scenario with the core of analytics-kotlin, as an app does. */
public final class Driver {
  /** The SDK speaks HTTPS alone unless its connections are made for it. */
  private static final class Plain extends RequestFactory {
    @Override
    public HttpURLConnection openConnection(String url) {
      try {
        return (HttpURLConnection) new URL(url.replaceFirst("^https", "http")).openConnection();
      } catch (IOException e) {
        throw new IllegalArgumentException(url, e);
      }
    }
  }

  /** An app has one user at a time; what else a call is given is said in its event. */
  private static final class Giver implements Plugin {
    private final Map<String, JsonObject> calls;
    private Analytics analytics;

    /** The marks of the calls whose events have not come by. */
    final Set<String> left = ConcurrentHashMap.newKeySet();

    Giver(Map<String, JsonObject> calls) {
      this.calls = calls;
      left.addAll(calls.keySet());
    }

    @Override
    public BaseEvent execute(BaseEvent event) {
      JsonObject call = calls.get(mark(event));
      event.setUserId(call.containsKey("userId") ? text(call, "userId") : "");
      if (call.containsKey("anonymousId")) {
        event.setAnonymousId(text(call, "anonymousId"));
      }
      if (call.containsKey("messageId")) {
        event.setMessageId(text(call, "messageId"));
      }
      if (call.containsKey("timestamp")) {
        event.setTimestamp(text(call, "timestamp"));
      }
      if (call.containsKey("integrations")) {
        event.setIntegrations(object(call, "integrations"));
      }
      if (call.containsKey("context")) {
        Map<String, JsonElement> context = new HashMap<>(event.getContext());
        context.putAll(object(call, "context"));
        event.setContext(new JsonObject(context));
      }
      if (event instanceof AliasEvent) {
        ((AliasEvent) event).setPreviousId(text(call, "previousId"));
      }
      left.remove(text(call, "mark"));
      return event;
    }

    private String mark(BaseEvent event) {
      if (event instanceof TrackEvent) {
        return text(((TrackEvent) event).getProperties(), "call");
      } else if (event instanceof ScreenEvent) {
        return text(((ScreenEvent) event).getProperties(), "call");
      } else if (event instanceof IdentifyEvent) {
        return text(((IdentifyEvent) event).getTraits(), "call");
      } else if (event instanceof GroupEvent) {
        return text(((GroupEvent) event).getTraits(), "call");
      }
      return calls.values().stream()
          .filter(call -> text(call, "type").equals("alias") && text(call, "userId").equals(event.getUserId()))
          .map(call -> text(call, "mark"))
          .findFirst()
          .orElseThrow();
    }

    @Override
    public Type getType() {
      return Type.Enrichment;
    }

    @Override
    public Analytics getAnalytics() {
      return analytics;
    }

    @Override
    public void setAnalytics(Analytics analytics) {
      this.analytics = analytics;
    }

    @Override
    public void setup(Analytics analytics) {
      this.analytics = analytics;
    }

    @Override
    public void update(Settings settings, UpdateType type) {}
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, String> env = System.getenv();
    String key = env.get("WRITE_KEY");
    String host = env.get("ENDPOINT").substring("http://".length());
    // The SDK keeps its queue there. What a run before left is none of this one's.
    Path queue = Path.of("/tmp/analytics-kotlin", key);
    remove(queue);

    // snippet:begin
    Configuration config =
        new ConfigurationBuilder(env.get("WRITE_KEY"))
            .setApplication("shop")
            .setApiHost(host + "/v1")
            .setCdnHost(host + "/v1")
            .setFlushAt(env.get("MODE").equals("each") ? 1 : 20) // test only
            .setRequestFactory(new Plain()) // test only
            .build();
    Analytics analytics = new Analytics(config);
    // snippet:end
    String text = Files.readString(Path.of(env.get("SCENARIO")));
    JsonArray calls = (JsonArray) Json.Default.parseToJsonElement(text);
    Map<String, JsonObject> marked = new HashMap<>();
    calls.forEach(call -> marked.put(text((JsonObject) call, "mark"), (JsonObject) call));
    Giver giver = new Giver(marked);
    analytics.add(giver);
    calls.forEach(call -> make(analytics, (JsonObject) call));
    // It tries again when it is next told to flush, and says nothing of it.
    for (int quiet = 0; quiet < 3; quiet = giver.left.isEmpty() && !waiting(queue) ? quiet + 1 : 0) {
      analytics.flush();
      Thread.sleep(300);
    }
    analytics.shutdown();
    remove(queue);
    System.exit(0);
  }

  private static void make(Analytics analytics, JsonObject call) {
    switch (text(call, "type")) {
      case "identify":
        if (call.containsKey("userId")) {
          analytics.identify(text(call, "userId"), object(call, "traits"));
        } else {
          analytics.identify(object(call, "traits"));
        }
        break;
      case "track":
        analytics.track(text(call, "event"), object(call, "properties"));
        break;
      case "screen":
        analytics.screen(text(call, "name"), object(call, "properties"), "");
        break;
      case "group":
        analytics.group(text(call, "groupId"), object(call, "traits"));
        break;
      case "alias":
        analytics.alias(text(call, "userId"), null);
        break;
      default:
        throw new IllegalArgumentException("the SDK has no " + text(call, "type"));
    }
  }

  private static String text(JsonObject call, String member) {
    return JsonElementKt.getJsonPrimitive(call.get(member)).getContent();
  }

  private static JsonObject object(JsonObject call, String member) {
    return (JsonObject) call.get(member);
  }

  private static boolean waiting(Path queue) throws IOException {
    if (!Files.exists(queue)) {
      return false;
    }
    try (Stream<Path> files = Files.walk(queue)) {
      return files.anyMatch(f -> Files.isRegularFile(f) && f.getParent().endsWith("events"));
    }
  }

  private static void remove(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      files.sorted(Comparator.reverseOrder()).forEach(f -> f.toFile().delete());
    }
  }
}
