/** Runs a random script on a store, and compares every answer with the model's. */
import { alreadyCaughtUp } from "../../../src/domain/ledger.js";
import { isDeepStrictEqual } from "node:util";
import type { Change, Contract, CountedOnly } from "../../../src/domain/contract.js";
import { Decoder } from "../../../src/ledger/decode.js";
import { QueryExecutor } from "../../../src/registry/executor.js";
import { Recording } from "../../../src/registry/recorder.js";
import type { Registry } from "../../../src/registry/sdk/registry.js";
import type { StoreReader, StoreWriter } from "../../../src/store/port.js";
import { expectedAnswer } from "./answers.js";
import { differences } from "./compare.js";
import { type Actual, execute } from "./execute.js";
import type { Ledger, LedgerContract } from "./ledger.js";
import { type LedgerChange, RandomLedger, elementOf } from "./random-ledger.js";
import type { Outcomes } from "./outcomes.js";
import type { Request } from "./requests.js";
import type { Script } from "./scripts.js";
import type { Settings } from "./settings.js";

/** The registry under test, and the settings by which the model describes it. */
export interface Subject {
  readonly registry: Registry;
  readonly settings: Settings;
}

export interface Store {
  readonly writer: StoreWriter;
  readonly readers: Readonly<Record<string, StoreReader>>;
  /** Further readers, whose answers are not explained. */
  readonly plain?: Readonly<Record<string, StoreReader>>;
  /** Makes the readers see what has been written. */
  readonly refresh: () => Promise<unknown>;
}

export async function runScript(
  { registry, settings }: Subject,
  { first, steps }: Script,
  { writer, readers, plain = {}, refresh }: Store,
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
      for (const [name, reader] of Object.entries({ ...readers, ...plain })) {
        const executor = new QueryExecutor(registry, reader, UP_TO_DATE, () => settings.now);
        const actual = await execute(executor, request);
        const different = differences(expected, actual);
        if (different.length > 0) throw new Error(report(name, different, request, ledger.contracts));
        const kind = actual.status === 200 ? actual.answer.transferKind : undefined;
        outcomes.add(request.operation, kind ?? String(actual.status));
        if (name in plain) continue;
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

const UP_TO_DATE = { staleReason: () => undefined, catchUp: alreadyCaughtUp };

export const decode = (decoder: Decoder, contract: LedgerContract): Contract | CountedOnly | undefined =>
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
