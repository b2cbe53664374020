package example;

import com.google.protobuf.Timestamp;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import offledger.choice_arguments.v1.InstrumentId;
import offledger.choice_arguments.v2.Account;
import offledger.transfer_instruction.v1.GetTransferFactoryRequest;

/** The request of a transfer, in both versions of the token standard. */
record TransferRequests(String registrar, String sender, String receiver, String instrument) {
  private static final String AMOUNT = "10.0";

  /** The arguments of version 2, which names accounts. */
  GetTransferFactoryRequest version2() {
    var arguments = offledger.choice_arguments.v2.TransferArguments.newBuilder().addActors(sender);
    arguments
        .getTransferBuilder()
        .setSender(Account.newBuilder().setOwner(sender))
        .setReceiver(Account.newBuilder().setOwner(receiver))
        .setAmount(AMOUNT)
        .setInstrumentId(instrumentId())
        .setRequestedAt(timestamp(Instant.now()))
        .setExecuteBefore(timestamp(Instant.now().plus(1, ChronoUnit.DAYS)));
    return request().setTransferV2(arguments).build();
  }

  /** The arguments of version 1, which names parties. */
  GetTransferFactoryRequest version1() {
    var arguments = offledger.choice_arguments.v1.TransferArguments.newBuilder().setExpectedAdmin(registrar);
    arguments
        .getTransferBuilder()
        .setSender(sender)
        .setReceiver(receiver)
        .setAmount(AMOUNT)
        .setInstrumentId(instrumentId())
        .setRequestedAt(timestamp(Instant.now()))
        .setExecuteBefore(timestamp(Instant.now().plus(1, ChronoUnit.DAYS)));
    return request().setTransferV1(arguments).build();
  }

  /** A request that the service refuses. */
  GetTransferFactoryRequest withoutReceiver() {
    GetTransferFactoryRequest.Builder request = version2().toBuilder();
    request.getTransferV2Builder().getTransferBuilder().clearReceiver();
    return request.build();
  }

  private GetTransferFactoryRequest.Builder request() {
    return GetTransferFactoryRequest.newBuilder().setRegistrarParty(registrar).setExcludeDebugFields(true);
  }

  private InstrumentId instrumentId() {
    return InstrumentId.newBuilder().setAdmin(registrar).setId(instrument).build();
  }

  private static Timestamp timestamp(Instant instant) {
    return Timestamp.newBuilder().setSeconds(instant.getEpochSecond()).setNanos(instant.getNano()).build();
  }
}
