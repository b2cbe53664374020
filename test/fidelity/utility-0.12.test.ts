/**
 * Every flow that was recorded on a real ledger with the packages of Registry App 0.12, asked again in its state. What is
 * expected stands in the tables below, written from the specification; the recording gives the contract ids.
 */
import { isDeepStrictEqual } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { readContext } from "./contexts.js";
import {
  type Flow,
  isActive,
  isStakeholder,
  type RecordedContract,
  type Replied,
  replies,
  utilityLedger,
} from "./replayed-ledger.js";

type Entry =
  | "instrument-configuration"
  | "sender-credentials"
  | "receiver-credentials"
  | "issuer-credentials"
  | "transfer-rule";

/** A row of the specification's table of operations. */
interface Row {
  readonly entries: readonly Entry[];
  /** Whether the choice reads `enable-result-contracts`. */
  readonly resultContracts: boolean;
  /** What is disclosed besides the contracts of the entries. */
  readonly besides: "factory" | "locked holding";
}

const prefixed = (entry: string): string => `utility.digitalasset.com/${entry}`;
const CONFIGURATION = prefixed("instrument-configuration");

const TRANSFER: readonly Entry[] = [
  "instrument-configuration",
  "sender-credentials",
  "receiver-credentials",
  "transfer-rule",
];
const HOLDER: readonly Entry[] = ["instrument-configuration", "sender-credentials"];
const ISSUER: readonly Entry[] = ["instrument-configuration", "issuer-credentials"];

const row = (entries: readonly Entry[], resultContracts: boolean, besides: Row["besides"]): Row => ({
  entries,
  resultContracts,
  besides,
});

const rows: Readonly<Record<string, Row>> = {
  "transfer-factory offer": row(HOLDER, false, "factory"),
  "transfer-factory self": row(TRANSFER, true, "factory"),
  "transfer-factory direct": row(TRANSFER, true, "factory"),
  "transfer-instruction accept": row(TRANSFER, true, "locked holding"),
  "transfer-instruction reject": row([], true, "locked holding"),
  "transfer-instruction withdraw": row([], false, "locked holding"),
  "allocation-factory": row(HOLDER, false, "factory"),
  "allocations execute-transfer": row(TRANSFER, false, "locked holding"),
  "allocations withdraw": row([], false, "locked holding"),
  "allocations cancel": row([], false, "locked holding"),
  "mint/offer": row(ISSUER, false, "factory"),
  "mint/request": row(ISSUER, false, "factory"),
  "burn/offer": row(ISSUER, false, "factory"),
  "burn/request": row(ISSUER, false, "factory"),
  "mint/offer accept": row(ISSUER, true, "locked holding"),
  "mint/request accept": row(ISSUER, true, "locked holding"),
  "burn/offer accept": row(ISSUER, true, "locked holding"),
  "burn/request accept": row(ISSUER, true, "locked holding"),
  "mint/offer reject": row([], true, "locked holding"),
  "mint/request reject": row([], true, "locked holding"),
  "burn/offer reject": row([], true, "locked holding"),
  "burn/request reject": row([], true, "locked holding"),
  "mint/offer cancel": row([], false, "locked holding"),
  "mint/request cancel": row([], false, "locked holding"),
  "burn/offer cancel": row([], false, "locked holding"),
  "burn/request cancel": row([], false, "locked holding"),
  "burn-mint-factory": row(ISSUER, false, "factory"),
};

/** Why the ledger rejected commands, by the names of their flows. */
const rejections = {
  /** A party lacks what the instrument requires: the answer has an empty list. */
  lacking: /^(?:KYC-none:|A[1456] |B[15] |KYC accept after the sender lost)/,
  /** The wallet names the kind of transfer itself, and another than it is. */
  otherKind: /^K[13] /,
  /** The wallet adds a credential that has lapsed. */
  lapsed: /^A3 /,
  /** The recorded answer was of another group than the input holdings: ours must not be. */
  ofAnotherGroup: /^N2 /,
};

/** Asked of a service whose mirror reads as registrars and providers, and so sees no preapprovals. */
const READ_AS_REGISTRAR = /^(?:I4 |M1 |M4 accept, service 7881)/;
/** A mirror that reads as every party sees the preapproval of I4 and M1, and the credential of A6 and A7. */
const OTHERWISE_FOR_ALL = /^(?:I4|M1|A6|A7) /;

const { contracts, flows, parties } = utilityLedger();
const byId = new Map(contracts.map((contract) => [contract.createdEvent.contractId, contract]));
const { operator = "", registrar = "", registrar2 = "", provider = "", provider2 = "" } = parties;
const isOfRegistrars = ({ name }: Flow) => READ_AS_REGISTRAR.test(name);
const seenBy = (...readers: string[]) => contracts.filter((contract) => isStakeholder(readers, contract));

