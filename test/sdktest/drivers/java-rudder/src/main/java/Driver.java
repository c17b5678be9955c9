import com.google.gson.GsonBuilder;
import com.google.gson.ToNumberPolicy;
import com.google.gson.reflect.TypeToken;
import com.rudderstack.sdk.java.analytics.RudderAnalytics;
import com.rudderstack.sdk.java.analytics.Callback;
import com.rudderstack.sdk.java.analytics.messages.AliasMessage;
import com.rudderstack.sdk.java.analytics.messages.GroupMessage;
import com.rudderstack.sdk.java.analytics.messages.IdentifyMessage;
import com.rudderstack.sdk.java.analytics.messages.Message;
import com.rudderstack.sdk.java.analytics.messages.MessageBuilder;
import com.rudderstack.sdk.java.analytics.messages.PageMessage;
import com.rudderstack.sdk.java.analytics.messages.ScreenMessage;
import com.rudderstack.sdk.java.analytics.messages.TrackMessage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Makes the calls of the scenario with com.rudderstack.sdk.java.analytics. */
public final class Driver {
  /** The messages that are neither sent nor given up. */
  private static final class Settled implements Callback {
    private final CountDownLatch left;
    private final AtomicInteger lost = new AtomicInteger();

    Settled(int messages) {
      left = new CountDownLatch(messages);
    }

    @Override
    public void success(Message message) {
      left.countDown();
    }

    @Override
    public void failure(Message message, Throwable cause) {
      System.err.println("given up: " + cause);
      lost.incrementAndGet();
      left.countDown();
    }
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, String> env = System.getenv();
    String text = Files.readString(Path.of(env.get("SCENARIO")));
    List<Map<String, Object>> calls =
        new GsonBuilder()
            .setObjectToNumberStrategy(ToNumberPolicy.LONG_OR_DOUBLE)
            .create()
            .fromJson(text, new TypeToken<List<Map<String, Object>>>() {}.getType());

    Settled settled = new Settled(calls.size());
    // snippet:begin
    RudderAnalytics analytics =
        RudderAnalytics.builder(env.get("WRITE_KEY"))
            .setDataPlaneUrl(env.get("ENDPOINT"))
            .callback(settled) // test only
            .setGZIP(env.get("GZIP").equals("on")) // test only
            .flushQueueSize(env.get("MODE").equals("each") ? 1 : 250) // test only
            .build();
    // snippet:end
    for (Map<String, Object> call : calls) {
      analytics.enqueue(common(message(call), call));
    }
    // Every message gets a callback, also when a failure holds it up meanwhile.
    analytics.shutdown();
    settled.left.await();
    // The HTTP client's threads would keep the process alive for a minute.
    System.exit(settled.lost.get() > 0 ? 1 : 0);
  }

  private static MessageBuilder<?, ?> message(Map<String, Object> call) {
    switch ((String) call.get("type")) {
      case "identify":
        return IdentifyMessage.builder().traits(object(call, "traits"));
      case "track":
        return TrackMessage.builder((String) call.get("event")).properties(object(call, "properties"));
      case "page":
        PageMessage.Builder page = PageMessage.builder((String) call.get("name")).properties(object(call, "properties"));
        return call.containsKey("category") ? page.category((String) call.get("category")) : page;
      case "screen":
        return ScreenMessage.builder((String) call.get("name")).properties(object(call, "properties"));
      case "group":
        return GroupMessage.builder((String) call.get("groupId")).traits(object(call, "traits"));
      case "alias":
        return AliasMessage.builder((String) call.get("previousId"));
      default:
        throw new IllegalArgumentException("the SDK has no " + call.get("type"));
    }
  }

  /** Gives the message what every type of call may have. */
  private static MessageBuilder<?, ?> common(MessageBuilder<?, ?> message, Map<String, Object> call) {
    if (call.containsKey("userId")) {
      message.userId((String) call.get("userId"));
    }
    if (call.containsKey("anonymousId")) {
      message.anonymousId((String) call.get("anonymousId"));
    }
    if (call.containsKey("messageId")) {
      message.messageId((String) call.get("messageId"));
    }
    if (call.containsKey("timestamp")) {
      message.timestamp(Date.from(Instant.parse((String) call.get("timestamp"))));
    }
    if (call.containsKey("context")) {
      message.context(object(call, "context"));
    }
    if (call.containsKey("integrations")) {
      object(call, "integrations").forEach((name, value) -> integration(message, name, value));
    }
    return message;
  }

  @SuppressWarnings("unchecked")
  private static void integration(MessageBuilder<?, ?> message, String name, Object value) {
    if (value instanceof Boolean) {
      message.enableIntegration(name, (Boolean) value);
    } else {
      message.integrationOptions(name, (Map<String, Object>) value);
    }
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> object(Map<String, Object> call, String member) {
    return (Map<String, Object>) call.get(member);
  }
}
