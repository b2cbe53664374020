package example;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientStreamTracer;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Records how every attempt of a call ended, which the call itself does not show. */
final class Attempts extends ClientStreamTracer.Factory implements ClientInterceptor {
  private final List<Status.Code> ended = new CopyOnWriteArrayList<>();

  @Override
  public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
    return next.newCall(method, options.withStreamTracerFactory(this));
  }

  @Override
  public ClientStreamTracer newClientStreamTracer(ClientStreamTracer.StreamInfo info, Metadata headers) {
    return new ClientStreamTracer() {
      @Override
      public void streamClosed(Status status) {
        ended.add(status.getCode());
      }
    };
  }

  List<Status.Code> ended() {
    return List.copyOf(ended);
  }
}
