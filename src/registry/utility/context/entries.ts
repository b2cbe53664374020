import type { NamedValue } from "../../registry.js";
import type { Site } from "../evidence/site.js";
import type { Wanted } from "../evidence/wanted.js";
import { type Draft, type EntryName, entryName } from "./draft.js";

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
export interface Subject {
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
type Writer = (draft: Draft, site: Site, subject: Subject) => void;

const writers: Record<Entry, Writer> = {
  /** Of several instruments a map under the name that settlements have for it. */
  "instrument-configuration"(draft, site, { instruments = [] }) {
    if (instruments.length > 1) return writeConfigurations(draft, site, instruments);
    const only = instruments[0];
    const configuration = only === undefined ? undefined : site.configuration(only);
    if (configuration !== undefined) draft.put(names["instrument-configuration"], draft.refer(configuration));
  },
  "sender-credentials"(draft, site, subject) {
    const { sender } = subject;
    const chosen = sender === undefined ? [] : site.credentials(sender, "holder", sentOf(subject));
    draft.put(names["sender-credentials"], draft.referAll(chosen));
  },
  "receiver-credentials"(draft, site, { receiver, instruments = [] }) {
    const chosen = receiver === undefined ? [] : site.credentials(receiver, "holder", instruments);
    draft.put(names["receiver-credentials"], draft.referAll(chosen));
  },
  "issuer-credentials"(draft, site, { issuers = [], instruments = [] }) {
    const chosen = issuers.flatMap((party) => site.credentials(party, "issuer", instruments));
    draft.put(names["issuer-credentials"], draft.referAll(chosen));
  },
  "transfer-rule"(draft, site) {
    const rule = site.transferRule();
    if (rule !== undefined) draft.put(names["transfer-rule"], draft.refer(rule));
  },
  "app-reward-configuration"(draft, site, subject) {
    const provider = providerOf(site, subject);
    const reward = provider === undefined ? undefined : site.reward(provider);
    if (reward !== undefined) draft.put(names["app-reward-configuration"], draft.refer(reward));
  },
  "featured-app-right"(draft, site, subject) {
    const provider = providerOf(site, subject);
    const right = provider === undefined ? undefined : site.right(provider);
    if (right !== undefined) draft.put(names["featured-app-right"], draft.refer(right));
  },
  "enable-result-contracts"(draft, site) {
    const enabled = site.resultContracts();
    if (enabled !== undefined) draft.put(names["enable-result-contracts"], { tag: "AV_Bool", value: enabled });
  },
};

/** Writes the entries, in their order. */
export function writeEntries(entries: readonly Entry[], draft: Draft, site: Site, subject: Subject): void {
  for (const entry of entries) writers[entry](draft, site, subject);
}

/** Writes the configurations of several instruments as a map. */
export function writeConfigurations(draft: Draft, site: Site, instruments: readonly string[]): void {
  const configurations: NamedValue[] = [];
  for (const id of instruments) {
    const configuration = site.configuration(id);
    if (configuration !== undefined) configurations.push({ name: id, value: draft.refer(configuration) });
  }
  draft.put(configurationsName, { tag: "AV_Map", value: configurations });
}

/** What has to be read to write the entries for a subject. */
export function wantedFor(entries: readonly Entry[], registrar: string, subject: Subject): Wanted {
  const { instruments = [], provider, sender, receiver, issuers = [] } = subject;
  const as = "holder" as const;
  const has = (entry: Entry) => entries.includes(entry);
  return {
    registrar,
    instruments: has("instrument-configuration") ? instruments : [],
    holders: [
      ...(has("sender-credentials") && sender !== undefined
        ? [{ party: sender, as, instruments: sentOf(subject) }]
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
const sentOf = ({ sent, instruments = [] }: Subject): readonly string[] => sent ?? instruments;

function providerOf(site: Site, { provider, instruments }: Subject): string | undefined {
  const instrument = instruments?.[0];
  return provider ?? (instrument === undefined ? undefined : site.configuration(instrument)?.facts.provider);
}
