/** Runs a random script on a store, and compares every answer with the model's. */
import type { Change, StoredContract, CountedOnly } from "../../../src/domain/contract.js";
import { Decoder } from "../../../src/ledger/decode.js";
import { QueryExecutor } from "../../../src/registry/executor.js";
import { Recording } from "../../../src/registry/recorder.js";
import type { Registry } from "../../../src/registry/sdk/registry.js";
import { compileContexts } from "../../../src/registry/utility/contexts.js";
import { utilityRegistry } from "../../../src/registry/utility/index.js";
import type { StoreReader, StoreWriter } from "../../../src/state/port.js";
import { isDeepStrictEqual } from "node:util";
import { requireCredentials, rewardChanges } from "../../fixtures/contexts.js";
import { expectedAnswer } from "./answers.js";
import { type Actual, differences, execute } from "./compare.js";
import { NOW } from "./contract-arbitraries.js";
import type { Ledger, LedgerContract } from "./ledger.js";
import { elementOf, type LedgerChange, packageVersions, RandomLedger, type Script } from "./random-ledger.js";
import type { Request, Settings } from "./requests.js";
import type { Outcomes } from "./table.js";

const byDefault: Settings = {
  now: NOW,
  // At least the worst case that has to be supported, and small enough to be exceeded.
  limits: { legs: 60, allocations: 50, instruments: 25, accounts: 60, parties: 100 },
  credentialsRequired: false,
  rewards: "off",
  packageVersions: new Map(),
  blocklist: false,
  rejectsUnknown: false,
};

/** `file` is the parsed content of the operator's contexts file. */
function subject(settings: Partial<Settings>, file?: object): Subject {
  const all = { ...byDefault, ...settings };
  return {
    registry: utilityRegistry({
      settlementLimits: all.limits,
      rejectsUnknownAllocations: all.rejectsUnknown,
      contexts: compileContexts(file),
    }),
    settings: all,
  };
}

/** The operations on which a blocklist counts: all but reject, withdraw and cancel. */
const blocklistOperations = [
  "transfer-factory/offer",
  "transfer-factory/direct",
  "allocation-factory",
  "settlement-factory",
  "burn-mint-factory",
  "allocation/execute-transfer",
  "*/create",
  "*/accept",
];
const line = { entry: "transfer-rule", key: "blocklist", if: "check-blocklist" };
const blocklist = [
  { on: blocklistOperations, remove: ["no-blocklist"], add: [{ ...line, missing: "omit" }] },
  // Where everything may be missing it may be too.
  { on: ["transfer-factory/self"], remove: ["no-blocklist"], add: [line] },
];

/** All but one, which counts as current although it is the oldest. */
const listed = new Map([...packageVersions].filter(([id]) => id !== "app-v0-0.5.0"));

export const subjects: Readonly<Record<string, Subject>> = {
  "by default": subject({}),
  "with required credentials, rewards and a blocklist": subject(
    { credentialsRequired: true, rewards: "on", blocklist: true, rejectsUnknown: true },
    { changes: [...rewardChanges(), requireCredentials, ...blocklist] },
  ),
  "with versions of packages, and rewards for older ones": subject(
    { rewards: { appPackageBefore: "0.9.2" }, packageVersions: listed },
    {
      packages: Object.fromEntries(listed),
      changes: rewardChanges({ if: { package: "utility-registry-app-v0", before: "0.9.2" } }),
    },
  ),
};

/** The registry under test, and the settings by which the model describes it. */
export interface Subject {
  readonly registry: Registry;
  readonly settings: Settings;
}

export interface Store {
  readonly writer: StoreWriter;
  readonly readers: Readonly<Record<string, StoreReader>>;
  /** Makes the readers see what has been written. */
  readonly refresh: () => Promise<unknown>;
}

export async function runScript(
  { registry, settings }: Subject,
  { first, steps }: Script,
  { writer, readers, refresh }: Store,
  outcomes: Outcomes,
): Promise<void> {
  const decoder = new Decoder(registry.templates);
  const ledger = new RandomLedger();
  for (const draft of first) ledger.apply({ does: "create", draft });
  await writer.replace(
    ledger.contracts.flatMap((contract) => decode(decoder, contract) ?? []),
    1,
  );
  for (const [index, { changes, requests }] of steps.entries()) {
    const happened = changes.flatMap((change) => ledger.apply(change));
    await writer.apply(
      happened.flatMap((change) => storeChange(decoder, change)),
      index + 2,
    );
    await refresh();
    for (const draft of requests) {
      const request = draft(ledger.contracts);
      const expected = expectedAnswer(ledger.contracts, settings, request);
      let recorded: string | undefined;
      for (const [name, reader] of Object.entries(readers)) {
        const executor = new QueryExecutor(registry, reader, UP_TO_DATE, () => settings.now);
        const actual = await execute(executor, request);
        const different = differences(expected, actual);
        if (different.length > 0) throw new Error(report(name, different, request, ledger.contracts));
        const kind = actual.status === 200 ? actual.answer.transferKind : undefined;
        outcomes.add(request.operation, kind ?? String(actual.status));
        const recording = new Recording(true);
        const explained = await execute(executor, request, recording);
        const record = describeRecord(recording);
        const wrong = isDeepStrictEqual(explained, actual)
          ? explanationProblem(recording, actual)
          : "it is answered in another way when it is explained";
        if (wrong !== undefined) throw new Error(report(name, [wrong], request, ledger.contracts));
        recorded ??= record;
        if (record !== recorded) {
          const another = [
            "it is explained in another way, or has other tags, than on the first store:",
            record,
            recorded,
          ];
          throw new Error(report(name, another, request, ledger.contracts));
        }
      }
    }
  }
}

/** How the explanation of a request disagrees with its answer; undefined if it does not. */
function explanationProblem(recording: Recording, actual: Actual): string | undefined {
  const recorder = recording.last?.explanation;
  if (recorder === undefined) return "it is not explained";
  if (actual.status !== 200) return undefined;
  const { disclosed } = actual.answer;
  const recorded = recorder.disclosures.map(({ contract }) => contract.contractId);
  return disclosed === undefined || isDeepStrictEqual(recorded, disclosed)
    ? undefined
    : `it is explained to disclose ${recorded.join(", ")}`;
}

/** All that is recorded of an answer: the explanation, the tags, and until when it is valid. */
function describeRecord({ last }: Recording): string {
  const { searches, requirements, disclosures, notes } = last?.explanation ?? {};
  const tags = [...(last?.tags ?? [])].toSorted();
  return JSON.stringify([searches, requirements, disclosures, notes, tags, last?.validUntil], (_name, value: unknown) =>
    typeof value === "object" && value !== null && "createdEventBlob" in value && "contractId" in value
      ? value.contractId
      : value,
  );
}

const UP_TO_DATE = { staleReason: () => undefined };

export const decode = (decoder: Decoder, contract: LedgerContract): StoredContract | CountedOnly | undefined =>
  decoder.decode(elementOf(contract))?.contract;

/** A contract that no rule needs is no change. */
export function storeChange(decoder: Decoder, change: LedgerChange): Change[] {
  if (!("active" in change)) return [change];
  const active = decode(decoder, change.active);
  return active === undefined ? [] : [{ active }];
}

function report(store: string, different: readonly string[], request: Request, ledger: Ledger): string {
  const contracts = ledger.map((contract) => JSON.stringify(contract));
  return [`on the store "${store}":`, ...different, JSON.stringify(request, undefined, 2), ...contracts].join("\n");
}
