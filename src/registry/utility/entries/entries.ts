import type { NamedValue } from "../../sdk/registry.js";
import type { ContractSelector } from "../selection/contract-selector.js";
import type { PrefetchPlan } from "./prefetch-plan.js";
import { type ChoiceContextBuilder, type EntryName, entryName } from "./choice-context-builder.js";

/** The entries of a context; the page's table of entries. */
export type Entry =
  | "instrument-configuration"
  | "sender-credentials"
  | "receiver-credentials"
  | "issuer-credentials"
  | "transfer-rule"
  | "app-reward-configuration"
  | "featured-app-right"
  | "enable-result-contracts";

/** The entries of accepting a transfer, which are also those of making one that needs no acceptance. */
export const acceptTransfer: readonly Entry[] = [
  "instrument-configuration",
  "sender-credentials",
  "receiver-credentials",
  "transfer-rule",
  "app-reward-configuration",
  "featured-app-right",
];

/** What the entries speak of. What an operation has no such thing for is undefined. */
export interface EntryInputs {
  /** Most operations concern one instrument. */
  readonly instruments?: readonly string[] | undefined;
  /** Undefined also where the instrument's configuration names the provider. */
  readonly provider?: string | undefined;
  /** The party that gives away. */
  readonly sender?: string | undefined;
  /** The instruments that the sender gives away; all where undefined. */
  readonly sent?: readonly string[] | undefined;
  readonly receiver?: string | undefined;
  /** The parties whose holdings are minted or burned. */
  readonly issuers?: readonly string[] | undefined;
}

const names: Record<Entry, EntryName> = {
  "instrument-configuration": entryName("instrument-configuration"),
  "sender-credentials": entryName("sender-credentials"),
  "receiver-credentials": entryName("receiver-credentials"),
  "issuer-credentials": entryName("issuer-credentials"),
  "transfer-rule": entryName("transfer-rule"),
  "app-reward-configuration": entryName("app-reward-configuration"),
  "featured-app-right": entryName("featured-app-right"),
  "enable-result-contracts": entryName("enable-result-contracts"),
};
/** The name that settlements have for the configurations of several instruments. */
const configurationsName = entryName("instrument-configurations");

/** Writes one entry. An entry whose contract is optional, and not there, is left out. */
type Writer = (builder: ChoiceContextBuilder, selector: ContractSelector, inputs: EntryInputs) => void;

const writers: Record<Entry, Writer> = {
  /** Of several instruments a map under the name that settlements have for it. */
  "instrument-configuration"(builder, selector, { instruments = [] }) {
    if (instruments.length > 1) return writeConfigurations(builder, selector, instruments);
    const only = instruments[0];
    const configuration = only === undefined ? undefined : selector.configuration(only);
    if (configuration !== undefined) builder.set(names["instrument-configuration"], builder.reference(configuration));
  },
  "sender-credentials"(builder, selector, inputs) {
    const { sender } = inputs;
    const chosen = sender === undefined ? [] : selector.credentials(sender, "holder", sentOf(inputs));
    builder.set(names["sender-credentials"], builder.referenceAll(chosen));
  },
  "receiver-credentials"(builder, selector, { receiver, instruments = [] }) {
    const chosen = receiver === undefined ? [] : selector.credentials(receiver, "holder", instruments);
    builder.set(names["receiver-credentials"], builder.referenceAll(chosen));
  },
  "issuer-credentials"(builder, selector, { issuers = [], instruments = [] }) {
    const chosen = issuers.flatMap((party) => selector.credentials(party, "issuer", instruments));
    builder.set(names["issuer-credentials"], builder.referenceAll(chosen));
  },
  "transfer-rule"(builder, selector) {
    const rule = selector.transferRule();
    if (rule !== undefined) builder.set(names["transfer-rule"], builder.reference(rule));
  },
  "app-reward-configuration"(builder, selector, inputs) {
    const provider = providerOf(selector, inputs);
    const reward = provider === undefined ? undefined : selector.appRewardConfiguration(provider);
    if (reward !== undefined) builder.set(names["app-reward-configuration"], builder.reference(reward));
  },
  "featured-app-right"(builder, selector, inputs) {
    const provider = providerOf(selector, inputs);
    const right = provider === undefined ? undefined : selector.featuredAppRight(provider);
    if (right !== undefined) builder.set(names["featured-app-right"], builder.reference(right));
  },
  "enable-result-contracts"(builder, selector) {
    const enabled = selector.enableResultContracts();
    if (enabled !== undefined) builder.set(names["enable-result-contracts"], { tag: "AV_Bool", value: enabled });
  },
};

/** Writes the entries, in their order. */
export function writeEntries(
  entries: readonly Entry[],
  builder: ChoiceContextBuilder,
  selector: ContractSelector,
  inputs: EntryInputs,
): void {
  for (const entry of entries) writers[entry](builder, selector, inputs);
}

/** Writes the configurations of several instruments as a map. */
export function writeConfigurations(
  builder: ChoiceContextBuilder,
  selector: ContractSelector,
  instruments: readonly string[],
): void {
  const configurations: NamedValue[] = [];
  for (const id of instruments) {
    const configuration = selector.configuration(id);
    if (configuration !== undefined) configurations.push({ name: id, value: builder.reference(configuration) });
  }
  builder.set(configurationsName, { tag: "AV_Map", value: configurations });
}

/** What has to be read to write the entries for a subject. */
export function prefetchPlan(entries: readonly Entry[], registrar: string, inputs: EntryInputs): PrefetchPlan {
  const { instruments = [], provider, sender, receiver, issuers = [] } = inputs;
  const as = "holder" as const;
  const has = (entry: Entry) => entries.includes(entry);
  return {
    registrar,
    instruments: has("instrument-configuration") ? instruments : [],
    holders: [
      ...(has("sender-credentials") && sender !== undefined
        ? [{ party: sender, as, instruments: sentOf(inputs) }]
        : []),
      ...(has("receiver-credentials") && receiver !== undefined ? [{ party: receiver, as, instruments }] : []),
      ...(has("issuer-credentials") ? issuers.map((party) => ({ party, as: "issuer" as const, instruments })) : []),
    ],
    lockedHoldings: [],
    transferRule: has("transfer-rule"),
    resultContracts: has("enable-result-contracts"),
    rewards: has("app-reward-configuration") || has("featured-app-right"),
    providers: provider === undefined ? [] : [provider],
  };
}

/** The instruments that the sender gives away. */
const sentOf = ({ sent, instruments = [] }: EntryInputs): readonly string[] => sent ?? instruments;

function providerOf(selector: ContractSelector, { provider, instruments }: EntryInputs): string | undefined {
  const instrument = instruments?.[0];
  return provider ?? (instrument === undefined ? undefined : selector.configuration(instrument)?.fields.provider);
}
