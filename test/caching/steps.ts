/** Random scripts: what happens to the ledger, the service and the client, and what the client asks. */
import fc from "fast-check";
import type { JsonObject } from "../../src/domain/json.js";
import type { Ledger } from "../rules/model/ledger.js";
import { request as ofModel } from "../rules/model/request-arbitraries.js";
import type { Request as ModelRequest } from "../rules/model/requests.js";
import { InstrumentConfigurationService } from "../../gen/offledger/instrument_configuration/v0/instrument_configuration_service_pb.js";
import { OperatorService } from "../../gen/offledger/operator/v0/operator_service_pb.js";
import { call } from "../fixtures/calls/build.js";
import {
  allocationFactory,
  burnMintFactory,
  configuration,
  configurationPage,
  createIssuance,
  executeTransfer,
  type Form,
  info,
  instrument as instrumentCall,
  instruments,
  type IssuanceChoice,
  type Kind,
  onAllocation,
  onAllocationInstruction,
  onIssuance,
  onTransfer,
  settlementFactory,
  transferFactory,
} from "../fixtures/calls/operations.js";
import type { Call } from "../fixtures/protocols.js";

import {
  type ContractDraft,
  credential,
  instruction,
  instrument,
  namedRegistrar,
  NOW,
  preapproval,
  rarely,
  registrars,
  traders,
} from "../rules/model/contract-arbitraries.js";
import { change, first, otherContract, type Step as LedgerStep } from "../rules/model/random-ledger.js";
import { subjects } from "../rules/model/run-script.js";

type OtherRequest =
  | { readonly operation: "packages" }
  | { readonly operation: "configuration-page"; readonly page: number; readonly size: number }
  | { readonly operation: "instrument"; readonly registrar: string; readonly id: string }
  | { readonly operation: "instrument-page"; readonly registrar: string; readonly size: number };
export type Request = ModelRequest | OtherRequest;

/** A request that names contracts of the ledger as it is when the request is sent. */
type Draft = (ledger: Ledger) => Request;

const pageSize = fc.constantFrom(1, 3);
const named = <T extends string>(operation: T) => fc.constant(operation);
const other: fc.Arbitrary<OtherRequest> = fc.oneof(
  fc.record({ operation: named("packages") }),
  fc.record({ operation: named("configuration-page"), page: fc.constantFrom(0, 1), size: pageSize }),
  fc.record({ operation: named("instrument"), registrar: namedRegistrar, id: instrument }),
  fc.record({ operation: named("instrument-page"), registrar: namedRegistrar, size: pageSize }),
);

const meta = { values: {} };
const account = (owner: string): JsonObject => ({ owner, provider: null, id: "" });
/** The limit of the subjects. */
const PARTIES = 60;

/** A settlement of so many parties that its response has no list of tags. */
const large = fc.constantFrom(...registrars.slice(0, 2)).map((registrar): Request => {
  const parties = Array.from({ length: PARTIES }, (_, index) => traders[index] ?? `owner-${index}::1220`);
  const extraArgs = { context: { values: {} }, meta };
  const legs = parties.map((party, index): JsonObject => ({
    sender: account(party),
    receiver: account(parties[(index + 1) % PARTIES] ?? party),
    instrumentId: "USD",
  }));
  const settlement = { executors: ["executor::1220"], id: "trade", cid: null, meta };
  const choiceArguments = { settlement, transferLegs: legs, allocations: [], actors: ["executor::1220"], extraArgs };
  return { operation: "settlement-factory", registrar, choiceArguments };
});

const always =
  (drawn: Request): Draft =>
  () =>
    drawn;

const anyRequest: fc.Arbitrary<Draft> = fc.oneof(
  { weight: 16, arbitrary: ofModel },
  { weight: 2, arbitrary: other.map(always) },
  { weight: 1, arbitrary: large.map(always) },
);

