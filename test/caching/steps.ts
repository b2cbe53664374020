/** Random scripts: what happens to the ledger, the service, the client and all that is between them. */
import fc from "fast-check";
import {
  type ContractDraft,
  credential,
  preapproval,
  instruction,
  NOW,
  rarely,
  registrars,
} from "../rules/model/contract-arbitraries.js";
import { type Step as LedgerStep, change, first, otherContract } from "../rules/model/random-ledger.js";
import { subjects } from "../rules/model/run-script.js";
import { anyRequest, type Draft } from "./requests.js";

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
