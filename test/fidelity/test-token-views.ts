/** The views of Splice's test tokens, which recordings without views lack: what the packages compute of the arguments. */
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { TOKEN_INTERFACES } from "../../src/domain/token-interfaces.js";
import type { RecordedContract } from "./replayed-ledger.js";

/** By interface, such as `allocation/2`; empty for a template that implements none. */
export function viewsOf(templateId: string, payload: JsonObject): Readonly<Record<string, JsonObject>> {
  const [, module = "", entity = ""] = templateId.split(":");
  const version = module.includes("TestTokenV1") ? 1 : 2;
  const own = (kind: string, view: JsonObject) => ({ [`${kind}/${version}`]: view });
  const { allocation, transfer, holding, lockedTokens = {} } = payload;
  const locked = Object.values(lockedTokens as Record<string, JsonValue[]>).flat();
  switch (entity.replace(/V[12]$/, "")) {
    case "TokenRules":
      return {
        ...own("transfer-factory", payload),
        ...own("allocation-factory", payload),
        ...(version === 2 && own("settlement-factory", payload)),
      };
    case "TokenTransferOffer":
      return own("transfer-instruction", { transfer: transfer ?? null });
    case "TokenAllocation":
      // One for version 1 wraps one of version 2.
      return payload["allocationV2"] === undefined
        ? own("allocation", { allocation: allocation ?? null, holdingCids: locked })
        : viewsOf(templateId, payload["allocationV2"] as JsonObject);
    case "TokenAllocationInstruction":
      return own("allocation-instruction", { allocation: allocation ?? null });
    case "Token":
      return own("holding", holding as JsonObject);
    default:
      return {};
  }
}

/** As a participant that is read as the admin shows it. */
export function withViews(contract: RecordedContract): RecordedContract {
  const { templateId, createArgument, signatories } = contract.createdEvent;
  const interfaceViews = Object.entries(viewsOf(templateId, createArgument)).flatMap(([name, viewValue]) =>
    TOKEN_INTERFACES.filter(({ kind, version }) => name === `${kind}/${version}`).map((one) => ({
      interfaceId: `${one.packageId}:${one.qualifiedName}`,
      viewStatus: { code: 0 },
      viewValue,
    })),
  );
  const shown = { interfaceViews, witnessParties: [...signatories] };
  return { ...contract, createdEvent: Object.assign({}, contract.createdEvent, shown) };
}
