package example;

import com.google.gson.Gson;
import com.google.gson.reflect.TypeToken;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Opens channels, and closes them all. */
final class Channels implements AutoCloseable {
  /** grpc-java attempts a call at most 5 times unless the channel allows more. */
  private static final int MAX_ATTEMPTS = 10;

  private final List<ManagedChannel> opened = new ArrayList<>();

  /** A channel that reports every error at once. */
  ManagedChannel open(String url) {
    return build(builder(url).disableRetry());
  }

  /** A channel with the retry policy of service-config.json. */
  ManagedChannel openWithRetries(String url) {
    return build(
        builder(url).enableRetry().maxRetryAttempts(MAX_ATTEMPTS).defaultServiceConfig(serviceConfig()));
  }

  @Override
  public void close() throws InterruptedException {
    for (ManagedChannel channel : opened) channel.shutdownNow();
    for (ManagedChannel channel : opened) channel.awaitTermination(5, TimeUnit.SECONDS);
  }

  /** Plaintext HTTP/2. For a service with TLS: {@code TlsChannelCredentials.create()}. */
  private static ManagedChannelBuilder<?> builder(String url) {
    URI uri = URI.create(url);
    return Grpc.newChannelBuilderForAddress(uri.getHost(), uri.getPort(), InsecureChannelCredentials.create());
  }

  private ManagedChannel build(ManagedChannelBuilder<?> builder) {
    ManagedChannel channel = builder.build();
    opened.add(channel);
    return channel;
  }

  private static Map<String, Object> serviceConfig() {
    try (Reader file =
        new InputStreamReader(Channels.class.getResourceAsStream("/service-config.json"), StandardCharsets.UTF_8)) {
      return new Gson().fromJson(file, new TypeToken<Map<String, Object>>() {}.getType());
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }
}