export function toCall(request: Request): Call {
  switch (request.operation) {
    case "transfer-factory":
      return transferFactory(versionOf(request.choiceArguments), bodyOf(request), request.registrar);
    case "allocation-factory":
      return allocationFactory(versionOf(request.choiceArguments), bodyOf(request), request.registrar);
    case "settlement-factory":
      return settlementFactory(bodyOf(request), request.registrar);
    case "burn-mint-factory":
      return burnMintFactory(request.holders, request.instrument, request.registrar);
    case "instrument-configuration":
      return configuration({ ...request.identifier }, request.registrar);
    case "instrument-configurations":
      return call(InstrumentConfigurationService.method.getAllInstrumentConfigurations);
    case "instruments":
      return instruments(request.registrar);
    case "supported-apis":
      return info(request.registrar);
    case "operator":
      return call(OperatorService.method.getOperator);
    case "packages":
      return call(OperatorService.method.getAllPackages);
    case "configuration-page":
      return configurationPage({ page: request.page, size: request.size });
    case "instrument":
      return instrumentCall(request.registrar, request.id);
    case "instrument-page":
      return instruments(request.registrar, { pageSize: request.size });
    case "allocation/execute-transfer":
      return executeTransfer(request.contractId, request.registrar);
    default:
      return toChoiceCall(request);
  }
}

type ChoiceRequest = Extract<Request, { readonly contractId: string } | { readonly holders: readonly string[] }>;

/** Names of operations are paths such as `mint-offer/accept`. */
function toChoiceCall(request: ChoiceRequest): Call {
  const [on = "", name = ""] = request.operation.split("/");
  if ("holders" in request) {
    const [kind, form] = on.split("-") as [Kind, Form];
    return createIssuance(kind, form, request.holders[0] ?? "", request.instrument, request.registrar);
  }
  const { contractId } = request;
  if (!("registrar" in request)) {
    const [kind, form] = on.split("-") as [Kind, Form];
    return onIssuance(kind, form, name as IssuanceChoice, contractId);
  }
  const { registrar } = request;
  if (on === "allocation-instruction")
    return onAllocationInstruction(name as "accept" | "withdraw", contractId, registrar);
  if (on === "allocation") return onAllocation("v2", name as "withdraw" | "cancel", contractId, registrar);
  return onTransfer("v1", name as "accept" | "reject" | "withdraw", contractId, registrar);
}

const versionOf = (choice: object): "v1" | "v2" => ("expectedAdmin" in choice ? "v1" : "v2");

/** The responses of some have no debug fields. */
const bodyOf = ({ choiceArguments }: { readonly choiceArguments: JsonObject }): JsonObject => ({
  choiceArguments,
  excludeDebugFields: JSON.stringify(choiceArguments).length % 2 === 0,
});

/** `which` picks one of what there is, modulo their number. */
export type Step =
  /** Without changes only the offset moves. */
  | { readonly does: "update"; readonly changes: readonly LedgerStep[] }
  /** Some changes, and then more than the service keeps: many updates, or one with many changes. */
  | {
      readonly does: "flood";
      readonly first: readonly LedgerStep[];
      readonly updates: number;
      readonly changes: number;
    }
  /** The same contracts as a new snapshot. */
  | { readonly does: "snapshot" }
  /** The ledger is set back, and goes on otherwise. */
  | { readonly does: "restore"; readonly which: number }
  | { readonly does: "wait"; readonly ms: number }
  /** To a time since the begin of the script, if it is not over. */
  | { readonly does: "wait until"; readonly ms: number }
  | { readonly does: "ask"; readonly draft: Draft; readonly isLate: boolean; readonly replica: number }
  /** Asks one of the earlier requests again. */
  | { readonly does: "ask again"; readonly which: number; readonly isLate: boolean; readonly replica: number }
  /** One of the late responses arrives. */
  | { readonly does: "arrive"; readonly which: number }
  /** Whether events are on their way, until they are delivered. */
  | { readonly does: "hold"; readonly isHeld: boolean }
  | { readonly does: "read"; readonly isReading: boolean }
  /** The client may not notice that its stream is gone. */
  | { readonly does: "cut"; readonly isNoticed: boolean }
  | { readonly does: "open"; readonly resumes: boolean; readonly replica: number }
  /** The service may not answer, or may again. */
  | { readonly does: "stale"; readonly isStale: boolean }
  /** All that is under way arrives. */
  | { readonly does: "settle" }
  | DatabaseStep;