describe("Registry App 0.12 on a real ledger", () => {
  test("each rejected command has a reason that is no fault of the rules", () => {
    const rejected = flows.filter(({ outcome }) => outcome === "rejected by the ledger");
    expect(rejected).toHaveLength(36);
    const reasons = Object.values(rejections);
    expect(rejected.filter(({ name }) => reasons.filter((reason) => reason.test(name)).length !== 1)).toEqual([]);
  });

  test("where a party lacks credentials, an empty list is expected", () => {
    const lacking = flows.filter(({ name, outcome }) => outcome !== "accepted" && rejections.lacking.test(name));
    expect(lacking).toHaveLength(32);
    expect(lacking.filter((flow) => !hasEmptyList(expectedOf(flow)))).toEqual([]);
  });

  describe("a mirror that reads as the operator", () => {
    const asked = flows.filter((flow) => !isOfRegistrars(flow));
    expectAnswers(asked, () => replies(asked, seenBy(operator)));
  });

  describe("a mirror that reads as registrars and providers", () => {
    const asked = flows.filter(isOfRegistrars);
    expectAnswers(asked, () => replies(asked, seenBy(registrar, registrar2, provider, provider2)));
  });

  describe("a mirror that reads as every party", () => {
    const asked = flows.filter(({ name }) => !OTHERWISE_FOR_ALL.test(name));
    expectAnswers(asked, () => replies(asked, contracts));
  });
});

const hasEmptyList = ({ values = {} }: Reduced): boolean =>
  Object.values(values).some((value) => isDeepStrictEqual(value, { tag: "AV_List", value: [] }));

function expectAnswers(asked: readonly Flow[], replay: () => ReturnType<typeof replies>): void {
  let replied: Awaited<ReturnType<typeof replies>>;
  beforeAll(async () => {
    replied = await replay();
  });
  test.each(asked.map((flow) => [`${flow.askedAt} ${flow.name}`, flow] as const))("%s", (_, flow) => {
    const ours = replied.get(flow);
    // The names first: a failure shows them whole.
    expect(namesIn(ours)).toBe(namesOf(expectedOf(flow)));
    expect(ours === undefined ? ours : reduced(ours, flow)).toEqual(expectedOf(flow));
  });
}

interface Group {
  readonly operator: string;
  readonly provider: string;
  readonly registrar: string;
}

/** What is compared of an answer. */
interface Reduced {
  readonly status: number;
  readonly factoryId?: string | undefined;
  readonly transferKind?: string | undefined;
  /** Lists of contract ids are sets. */
  readonly values?: JsonObject;
  /** By contract id; each once. */
  readonly disclosed?: readonly Disclosed[];
  /** Disclosed contracts that name another party than the group. */
  readonly ofOtherGroups?: readonly string[];
}

interface Disclosed {
  readonly contractId: string;
  readonly templateId: string;
  readonly createdEventBlob: string;
  readonly synchronizerId: string;
}

function reduced({ status, body }: Replied, flow: Flow): Reduced {
  if (status !== 200) return { status };
  const { factoryId, transferKind, values, disclosed } = readContext(body);
  const group = groupOf(flow, factoryId);
  const isOther = ({ contractId }: { readonly contractId: string }) =>
    Object.entries(partiesOf(contractOf(contractId))).some(([name, party]) => group[name as keyof Group] !== party);
  return {
    status,
    factoryId,
    transferKind,
    values: sorted(values),
    disclosed: (disclosed as readonly Disclosed[])
      .map(({ contractId, templateId, createdEventBlob, synchronizerId }) => ({
        contractId,
        templateId,
        createdEventBlob,
        synchronizerId,
      }))
      .toSorted(byContractId),
    ofOtherGroups: disclosed.filter(isOther).map(({ templateId }) => templateId),
  };
}

function expectedOf(flow: Flow): Reduced {
  const { status, answer, askedAt } = flow;
  if (status !== 200) return { status };
  const recorded = readContext(answer);
  const group = groupOf(flow, recorded.factoryId);
  const { entries, resultContracts, besides } = rowOf(flow, recorded.transferKind);
  const values: Record<string, JsonValue> = {};
  for (const entry of entries) {
    const value = recorded.values[prefixed(entry)];
    // A self transfer has what is there, and without a configuration nothing says which credentials count.
    const isThere = value !== undefined && (CONFIGURATION in recorded.values || entry === "transfer-rule");
    if (!isThere && recorded.transferKind !== "self") throw new Error(`${flow.name} is recorded without ${entry}`);
    if (isThere) values[prefixed(entry)] = value;
  }
  const service = byId.get(newest("RegistrarService", flow, group));
  const enabled = service?.createdEvent.createArgument["enableResultContracts"];
  const isConfigured = CONFIGURATION in recorded.values || recorded.transferKind !== "self";
  if (resultContracts && isConfigured && typeof enabled === "boolean")
    values[prefixed("enable-result-contracts")] = { tag: "AV_Bool", value: enabled };
  let { factoryId } = recorded;
  if (rejections.ofAnotherGroup.test(flow.name)) {
    factoryId = newest("AllocationFactory", flow, group);
    values[CONFIGURATION] = { tag: "AV_ContractId", value: newest("InstrumentConfiguration", flow, group) };
  }
  const locked = lockedHoldingOf(flow);
  const isLocked = locked !== undefined && isActive(contractOf(locked), askedAt);
  const more = besides === "factory" ? [factoryId ?? ""] : isLocked ? [locked] : [];
  const disclosed = [...new Set([...idsIn(values), ...more])].map((contractId) => {
    const { createdEvent, synchronizerId } = contractOf(contractId);
    const { templateId, createdEventBlob } = createdEvent;
    return { contractId, templateId, createdEventBlob, synchronizerId };
  });
  const { transferKind } = recorded;
  return {
    status,
    factoryId,
    transferKind,
    values: sorted(values),
    disclosed: disclosed.toSorted(byContractId),
    ofOtherGroups: [],
  };
}

