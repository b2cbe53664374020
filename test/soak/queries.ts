/** Queries as data, and as calls of any protocol. The paths are those of the specification. */
import type { JsonObject } from "@bufbuild/protobuf";
import { InstrumentConfigurationService } from "../../gen/offledger/instrument_configuration/v0/instrument_configuration_service_pb.js";
import { TransferInstructionService as V1 } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { TransferInstructionService as V2 } from "../../gen/offledger/transfer_instruction/v2/transfer_instruction_service_pb.js";
import type { Random } from "../ingest/database/random.js";
import { parties } from "../fixtures/elements.js";
import type { Call } from "../fixtures/protocols.js";
import { holderParty, HOLDERS, instrumentId, INSTRUMENTS, type Offer, type World } from "./world.js";

export type Query =
  | {
      readonly kind: "choice";
      readonly choice: "accept" | "reject" | "withdraw";
      readonly version: "v1" | "v2";
      readonly contractId: string;
      readonly offer: Offer | undefined;
      readonly hasDebug: boolean;
    }
  | {
      readonly kind: "factory";
      readonly version: "v1" | "v2";
      readonly sender: number;
      readonly receiver: number;
      readonly instrument: number;
      readonly hasDebug: boolean;
    }
  | { readonly kind: "configuration"; readonly instrument: number };

const versions = ["v1", "v2"] as const;
/** Accept contexts depend on the most contracts. */
const choices = ["accept", "accept", "reject", "withdraw"] as const;
const { registrar } = parties;
const BASE_PATH = `/api/token-standard/v0/registrars/${encodeURIComponent(registrar)}/registry/transfer-instruction`;

export function randomQuery(world: World, random: Random): Query {
  const kind = random.below(100);
  const version = random.of(versions);
  const hasDebug = random.below(3) === 0;
  if (kind < 3) return { kind: "configuration", instrument: random.below(INSTRUMENTS) };
  if (kind < 40) {
    const [sender, receiver] = [random.below(HOLDERS), random.below(HOLDERS)];
    return { kind: "factory", version, sender, receiver, instrument: random.below(INSTRUMENTS), hasDebug };
  }
  const choice = random.of(choices);
  const open = [...world.open.values()];
  const offer =
    kind < 41
      ? undefined
      : kind < 45
        ? world.archived[random.below(world.archived.length)]
        : open.at(-pickRecent(random, open));
  const contractId = offer?.contract.contractId ?? `never-${random.below(1_000_000)}`;
  return { kind: "choice", choice, version, contractId, offer, hasDebug };
}

const pickRecent = (random: Random, { length }: readonly unknown[]): number =>
  1 + random.below(random.below(3) === 0 ? Math.min(3, length) : length);

export function toCall(query: Query): Call {
  switch (query.kind) {
    case "choice":
      return choiceCall(query);
    case "factory":
      return factoryCall(query);
    case "configuration":
      return configurationCall(query.instrument);
  }
}

function choiceCall({ choice, version, contractId, hasDebug }: Query & { readonly kind: "choice" }): Call {
  const { method: of } = version === "v1" ? V1 : V2;
  const method = {
    accept: of.getTransferInstructionAcceptContext,
    reject: of.getTransferInstructionRejectContext,
    withdraw: of.getTransferInstructionWithdrawContext,
  }[choice];
  const body = { meta: {}, excludeDebugFields: !hasDebug };
  return {
    method,
    path: `${BASE_PATH}/${version}/${contractId}/choice-contexts/${choice}`,
    body,
    request: { registrarParty: registrar, transferInstructionId: contractId, ...body },
  };
}

function factoryCall(query: Query & { readonly kind: "factory" }): Call {
  const { version, sender, receiver, hasDebug } = query;
  const party = (index: number) =>
    version === "v1" ? holderParty(index) : { owner: holderParty(index), provider: null, id: "" };
  const meta: JsonObject = { values: {} };
  const transfer: JsonObject = {
    sender: party(sender),
    receiver: party(receiver),
    amount: "1.0",
    instrumentId: { admin: registrar, id: instrumentId(query.instrument) },
    requestedAt: "2026-06-01T00:00:00Z",
    executeBefore: "2036-06-02T00:00:00Z",
    inputHoldingCids: [],
    meta,
  };
  const extraArgs: JsonObject = { context: {}, meta: {} };
  const rest: JsonObject = version === "v1" ? { expectedAdmin: registrar } : { actors: [holderParty(sender)] };
  const body = { choiceArguments: { ...rest, transfer, extraArgs }, excludeDebugFields: !hasDebug };
  return {
    method: (version === "v1" ? V1 : V2).method.getTransferFactory,
    path: `${BASE_PATH}/${version}/transfer-factory`,
    body,
    request: { registrarParty: registrar, ...body },
  };
}

function configurationCall(index: number): Call {
  const instrumentIdentifier = { source: registrar, id: instrumentId(index), scheme: "Internal" };
  const body = { registrar, instrumentIdentifier };
  const method = InstrumentConfigurationService.method.getInstrumentConfiguration;
  return { method, path: "/api/utilities/v0/contract/instrument-configuration", body, request: body };
}
