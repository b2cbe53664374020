package example;

import static example.Report.require;

import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import java.util.List;
import java.util.concurrent.TimeUnit;
import offledger.transfer_instruction.v1.GetTransferFactoryRequest;
import offledger.transfer_instruction.v1.TransferFactoryWithChoiceContext;
import offledger.transfer_instruction.v2.TransferInstructionServiceGrpc;
import offledger.transfer_instruction.v2.TransferInstructionServiceGrpc.TransferInstructionServiceBlockingStub;

/** Calls the service with grpc-java and prints what it saw. The environment names the services and the transfer. */
public final class Main {
  private static final long DEADLINE_SECONDS = 30;
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private final Channels channels;
  private final TransferRequests requests;
  private final boolean expectsDetails = "1".equals(System.getenv("OFFLEDGER_EXPECT_DETAILS"));

  private Main(Channels channels, TransferRequests requests) {
    this.channels = channels;
    this.requests = requests;
  }

  public static void main(String[] arguments) throws InterruptedException {
    TransferRequests requests =
        new TransferRequests(
            Environment.get("REGISTRAR"), Environment.get("SENDER"), Environment.get("RECEIVER"), Environment.get("INSTRUMENT"));
    Report report = new Report();
    try (Channels channels = new Channels()) {
      Main main = new Main(channels, requests);
      // The retry comes first: that service starts answering after some seconds.
      report.check("retry", main::retry);
      report.check("typed transfer-factory, version 2", () -> main.transferFactory(requests.version2()));
      report.check("typed transfer-factory, version 1", () -> main.transferFactory(requests.version1()));
      report.check("invalid argument", main::invalidArgument);
      report.check("token missing", main::tokenMissing);
      report.check("token", main::token);
      report.check("deadline", main::deadline);
    }
    System.exit(report.hasFailed() ? 1 : 0);
  }

  private String retry() {
    Attempts attempts = new Attempts();
    ManagedChannel channel = channels.openWithRetries(Environment.get("OFFLEDGER_URL_STARTING"));
    stub(channel).withInterceptors(attempts).getTransferFactory(requests.version2());
    List<Status.Code> codes = attempts.ended();
    require(codes.get(0) == Status.Code.UNAVAILABLE, "UNAVAILABLE at first", codes);
    return "attempts ended with " + codes;
  }

  private String transferFactory(GetTransferFactoryRequest request) {
    TransferFactoryWithChoiceContext factory = stub(open("OFFLEDGER_URL")).getTransferFactory(request);
    return TransferFactory.read(factory);
  }

  private String invalidArgument() throws Exception {
    TransferInstructionServiceBlockingStub stub = stub(open("OFFLEDGER_URL"));
    StatusRuntimeException error = refusal(() -> stub.getTransferFactory(requests.withoutReceiver()));
    return describe(error, Status.Code.INVALID_ARGUMENT);
  }

  private String tokenMissing() throws Exception {
    TransferInstructionServiceBlockingStub stub = stub(open("OFFLEDGER_URL_TOKENS"));
    StatusRuntimeException error = refusal(() -> stub.getTransferFactory(requests.version2()));
    String challenge = trailer(error, "www-authenticate");
    require(challenge != null && challenge.startsWith("Bearer "), "a challenge for a bearer token", challenge);
    return describe(error, Status.Code.UNAUTHENTICATED) + "; www-authenticate: " + challenge;
  }

  private String token() {
    Metadata headers = new Metadata();
    headers.put(AUTHORIZATION, "Bearer " + Environment.get("OFFLEDGER_TOKEN"));
    TransferInstructionServiceBlockingStub stub =
        stub(open("OFFLEDGER_URL_TOKENS")).withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
    return TransferFactory.read(stub.getTransferFactory(requests.version2()));
  }

  private String deadline() throws Exception {
    TransferInstructionServiceBlockingStub stub =
        TransferInstructionServiceGrpc.newBlockingStub(open("OFFLEDGER_URL_SLOW"))
            .withDeadlineAfter(300, TimeUnit.MILLISECONDS);
    Status status = refusal(() -> stub.getTransferFactory(requests.version2())).getStatus();
    require(status.getCode() == Status.Code.DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED", status);
    return status.getCode() + ": " + status.getDescription();
  }

  private String describe(StatusRuntimeException error, Status.Code expected) throws Exception {
    Status status = error.getStatus();
    require(status.getCode() == expected, expected.toString(), status);
    require(status.getDescription() != null && !status.getDescription().isEmpty(), "a message", status);
    String described = status.getCode() + ": " + status.getDescription();
    return expectsDetails ? described + "; details " + ErrorDetails.read(error) : described;
  }

  /** The error of a call that is refused. */
  private static StatusRuntimeException refusal(Runnable call) {
    try {
      call.run();
    } catch (StatusRuntimeException error) {
      return error;
    }
    throw new AssertionError("expected a refusal, but the call succeeded");
  }

  private ManagedChannel open(String variable) {
    return channels.open(Environment.get(variable));
  }

  private static TransferInstructionServiceBlockingStub stub(ManagedChannel channel) {
    return TransferInstructionServiceGrpc.newBlockingStub(channel)
        .withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  private static String trailer(StatusRuntimeException error, String name) {
    Metadata trailers = error.getTrailers();
    return trailers == null ? null : trailers.get(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
  }
}