const byContractId = (a: Disclosed, b: Disclosed): number => (a.contractId < b.contractId ? -1 : 1);

/** The operation of a path. */
function rowOf({ request: { path } }: Flow, transferKind: string | undefined): Row {
  const [, standard, utility] =
    /registry\/(transfer-instruction|allocation-instruction|allocations)\/|registry\/((?:mint|burn)\/v0\/(?:offer|request))/.exec(
      path,
    ) ?? [];
  const last = path.slice(path.lastIndexOf("/") + 1);
  const name =
    last === "transfer-factory"
      ? `transfer-factory ${transferKind}`
      : path.includes("/choice-contexts/")
        ? `${standard ?? utility?.replace("/v0", "")} ${last}`
        : (utility?.replace("/v0", "") ?? last);
  const found = rows[name];
  if (found === undefined) throw new Error(`no row for ${name}`);
  return found;
}

/** The contract on which a choice is exercised; undefined for a factory. */
function instructionOf({ request: { path } }: Flow): RecordedContract | undefined {
  const [, id] = /\/([0-9a-f]+)\/choice-contexts\//.exec(path) ?? [];
  return id === undefined ? undefined : contractOf(id);
}

/** The group that the ledger compares with: of the instruction, of the input holdings, or of the factory. */
function groupOf(flow: Flow, factoryId: string | undefined): Group {
  const body = JSON.stringify(flow.request.body ?? {});
  const [, input] = /"(?:inputHoldingCids|holdingContractIds)":\["([0-9a-f]+)"/.exec(body) ?? [];
  const named = instructionOf(flow) ?? contractOf(input ?? factoryId ?? "");
  return { operator: "", provider: "", registrar: "", ...partiesOf(named) };
}

/** The parties of a group that a contract names. A credential names none, a preapproval no provider. */
function partiesOf({ createdEvent: { createArgument } }: RecordedContract): Partial<Group> {
  const { operator: operates, provider: provides } = createArgument as Partial<Group>;
  const [, registers] = /"(?:registrar|instrumentAdmin|admin)":"([^"]+)"/.exec(JSON.stringify(createArgument)) ?? [];
  return {
    ...(operates === undefined ? {} : { operator: operates }),
    ...(provides === undefined ? {} : { provider: provides }),
    ...(registers === undefined ? {} : { registrar: registers }),
  };
}

/** The newest active contract of the group: of its instrument, for a configuration. */
function newest(entity: string, flow: Flow, group: Group): string {
  const instrument = /"id":"([^"]+)"/.exec(JSON.stringify(flow.request.body ?? {}))?.[1];
  const found = contracts
    .filter((contract) => isActive(contract, flow.askedAt))
    .filter(({ createdEvent: { templateId } }) => templateId.endsWith(`:${entity}`))
    .filter(({ createdEvent: { createArgument } }) => {
      const { operator: o, provider: p, registrar: r, defaultIdentifier } = createArgument;
      const isOfGroup = o === group.operator && p === group.provider && r === group.registrar;
      return isOfGroup && (defaultIdentifier === undefined || (defaultIdentifier as JsonObject)["id"] === instrument);
    });
  return found.at(-1)?.createdEvent.contractId ?? "";
}

function lockedHoldingOf(flow: Flow): string | undefined {
  const { lockedHoldingCid, transfer } = (instructionOf(flow)?.createdEvent.createArgument ?? {}) as {
    readonly lockedHoldingCid?: string;
    readonly transfer?: { readonly inputHoldingCids: readonly string[] };
  };
  return lockedHoldingCid ?? transfer?.inputHoldingCids[0];
}

function contractOf(id: string): RecordedContract {
  const found = byId.get(id);
  if (found === undefined) throw new Error(`contract ${id} is not recorded`);
  return found;
}

const idsIn = (value: JsonValue): string[] =>
  [...JSON.stringify(value).matchAll(/"(00[0-9a-f]{60,})"/g)].map(([, id]) => id ?? "");

/** As text, which a failure shows whole. */
const namesOf = ({ values = {} }: Pick<Reduced, "values">): string =>
  Object.keys(values)
    .map((key) => key.replace(/^utility.digitalasset.com\//, "…/"))
    .toSorted()
    .join(" ");

const namesIn = (replied: Replied | undefined): string =>
  replied?.status === 200 ? namesOf(readContext(replied.body)) : "";

/** Lists of contract ids are sets. */
function sorted(values: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      const { tag, value: list } = value as { tag: string; value: JsonValue };
      if (!Array.isArray(list)) return [key, value];
      return [key, { tag, value: list.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) }];
    }),
  );
}
