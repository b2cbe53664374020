package example;

import static example.Report.require;

import com.google.protobuf.ByteString;
import com.google.protobuf.Value;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import offledger.choice_context.v1.AnyValue;
import offledger.choice_context.v1.ChoiceContext;
import offledger.choice_context.v1.DisclosedContract;
import offledger.transfer_instruction.v1.TransferFactoryWithChoiceContext;
import offledger.transfer_instruction.v1.TransferFactoryWithChoiceContext.TransferKind;

/** Reads what a wallet passes to the factory's choice and to its participant, and compares it with the ledger. */
final class TransferFactory {
  private TransferFactory() {}

  static String read(TransferFactoryWithChoiceContext factory) {
    String factoryId = Environment.get("FACTORY_ID");
    require(factory.getFactoryId().equals(factoryId), "the factory " + factoryId, factory.getFactoryId());
    require(factory.getTransferKind() == TransferKind.offer, "the transfer kind offer", factory.getTransferKind());
    ChoiceContext context = factory.getChoiceContext();
    Map<String, AnyValue> values = context.getChoiceContextData().getValuesMap();
    requireConfiguration(values.get("utility.digitalasset.com/instrument-configuration"));
    requireBlob(factoryId, context.getDisclosedContractsList());
    List<Integer> sizes =
        context.getDisclosedContractsList().stream().map(one -> one.getCreatedEventBlob().size()).sorted().toList();
    return "%s, factory %.10s…, values %s, blobs of %s bytes"
        .formatted(factory.getTransferKind(), factory.getFactoryId(), describe(values), sizes);
  }

  private static void requireConfiguration(AnyValue value) {
    String contractId = Environment.get("CONFIGURATION_ID");
    require(value != null && value.getTag().equals("AV_ContractId"), "a value with the tag AV_ContractId", value);
    require(value.getValue().getStringValue().equals(contractId), "the configuration " + contractId, value);
  }

  private static void requireBlob(String contractId, List<DisclosedContract> disclosed) {
    ByteString blob = ByteString.copyFrom(Base64.getDecoder().decode(Environment.get("FACTORY_BLOB")));
    boolean isDisclosed =
        disclosed.stream()
            .anyMatch(one -> one.getContractId().equals(contractId) && one.getCreatedEventBlob().equals(blob));
    require(isDisclosed, "the factory's created event among the disclosed contracts", disclosed);
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