/** What happens to a database and its replicas. */
export type DatabaseStep =
  | { readonly does: "refresh" | "restart"; readonly replica: number }
  /** Another process becomes the writer, and the one before tries to write. */
  | { readonly does: "new writer" }
  /** Rows that no reader needs are deleted. */
  | { readonly does: "clean up" };

export interface Script {
  readonly subject: string;
  readonly first: readonly ContractDraft[];
  /** What the stream covers: the client keeps no other responses. */
  readonly covers: "all" | readonly string[] | "tags";
  readonly maxRemembered: number;
  /** Whether instruments have a total supply. */
  readonly countsHoldings: boolean;
  readonly steps: readonly Step[];
}

const SECOND = 1_000_000;
/** Microseconds from the begin of the script, to which credentials begin or end. */
const seconds = fc.constantFrom(1, 2, 5, 12, 30, 60);
const soon = fc
  .tuple(seconds, fc.constantFrom(-1, 0, 1, 999))
  .map(([second, micros]) => timeText(NOW * 1000 + second * SECOND + micros));
const timeText = (micros: number): string =>
  `${new Date(Math.floor(micros / 1000)).toISOString().slice(0, -1)}${String(micros % 1000).padStart(3, "0")}Z`;

/** A credential that begins or ends during the script. */
const timedCredential: fc.Arbitrary<ContractDraft> = fc
  .tuple(credential, fc.option(soon, { freq: 2, nil: null }), fc.option(soon, { freq: 2, nil: null }))
  .map(([draft, validFrom, validUntil]) =>
    Object.assign({}, draft, { payload: { ...draft.payload, validFrom, validUntil } }),
  );
const holding: fc.Arbitrary<ContractDraft> = fc.tuple(otherContract, fc.boolean()).map(([{ placement }, isLocked]) => ({
  template: "Holding",
  placement,
  locks: undefined,
  payload: {
    operator: "operator::1220",
    provider: "provider::1220",
    registrar: "gold::1220",
    owner: "alice::1220",
    instrument: { source: "gold::1220", id: "USD", scheme: "Internal" },
    label: "",
    amount: "1.0000000000",
    lock: isLocked ? { lockers: { map: [["gold::1220", {}]] }, context: "", observers: { map: [] } } : null,
  },
}));

const created = fc.oneof(
  { weight: 4, arbitrary: otherContract },
  { weight: 3, arbitrary: timedCredential },
  { weight: 2, arbitrary: preapproval },
  { weight: 2, arbitrary: instruction },
  { weight: 1, arbitrary: holding },
);
const ledgerStep: fc.Arbitrary<LedgerStep[]> = fc.oneof(
  { weight: 6, arbitrary: change.map((one) => [one]) },
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant("create" as const), draft: created }).map((one) => [one]),
  },
  // To the other synchronizer in one update.
  { weight: 1, arbitrary: fc.nat().map((which): LedgerStep[] => [moving(which), moving(which)]) },
  { weight: 1, arbitrary: fc.nat().map((which): LedgerStep[] => [{ does: "arrive", which }]) },
);
const moving = (which: number): LedgerStep => ({ does: "reassign", which });
const ledgerSteps = fc.array(ledgerStep, { maxLength: 3 }).map((parts) => parts.flat());
const replica = fc.nat({ max: 1 });
const constant = <T extends Step["does"]>(does: T) => fc.constant(does);

type Weighted = fc.WeightedArbitrary<Step>;

