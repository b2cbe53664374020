/** The service of the console, on the operator's port: what is served, how current it is, and what is known of contracts and parties. */
import type {
  GetContractResponseSchema,
  GetInventoryResponseSchema,
  GetPartyResponseSchema,
  InstrumentSchema,
  ListRefusalsResponseSchema,
  PendingInstructionSchema,
  RefusedRequestSchema,
  RegistrarSchema,
} from "../../gen/offledger/console/v1/console_pb.js";
import { ConsoleService } from "../../gen/offledger/console/v1/console_service_pb.js";
import { unpackViews } from "../domain/token-interfaces.js";
import { bodyOf } from "../domain/contract.js";
import type { JsonObject } from "../util/json.js";
import { expectPartyId } from "../domain/party.js";
import type { QueryExecutor } from "./executor.js";
import { findContract, type PartyResults, type PartySearcher } from "../registry/party-search.js";
import type {
  FoundInstruction,
  Registry,
  RequestContext,
  Requirement,
  ServedInstrument,
  ServedRegistrar,
} from "../registry/sdk/registry.js";
import { choiceCallMessage, type ConsoleData, type RefusedRequest, warningMessage } from "./console-data.js";
import { contractMessage, type PackageVersion } from "./explain.js";
import { causeMessage, timestamp } from "./messages.js";
import { bind, type ServiceBinding } from "./service-binding.js";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";

export interface ConsoleOptions {
  readonly executor: QueryExecutor;
  readonly data: ConsoleData;
  readonly parties: PartySearcher;
  readonly packageVersion: PackageVersion;
}

/** What the console shows to operators. */
export function consoleService({ executor, data, parties, packageVersion }: ConsoleOptions): ServiceBinding {
  return bind(ConsoleService, {
    getInventory: () => getInventory(executor, data, packageVersion),
    getFreshness: () => ({ notReadyReason: data.notReadyReason() ?? "", points: data.freshness() }),
    getRequests: () => data.requests(),
    listRefusals: ({ code }) => refusalsMessage(data.refusals(), code),
    async getParty({ party }) {
      expectPartyId("party", party);
      return partyMessage(await parties.search(party), packageVersion);
    },
    getContract: ({ contractId }) => getContract(executor, contractId, packageVersion),
  });
}

/** With a code, only the refusals for which it is a cause. */
export const refusalsMessage = (
  refusals: readonly RefusedRequest[],
  code: string,
): MessageInitShape<typeof ListRefusalsResponseSchema> => ({
  refusals: refusals
    .filter(({ causes }) => code === "" || causes.some((cause) => cause.code === code))
    .map(refusalMessage),
});

function refusalMessage(refused: RefusedRequest): MessageInitShape<typeof RefusedRequestSchema> {
  const { requestId, time, operation, protocol, status, message, causes, request } = refused;
  return {
    requestId,
    time: timestampFromMs(time),
    operation,
    protocol,
    status,
    error: message.toWellFormed(),
    causes: causes.map(causeMessage),
    ...(request !== undefined && { request }),
  };
}

const MAX_WARNINGS = 1_000;

async function getInventory(
  executor: QueryExecutor,
  { warnings, source, version, foreign }: ConsoleData,
  packageVersion: PackageVersion,
): Promise<MessageInitShape<typeof GetInventoryResponseSchema>> {
  const { value } = await executor.execute((registry, context) => ({
    registrars: listRegistrars(registry, context),
    templateCounts: context.view.templateCounts(),
  }));
  const found = warnings();
  const shown = found?.warnings.slice(0, MAX_WARNINGS) ?? [];
  const { messages, omitted } = registrarMessages(value.registrars, packageVersion);
  return {
    registrars: messages,
    templates: value.templateCounts.map(({ template, packageId, count }) => ({
      template: template.qualifiedName,
      packageId,
      count: BigInt(count),
    })),
    warnings: shown.map(warningMessage),
    checked: found !== undefined,
    omitted: omitted + (found?.total ?? 0) - shown.length,
    source,
    version,
    foreignContracts: BigInt(foreign() ?? 0),
  };
}

/** Of a registry without a lookup: what its inventory has, without its checks. */
function listRegistrars(registry: Registry, { view, now }: RequestContext): readonly ServedRegistrar[] {
  if (registry.lookup !== undefined) return registry.lookup.registrars(view);
  return registry.inventory(view, { now, credentialDays: 0 }).registrars;
}

