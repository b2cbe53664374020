package example;

import static example.Report.require;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;

/** Reads the google.rpc details of an error, from the trailer grpc-status-details-bin. */
final class ErrorDetails {
  private static final String WRONG_FIELD = "transfer.receiver";

  private ErrorDetails() {}

  /** Requires the reason, and for a wrong request the field that is wrong. */
  static String read(StatusRuntimeException error) throws InvalidProtocolBufferException {
    ErrorInfo info = find(error, ErrorInfo.class);
    require(info.getDomain().equals("offledger"), "the domain offledger", info.getDomain());
    require(!info.getReason().isEmpty(), "a reason", info);
    if (error.getStatus().getCode() != io.grpc.Status.Code.INVALID_ARGUMENT) return info.getReason();
    BadRequest badRequest = find(error, BadRequest.class);
    require(badRequest.getFieldViolationsCount() > 0, "a field violation", badRequest);
    BadRequest.FieldViolation first = badRequest.getFieldViolations(0);
    require(first.getField().endsWith(WRONG_FIELD), "the field " + WRONG_FIELD, first);
    return "%s, %s: %s".formatted(info.getReason(), first.getField(), first.getDescription());
  }

  private static <M extends Message> M find(StatusRuntimeException error, Class<M> type)
      throws InvalidProtocolBufferException {
    Status status = StatusProto.fromThrowable(error);
    require(status != null, "error details", "none");
    for (Any detail : status.getDetailsList()) {
      if (detail.is(type)) return detail.unpack(type);
    }
    throw new AssertionError("expected a detail " + type.getSimpleName() + ", but got " + status.getDetailsList());
  }
}
