import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import offledger.ApiClient;
import offledger.ApiException;
import offledger.api.BurnV0Api;
import offledger.api.MetadataV1Api;
import offledger.api.TransferInstructionV1Api;
import offledger.api.TransferInstructionV2Api;
import offledger.model.GetTransferFactoryRequestV2;
import offledger.model.InstrumentId;
import offledger.model.GetTransferFactoryRequest;
import offledger.model.Transfer;
import offledger.model.TransferArguments;
import offledger.model.TransferFactoryWithChoiceContext;

/** Calls a service with the generated client. Arguments: the URL of the service, the path of its document. */
public final class Check {
  private final ApiClient client = new ApiClient();
  private final JsonNode document;

  private Check(String url, Path document) throws Exception {
    client.updateBaseUri(url);
    this.document = new ObjectMapper().readTree(document.toFile());
  }

  public static void main(String[] arguments) throws Exception {
    System.out.println(String.join(", ", new Check(arguments[0], Path.of(arguments[1])).run()));
  }

  private List<String> run() throws Exception {
    List<String> done = new ArrayList<>();
    String registrar = pathExample("registrarParty");

    var instruments = new MetadataV1Api(client).listInstruments(registrar, 25, null).getInstruments();
    require(!instruments.isEmpty(), "the registrar has instruments");
    done.add(instruments.size() + " instruments");

    // Typed arguments, and the ones of the example.
    JsonNode transfer = bodyExample("getTransferFactory").at("/choiceArguments/transfer");
    var typed = new Transfer()
        .sender(transfer.get("sender").asText())
        .receiver(transfer.get("receiver").asText())
        .amount("1.0")
        .instrumentId(new InstrumentId().admin(registrar).id(transfer.at("/instrumentId/id").asText()));
    var request = new GetTransferFactoryRequest().choiceArguments(new TransferArguments().transfer(typed));
    var factory = new TransferInstructionV1Api(client).getTransferFactory(registrar, request);
    require(factory.getTransferKind() == TransferFactoryWithChoiceContext.TransferKindEnum.OFFER, "it is an offer");
    require(!factory.getChoiceContext().getDisclosedContracts().isEmpty(), "contracts are disclosed");
    require(factory.getChoiceContext().getDisclosedContracts().get(0).getDebugPayload() != null, "debug fields");
    done.add("transfer factory " + factory.getTransferKind());

    var request2 = client.getObjectMapper()
        .treeToValue(bodyExample("getTransferFactoryV2"), GetTransferFactoryRequestV2.class)
        .excludeDebugFields(true);
    require(request2.getChoiceArguments().getTransfer().getSender().getOwner() != null, "accounts are typed");
    var factory2 = new TransferInstructionV2Api(client).getTransferFactoryV2(registrar, request2);
    require(factory2.getFactoryId().equals(factory.getFactoryId()), "both versions give one factory");
    require(factory2.getChoiceContext().getDisclosedContracts().get(0).getDebugPayload() == null, "no debug fields");
    done.add("v2 transfer factory " + factory2.getTransferKind());

    var context = new BurnV0Api(client).getBurnRequestAcceptContext(pathExample("burnRequestId"));
    require(context.getDisclosedContracts().get(0).getCreatedAt() != null, "created at a time");
    done.add("burn request with " + context.getDisclosedContracts().size() + " contracts");

    try {
      new MetadataV1Api(client).getRegistryInfo("nobody::1220");
      throw new IllegalStateException("an unknown registrar has an info");
    } catch (ApiException error) {
      require(error.getCode() == 404 && error.getResponseBody().contains("nobody::1220"), "404 names the registrar");
      done.add("404");
    }
    return done;
  }

  private JsonNode bodyExample(String operationId) {
    return operation(operationId).at("/requestBody/content/application~1json/example");
  }

  private JsonNode operation(String operationId) {
    for (JsonNode path : document.get("paths")) {
      for (JsonNode operation : path) {
        if (operation.get("operationId").asText().equals(operationId)) return operation;
      }
    }
    throw new IllegalArgumentException("the document has no operation " + operationId);
  }

  private String pathExample(String name) {
    for (JsonNode parameter : document.findValues("parameters")) {
      for (JsonNode one : parameter) {
        if (one.get("name").asText().equals(name)) return one.get("example").asText();
      }
    }
    throw new IllegalArgumentException("the document has no parameter " + name);
  }

  private static void require(boolean condition, String what) {
    if (!condition) throw new IllegalStateException("expected: " + what);
  }
}