/** A contract of any template of the registry. */
async function getContract(
  executor: QueryExecutor,
  contractId: string,
  packageVersion: PackageVersion,
): Promise<MessageInitShape<typeof GetContractResponseSchema>> {
  const found = await executor.execute((registry, context) => findContract(registry, context, contractId));
  const give = await found.takeBodies(({ contract }) => (contract === undefined ? [] : [contract]));
  const { contract, isArchived, calls } = give().value;
  if (contract === undefined) return { archived: isArchived };
  const body = bodyOf(contract);
  return {
    contract: contractMessage(contract, packageVersion),
    // The create arguments of a template are a record, and so is each view.
    payload: JSON.parse(body.payload) as JsonObject,
    views: unpackViews(body),
    calls: calls.flatMap((call) => choiceCallMessage(call) ?? []),
  };
}

/** Of one instruction, and of one credential. */
const MAX_CAUSES = 20;
const MAX_CLAIMS = 200;

export const partyMessage = (
  { credentials, preapprovals, instructions, isComplete }: PartyResults,
  packageVersion: PackageVersion,
): MessageInitShape<typeof GetPartyResponseSchema> => ({
  credentials: credentials.map(({ contract, issuer, holder, claims, validFrom, validUntil }) => ({
    contract: contractMessage(contract, packageVersion),
    issuer,
    holder,
    claims: claims.slice(0, MAX_CLAIMS),
    ...(validFrom !== undefined && { validFrom: timestamp(validFrom) }),
    ...(validUntil !== undefined && { validUntil: timestamp(validUntil) }),
  })),
  preapprovals: preapprovals.map(({ contract, registrar, instruments }) => ({
    contract: contractMessage(contract, packageVersion),
    registrar,
    instruments: [...instruments],
  })),
  instructions: instructions.map((found) => instructionMessage(found, packageVersion)),
  incomplete: !isComplete,
});

function instructionMessage(
  { contract, registrar, instruments, sender = "", receiver = "", causes, completion }: FoundInstruction,
  packageVersion: PackageVersion,
): MessageInitShape<typeof PendingInstructionSchema> {
  const call = completion === undefined ? undefined : choiceCallMessage(completion);
  return {
    contract: contractMessage(contract, packageVersion),
    registrar,
    instruments: [...instruments],
    sender,
    receiver,
    causes: causes.slice(0, MAX_CAUSES).map(causeMessage),
    ...(call !== undefined && { completion: call }),
  };
}

const MAX_REGISTRARS = 1_000;
/** Of one registrar, and of all together. */
const MAX_INSTRUMENTS = 1_000;
const MAX_ALL_INSTRUMENTS = 10_000;
/** Of one registrar: each upgrade may leave older ones. */
const MAX_SERVICES = 100;

export function registrarMessages(
  registrars: readonly ServedRegistrar[],
  packageVersion: PackageVersion,
): { readonly messages: MessageInitShape<typeof RegistrarSchema>[]; readonly omitted: number } {
  let room = MAX_ALL_INSTRUMENTS;
  const messages = registrars.slice(0, MAX_REGISTRARS).map(({ party, instruments, services = [] }) => {
    const shown = instruments.slice(0, Math.min(room, MAX_INSTRUMENTS));
    room -= shown.length;
    return {
      party,
      instruments: shown.map((instrument) => instrumentMessage(instrument, packageVersion)),
      services: services
        .slice(0, MAX_SERVICES)
        .map(({ name, contract }) => ({ name, contract: contractMessage(contract, packageVersion) })),
      omittedInstruments: instruments.length - shown.length,
    };
  });
  return { messages, omitted: registrars.length - messages.length };
}

const instrumentMessage = (
  {
    id,
    otherIds = [],
    paused = false,
    checksBlocklist = false,
    holderRequirements = [],
    issuerRequirements = [],
    configuration,
  }: ServedInstrument,
  packageVersion: PackageVersion,
): MessageInitShape<typeof InstrumentSchema> => ({
  id,
  otherIds: [...otherIds],
  paused,
  checksBlocklist,
  holderRequirements: holderRequirements.map(issuerClaims),
  issuerRequirements: issuerRequirements.map(issuerClaims),
  ...(configuration !== undefined && { configuration: contractMessage(configuration, packageVersion) }),
});

const issuerClaims = ({ issuer, requiredClaims }: Requirement) => ({ issuer, claims: [...requiredClaims] });