/** `floods` are numbers of updates, and of changes in each. */
const stepsWith = (
  floods: readonly (readonly [updates: number, changes: number])[],
  ...others: readonly Weighted[]
): fc.Arbitrary<Step> =>
  fc.oneof(
    {
      weight: 60,
      arbitrary: fc.record({ does: constant("update"), changes: ledgerSteps }),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(rarely(8), fc.constantFrom(...floods), ledgerSteps)
        .map(([isLarge, [updates, changes], begun]): Step =>
          isLarge
            ? { does: "flood", first: begun, updates, changes }
            : { does: "flood", first: begun, updates: 20, changes: 2 },
        ),
    },
    { weight: 1, arbitrary: fc.record({ does: constant("snapshot") }) },
    { weight: 1, arbitrary: fc.record({ does: constant("restore"), which: fc.nat() }) },
    {
      weight: 40,
      arbitrary: fc.record({
        does: constant("wait"),
        ms: fc.oneof(
          { weight: 6, arbitrary: fc.constantFrom(0, 1, 20, 80, 99, 100, 101, 500, 999, 1_000, 3_000) },
          { weight: 1, arbitrary: fc.constantFrom(9_000, 12_000, 26_000) },
        ),
      }),
    },
    {
      weight: 8,
      arbitrary: fc
        .tuple(seconds, fc.constantFrom(-1, 0, 1))
        .map(([second, ms]): Step => ({ does: "wait until", ms: second * 1_000 + ms })),
    },
    { weight: 30, arbitrary: fc.record({ does: constant("ask"), draft: anyRequest, isLate: rarely(4), replica }) },
    {
      weight: 60,
      arbitrary: fc.record({ does: constant("ask again"), which: fc.nat(), isLate: rarely(4), replica }),
    },
    { weight: 8, arbitrary: fc.record({ does: constant("arrive"), which: fc.nat() }) },
    { weight: 8, arbitrary: fc.record({ does: constant("hold"), isHeld: rarely(3) }) },
    { weight: 8, arbitrary: fc.record({ does: constant("read"), isReading: rarely(3).map((isSlow) => !isSlow) }) },
    { weight: 4, arbitrary: fc.record({ does: constant("cut"), isNoticed: fc.boolean() }) },
    { weight: 8, arbitrary: fc.record({ does: constant("open"), resumes: rarely(8).map((isNew) => !isNew), replica }) },
    { weight: 2, arbitrary: fc.record({ does: constant("stale"), isStale: rarely(3) }) },
    { weight: 6, arbitrary: fc.record({ does: constant("settle") }) },
    ...others,
  );

export const inMemorySteps = stepsWith([
  [10_001, 1],
  [1, 10_001],
  [1, 2_001],
  [300, 3],
]);
export const databaseSteps = stepsWith(
  [[1, 2_001]],
  { weight: 80, arbitrary: fc.record({ does: constant("refresh"), replica }) },
  { weight: 4, arbitrary: fc.record({ does: constant("restart"), replica }) },
  { weight: 3, arbitrary: fc.record({ does: constant("new writer") }) },
  { weight: 3, arbitrary: fc.record({ does: constant("clean up") }) },
);

const begin: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ does: constant("ask"), draft: anyRequest, isLate: fc.constant(false), replica }),
  { minLength: 16, maxLength: 30, size: "max" },
);

export const scripts = (maxSteps: number, ofSteps: fc.Arbitrary<Step>): fc.Arbitrary<Script> =>
  fc
    .record({
      subject: fc.constantFrom(...Object.keys(subjects)),
      first: fc.tuple(first, fc.array(timedCredential, { maxLength: 8 })).map((parts) => parts.flat()),
      covers: fc.oneof(
        { weight: 3, arbitrary: fc.constant("all" as const) },
        {
          weight: 2,
          arbitrary: fc.constantFrom<readonly string[]>([registrars[0]], [registrars[1]], registrars.slice(0, 2)),
        },
        { weight: 1, arbitrary: fc.constant("tags" as const) },
      ),
      maxRemembered: fc.constantFrom(0, 1, 3, 1_000, 1_000),
      countsHoldings: fc.boolean(),
      begin,
      steps: fc.array(ofSteps, { minLength: 10, maxLength: maxSteps, size: "max" }),
    })
    .map(({ begin: asked, steps: others, ...script }) => {
      const steps = [...asked, ...others];
      return Object.assign(script, { steps, [fc.toStringMethod]: () => describe(steps) });
    });

/** Drafts of requests and contracts say nothing as text. */
const describe = (steps: readonly Step[]): string =>
  steps
    .map((one) =>
      JSON.stringify(one, (name, value: unknown) =>
        name === "draft" && typeof value === "object" ? (value as { template?: string }).template : value,
      ),
    )
    .join("\n");
