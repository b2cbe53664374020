/** The answer to accepting a transfer, from contracts that were found for it. The same as the service's. */
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { instrumentConfiguration } from "../../src/registry/utility/templates/instruments.js";
import { credential } from "../../src/registry/utility/templates/parties.js";
import {
  appRewardConfiguration,
  featuredAppRight,
  transferRule,
} from "../../src/registry/utility/templates/services.js";
import type { Found } from "./find-contracts.js";
import type { Active } from "./participant-client.js";

const PREFIX = "utility.digitalasset.com/";

/** Undefined where something that is needed is not there. */
export function answerOf({ offer, held, others }: Found, excludeDebugFields: boolean): JsonObject | undefined {
  const { transfer, provider } = offer.createArgument;
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
  const [sends, receives] = [sender, receiver].map((holder) => credentialsOf(holder, configuration, credentials));
  if (sends === undefined || receives === undefined) return undefined;
  const reward = newest(others(appRewardConfiguration), (payload) => payload["provider"] === provider);
  const right = newest(others(featuredAppRight), (payload) => payload["provider"] === provider);
  const entries: [string, JsonObject][] = [
    ["instrument-configuration", id(configuration)],
    ["sender-credentials", { tag: "AV_List", value: sends.map(id) }],
    ["receiver-credentials", { tag: "AV_List", value: receives.map(id) }],
    ["transfer-rule", id(rule)],
  ];
  if (reward !== undefined) entries.push(["app-reward-configuration", id(reward)]);
  if (right !== undefined) entries.push(["featured-app-right", id(right)]);
  const all = [configuration, ...sends, ...receives, rule, reward, right, held].filter((one) => one !== undefined);
  return {
    choiceContextData: {
      values: Object.fromEntries(
        entries.flatMap(([name, value]) => [
          [PREFIX + name, value],
          [name, value],
        ]),
      ),
    },
    disclosedContracts: [...new Set(all)].map((one) => disclosed(one, excludeDebugFields)),
  };
}

/** For each requirement one credential that meets it; undefined where there is none. */
function credentialsOf(holder: string, configuration: Active, credentials: readonly Active[]): Active[] | undefined {
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
  const found = chosen.filter((one) => one !== undefined);
  return found.length === chosen.length ? found : undefined;
}

function isValid({ validFrom, validUntil }: JsonObject): boolean {
  const now = Date.now();
  return (
    (typeof validFrom !== "string" || Date.parse(validFrom) <= now) &&
    (typeof validUntil !== "string" || now < Date.parse(validUntil))
  );
}

function newest(contracts: readonly Active[], isWanted: (payload: JsonObject) => boolean): Active | undefined {
  return contracts
    .filter(({ createArgument }) => isWanted(createArgument))
    .reduce<Active | undefined>(
      (best, one) => (best !== undefined && best.createdAt >= one.createdAt ? best : one),
      undefined,
    );
}

const id = ({ contractId }: Active): JsonObject => ({ tag: "AV_ContractId", value: contractId });

function disclosed(contract: Active, excludeDebugFields: boolean): JsonObject {
  const { templateId, contractId, createdEventBlob, synchronizerId } = contract;
  const told = { templateId, contractId, createdEventBlob, synchronizerId };
  if (excludeDebugFields) return told;
  const { packageName, createArgument, createdAt } = contract;
  return { ...told, debugPackageName: packageName, debugPayload: createArgument, debugCreatedAt: createdAt };
}
