/** Builds the accept context. The response equals that of the service. */
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import {
  credential,
  instrumentConfiguration,
  registrarService,
  transferRule,
} from "../../src/registry/utility/templates.js";
import type { AcceptanceContracts } from "./find-contracts.js";
import type { ParticipantContract } from "./participant-client.js";

const PREFIX = "utility.digitalasset.com/";

export function buildResponse(
  { offer, lockedHolding, others }: AcceptanceContracts,
  excludeDebugFields: boolean,
): JsonObject | undefined {
  const { transfer } = offer.createArgument;
  const { sender, receiver, instrumentId } = transfer as { sender: string; receiver: string; instrumentId: JsonObject };
  const registrar = instrumentId["admin"];
  const configuration = newest(others(instrumentConfiguration), (payload) => {
    const identifiers = [payload["defaultIdentifier"], ...(payload["additionalIdentifiers"] as JsonValue[])];
    const isNamed = identifiers.some((identifier) => (identifier as JsonObject)["id"] === instrumentId["id"]);
    return payload["registrar"] === registrar && isNamed;
  });
  const rule = newest(others(transferRule), (payload) => payload["registrar"] === registrar);
  if (configuration === undefined || rule === undefined) return undefined;
  const credentials = others(credential);
  const senderCredentials = credentialsOf(sender, configuration, credentials);
  const receiverCredentials = credentialsOf(receiver, configuration, credentials);
  const service = newest(others(registrarService), (payload) => payload["registrar"] === registrar);
  const enabled = service?.createArgument["enableResultContracts"];
  const entries: [string, JsonObject][] = [
    ["instrument-configuration", id(configuration)],
    ["sender-credentials", { tag: "AV_List", value: senderCredentials.map(id) }],
    ["receiver-credentials", { tag: "AV_List", value: receiverCredentials.map(id) }],
    ["transfer-rule", id(rule)],
  ];
  const values = Object.fromEntries(entries.map(([name, value]) => [PREFIX + name, value]));
  if (typeof enabled === "boolean") values[`${PREFIX}enable-result-contracts`] = { tag: "AV_Bool", value: enabled };
  const all = [configuration, ...senderCredentials, ...receiverCredentials, rule, lockedHolding].filter(
    (one) => one !== undefined,
  );
  return {
    choiceContextData: { values },
    disclosedContracts: [...new Set(all)].map((one) => toDisclosedContract(one, excludeDebugFields)),
  };
}

/** One credential per requirement; none for a requirement that is not met. */
function credentialsOf(
  holder: string,
  configuration: ParticipantContract,
  credentials: readonly ParticipantContract[],
): ParticipantContract[] {
  const requirements = configuration.createArgument["holderRequirements"] as JsonObject[];
  const chosen = requirements.map(({ issuer, requiredClaims }) =>
    newest(credentials, (payload) => {
      if (payload["issuer"] !== issuer || payload["holder"] !== holder || !isValid(payload)) return false;
      const claims = payload["claims"] as JsonObject[];
      return (requiredClaims as JsonObject[]).every(({ _1: property, _2: value }) =>
        claims.some(
          (claim) => claim["subject"] === holder && claim["property"] === property && claim["value"] === value,
        ),
      );
    }),
  );
  return chosen.filter((one) => one !== undefined);
}

function isValid({ validFrom, validUntil }: JsonObject): boolean {
  const now = Date.now();
  return (
    (typeof validFrom !== "string" || Date.parse(validFrom) <= now) &&
    (typeof validUntil !== "string" || now < Date.parse(validUntil))
  );
}

function newest(
  contracts: readonly ParticipantContract[],
  isWanted: (payload: JsonObject) => boolean,
): ParticipantContract | undefined {
  return contracts
    .filter(({ createArgument }) => isWanted(createArgument))
    .reduce<ParticipantContract | undefined>(
      (best, one) => (best !== undefined && best.createdAt >= one.createdAt ? best : one),
      undefined,
    );
}

const id = ({ contractId }: ParticipantContract): JsonObject => ({ tag: "AV_ContractId", value: contractId });

function toDisclosedContract(contract: ParticipantContract, excludeDebugFields: boolean): JsonObject {
  const { templateId, contractId, createdEventBlob, synchronizerId } = contract;
  const disclosed = { templateId, contractId, createdEventBlob, synchronizerId };
  if (excludeDebugFields) return disclosed;
  const { packageName, createArgument, createdAt } = contract;
  return { ...disclosed, debugPackageName: packageName, debugPayload: createArgument, debugCreatedAt: createdAt };
}
