/**
 * Every flow that was recorded on a real ledger with the packages of Registry App 0.12, asked again in its state. What is
 * expected stands in the tables below, written from the specification; the recording gives the contract ids.
 */
import { beforeAll, describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import { readContext } from "./answer.js";
import { hasEvidence } from "./evidence.js";
import { type Flow, isActive, isStakeholder, type RecordedContract, utilityLedger } from "./recorded-ledger.js";
import { onPostgres, replies, type Replied } from "./replayed-service.js";

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

/** Why the ledger rejected a command, although the answer was what the specification says. */
const rejections: Readonly<Record<string, RegExp>> = {
  "a party lacks what the instrument requires": /^(?:KYC-none:|A[1456] |B[15] |KYC accept after the sender lost)/,
  "the wallet names the kind of transfer itself": /^K[13] /,
  "the wallet adds a stale credential": /^A3 /,
  "the answer was of another group than the inputs": /^N2 /,
};
const LACKING = rejections["a party lacks what the instrument requires"] ?? /^/;

/** Asked of a service whose mirror reads as registrars and providers, and so sees no preapprovals. */
const READ_AS_REGISTRAR = /^(?:I4 |M1 |M4 accept, service 7881)/;
/** A mirror that reads as every party sees the preapproval of I4 and M1, and the credential of A6 and A7. */
const OTHERWISE_FOR_ALL = /^(?:I4|M1|A6|A7) /;

const { contracts, flows, parties } = hasEvidence ? utilityLedger() : { contracts: [], flows: [], parties: {} };
const byId = new Map(contracts.map((contract) => [contract.createdEvent.contractId, contract]));
const { operator = "", registrar = "", registrar2 = "", provider = "", provider2 = "" } = parties;
const isOfRegistrars = ({ name }: Flow) => READ_AS_REGISTRAR.test(name);
const seenBy = (...readers: string[]) => contracts.filter((contract) => isStakeholder(readers, contract));

describe.skipIf(!hasEvidence)("Registry App 0.12 on a real ledger (skipped without the recordings)", () => {
  test("each rejected command has a reason that is no fault of the rules", () => {
    const rejected = flows.filter(({ outcome }) => outcome === "rejected by the ledger");
    expect(rejected).toHaveLength(36);
    const reasons = Object.values(rejections);
    expect(rejected.filter(({ name }) => reasons.filter((reason) => reason.test(name)).length !== 1)).toEqual([]);
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

  describe("a mirror on PostgreSQL", () => {
    const asked = flows.filter(({ set }) => set === "TWO");
    expectAnswers(asked, () => replies(asked, seenBy(operator), onPostgres));
  });
});

function expectAnswers(asked: readonly Flow[], replay: () => ReturnType<typeof replies>): void {
  let replied: Awaited<ReturnType<typeof replies>>;
  beforeAll(async () => {
    replied = await replay();
  });
  test.each(asked.map((flow) => [`${flow.askedAt} ${flow.name}`, flow] as const))("%s", (_, flow) => {
    const ours = replied.get(flow);
    if (ours === undefined) throw new Error("the flow was not asked");
    compare(ours, flow);
  });
}

function compare(ours: Replied, flow: Flow): void {
  expect({ status: ours.status, error: errorOf(ours) }).toEqual({ status: flow.status, error: expect.anything() });
  if (flow.status !== 200) return;
  const { factoryId, transferKind, values, disclosed } = readContext(ours.body);
  const expected = expectedOf(flow);
  expect({ factoryId, transferKind }).toEqual({ factoryId: expected.factoryId, transferKind: expected.transferKind });
  expect(namesOf(values)).toBe(namesOf(expected.values));
  expect(sorted(values)).toEqual(expected.values);
  expect(disclosed.map(({ contractId }) => contractId).toSorted()).toEqual(expected.disclosed);
  for (const contract of disclosed) {
    const { createdEvent, synchronizerId } = contractOf(contract.contractId);
    const { templateId, createdEventBlob } = createdEvent;
    expect(contract).toMatchObject({ templateId, createdEventBlob, synchronizerId });
    expect(expected.group).toMatchObject(partiesOf(createdEvent.createArgument));
  }
  if (LACKING.test(flow.name)) expect(Object.values(values)).toContainEqual({ tag: "AV_List", value: [] });
}

interface Group {
  readonly operator: string;
  readonly provider: string;
  readonly registrar: string;
}

interface Expected {
  readonly factoryId: string | undefined;
  readonly transferKind: string | undefined;
  readonly values: JsonObject;
  readonly disclosed: readonly string[];
  readonly group: Group;
}

function expectedOf(flow: Flow): Expected {
  const recorded = readContext(flow.answer);
  const instruction = instructionOf(flow);
  const group = groupOf(flow, instruction, recorded.factoryId);
  const { entries, resultContracts, besides } = rowOf(flow, recorded.transferKind);
  const isOtherGroup = rejections["the answer was of another group than the inputs"]?.test(flow.name) === true;
  const configuration = prefixed("instrument-configuration");
  const values: Record<string, JsonValue> = {};
  for (const entry of entries) {
    const value = recorded.values[prefixed(entry)];
    // A self transfer has what is there.
    if (value === undefined) expect(recorded.transferKind).toBe("self");
    else values[prefixed(entry)] = value;
  }
  const service = byId.get(newest("RegistrarService", flow, group));
  const enabled = service?.createdEvent.createArgument["enableResultContracts"];
  if (resultContracts && typeof enabled === "boolean")
    values[prefixed("enable-result-contracts")] = { tag: "AV_Bool", value: enabled };
  // Without a configuration nothing says which credentials count.
  if (recorded.transferKind === "self" && !(configuration in values))
    for (const entry of Object.keys(values)) if (entry !== prefixed("transfer-rule")) delete values[entry];
  if (isOtherGroup)
    values[configuration] = { tag: "AV_ContractId", value: newest("InstrumentConfiguration", flow, group) };
  const factoryId = isOtherGroup ? newest("AllocationFactory", flow, group) : recorded.factoryId;
  const locked = lockedHoldingOf(instruction);
  const isLocked = locked !== undefined && isActive(contractOf(locked), flow.askedAt);
  const more = besides === "factory" ? [factoryId ?? ""] : isLocked ? [locked] : [];
  return {
    factoryId,
    transferKind: recorded.transferKind,
    values: sorted(values),
    disclosed: [...new Set([...idsIn(values), ...more])].toSorted(),
    group,
  };
}

const prefixed = (entry: string): string => `utility.digitalasset.com/${entry}`;

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
function instructionOf({ request: { path } }: Flow): JsonObject | undefined {
  const [, id] = /\/([0-9a-f]+)\/choice-contexts\//.exec(path) ?? [];
  return id === undefined ? undefined : contractOf(id).createdEvent.createArgument;
}

/** The group that the ledger compares with: of the instruction, of the input holdings, or of the factory. */
function groupOf(
  { request: { body } }: Flow,
  instruction: JsonObject | undefined,
  factoryId: string | undefined,
): Group {
  const inputs = [...JSON.stringify(body ?? {}).matchAll(/"(?:inputHoldingCids|holdingContractIds)":\["([0-9a-f]+)"/g)];
  const [, input] = inputs[0] ?? [];
  const named = instruction ?? contractOf(input ?? factoryId ?? "").createdEvent.createArgument;
  return { operator: "", provider: "", registrar: "", ...partiesOf(named) };
}

/** The parties of a group that a contract names. A credential names none, a preapproval no provider. */
function partiesOf(argument: JsonObject): Partial<Group> {
  const found = /"(?:registrar|instrumentAdmin|admin)":"([^"]+)"/.exec(JSON.stringify(argument))?.[1];
  const group: Record<string, string> = {};
  for (const name of ["operator", "provider"] as const) {
    const party = argument[name];
    if (typeof party === "string") group[name] = party;
  }
  if (found !== undefined) group["registrar"] = found;
  return group;
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

function lockedHoldingOf(instruction: JsonObject | undefined): string | undefined {
  const { lockedHoldingCid, transfer } = instruction ?? {};
  if (typeof lockedHoldingCid === "string") return lockedHoldingCid;
  return (transfer as { inputHoldingCids: readonly string[] } | undefined)?.inputHoldingCids[0];
}

function contractOf(id: string): RecordedContract {
  const found = byId.get(id);
  if (found === undefined) throw new Error(`contract ${id} is not recorded`);
  return found;
}

const idsIn = (value: JsonValue): string[] =>
  [...JSON.stringify(value).matchAll(/"(00[0-9a-f]{60,})"/g)].map(([, id]) => id ?? "");

/** As text, which a failure shows whole. */
const namesOf = (values: JsonObject): string =>
  Object.keys(values)
    .map((key) => key.replace(/^utility.digitalasset.com\//, "…/"))
    .toSorted()
    .join(" ");

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

const errorOf = ({ status, body }: Replied): JsonValue =>
  status === 200 ? "none" : ((body as JsonObject)["error"] ?? "");
