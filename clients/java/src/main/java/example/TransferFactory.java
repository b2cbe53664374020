package example;

import static example.Report.require;

import com.google.protobuf.ByteString;
import com.google.protobuf.Value;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import offledger.choice_context.v1.AnyValue;
import offledger.choice_context.v1.ChoiceContext;
import offledger.choice_context.v1.DisclosedContract;
import offledger.transfer_instruction.v1.TransferFactoryWithChoiceContext;
import offledger.transfer_instruction.v1.TransferFactoryWithChoiceContext.TransferKind;

/** Reads a transfer factory: what a wallet passes to its choice and to its participant. */
final class TransferFactory {
  /** Begins every created event of Canton: field 1, the version of the serialization, here "2.1". */
  private static final ByteString BLOB_START = ByteString.copyFromUtf8("\n\u00032.1");

  private static final String CONFIGURATION = "instrument-configuration";

  private TransferFactory() {}

  static String read(TransferFactoryWithChoiceContext factory) {
    require(factory.getTransferKind() == TransferKind.offer, "the transfer kind offer", factory.getTransferKind());
    ChoiceContext context = factory.getChoiceContext();
    Map<String, DisclosedContract> disclosed =
        context.getDisclosedContractsList().stream()
            .collect(Collectors.toMap(DisclosedContract::getContractId, contract -> contract));
    require(
        disclosed.containsKey(factory.getFactoryId()), "the factory among the disclosed contracts", disclosed.keySet());
    Map<String, AnyValue> values = context.getChoiceContextData().getValuesMap();
    requireContractId(values.get(CONFIGURATION), disclosed);
    for (DisclosedContract contract : disclosed.values()) {
      ByteString blob = contract.getCreatedEventBlob();
      require(blob.startsWith(BLOB_START), "a created event as bytes", blob);
    }
    List<Integer> sizes = disclosed.values().stream().map(one -> one.getCreatedEventBlob().size()).sorted().toList();
    return "%s, factory %.10s…, values %s, blobs of %s bytes"
        .formatted(factory.getTransferKind(), factory.getFactoryId(), describe(values), sizes);
  }

  private static void requireContractId(AnyValue value, Map<String, DisclosedContract> disclosed) {
    require(value != null, "an entry " + CONFIGURATION, "none");
    require(value.getTag().equals("AV_ContractId"), "the tag AV_ContractId", value.getTag());
    String contractId = value.getValue().getStringValue();
    require(disclosed.containsKey(contractId), "the contract id of a disclosed contract", contractId);
  }

  private static String describe(Map<String, AnyValue> values) {
    return values.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(entry -> entry.getKey() + "=" + describe(entry.getValue()))
        .collect(Collectors.joining(", ", "{", "}"));
  }

  /** A value is a boolean for AV_Bool, a list for AV_List, an object for AV_Map, and a string for every other tag. */
  private static String describe(AnyValue any) {
    Value value = any.getValue();
    return switch (value.getKindCase()) {
      case STRING_VALUE -> "%s %.10s…".formatted(any.getTag(), value.getStringValue());
      case LIST_VALUE -> "%s of %d".formatted(any.getTag(), value.getListValue().getValuesCount());
      case STRUCT_VALUE -> "%s of %d".formatted(any.getTag(), value.getStructValue().getFieldsCount());
      case BOOL_VALUE -> "%s %b".formatted(any.getTag(), value.getBoolValue());
      default -> throw new AssertionError("unexpected value of " + any.getTag() + ": " + value);
    };
  }
}
