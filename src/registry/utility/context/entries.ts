import type { Holder, Wanted } from "../evidence/evidence.js";
import type { Site } from "../evidence/site.js";
import type { Draft } from "./draft.js";

/** The entries of a context that concern one instrument; the page's table of entries. */
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
  readonly instrumentId?: string | undefined;
  /** Undefined also where the instrument's configuration names the provider. */
  readonly provider?: string | undefined;
  /** The party that gives away: the sender of a transfer, the holder of a burn. */
  readonly sender?: string | undefined;
  readonly receiver?: string | undefined;
}

/** Writes one entry. An entry whose contract is optional, and not there, is left out. */
type Writer = (draft: Draft, site: Site, subject: Subject) => void;

const writers: Record<Entry, Writer> = {
  "instrument-configuration"(draft, site, { instrumentId }) {
    const configuration = instrumentId === undefined ? undefined : site.configuration(instrumentId);
    if (configuration !== undefined) draft.put("instrument-configuration", draft.refer(configuration));
  },
  "sender-credentials": credentials("sender-credentials", "holder", ({ sender }) => sender),
  "receiver-credentials": credentials("receiver-credentials", "holder", ({ receiver }) => receiver),
  "issuer-credentials": credentials("issuer-credentials", "issuer", ({ sender }) => sender),
  "transfer-rule"(draft, site) {
    const rule = site.transferRule();
    if (rule !== undefined) draft.put("transfer-rule", draft.refer(rule));
  },
  "app-reward-configuration"(draft, site, subject) {
    const provider = providerOf(site, subject);
    const reward = provider === undefined ? undefined : site.reward(provider);
    if (reward !== undefined) draft.put("app-reward-configuration", draft.refer(reward));
  },
  "featured-app-right"(draft, site, subject) {
    const provider = providerOf(site, subject);
    const right = provider === undefined ? undefined : site.right(provider);
    if (right !== undefined) draft.put("featured-app-right", draft.refer(right));
  },
  "enable-result-contracts"(draft, site) {
    const enabled = site.resultContracts();
    if (enabled !== undefined) draft.put("enable-result-contracts", { tag: "AV_Bool", value: enabled });
  },
};

/** Writes the entries, in their order. */
export function writeEntries(entries: readonly Entry[], draft: Draft, site: Site, subject: Subject): void {
  for (const entry of entries) writers[entry](draft, site, subject);
}

/** What has to be read to write the entries for a subject. */
export function wantedFor(entries: readonly Entry[], registrar: string, subject: Subject): Wanted {
  const { instrumentId, sender, receiver, provider } = subject;
  const instruments = instrumentId === undefined ? [] : [instrumentId];
  const has = (entry: Entry) => entries.includes(entry);
  const holder = (entry: Entry, party: string | undefined, as: Holder["as"]): Holder[] =>
    has(entry) && party !== undefined ? [{ party, as, instruments }] : [];
  return {
    registrar,
    instruments: has("instrument-configuration") ? instruments : [],
    holders: [
      ...holder("sender-credentials", sender, "holder"),
      ...holder("receiver-credentials", receiver, "holder"),
      ...holder("issuer-credentials", sender, "issuer"),
    ],
    lockedHoldings: [],
    transferRule: has("transfer-rule"),
    resultContracts: has("enable-result-contracts"),
    rewards: has("app-reward-configuration") || has("featured-app-right"),
    providers: provider === undefined ? [] : [provider],
  };
}

function credentials(entry: Entry, as: Holder["as"], partyOf: (subject: Subject) => string | undefined): Writer {
  return (draft, site, subject) => {
    const party = partyOf(subject);
    if (party === undefined || subject.instrumentId === undefined) return;
    const chosen = site.credentials({ party, as, instruments: [subject.instrumentId] });
    draft.put(entry, draft.referAll(chosen));
  };
}

function providerOf(site: Site, { provider, instrumentId }: Subject): string | undefined {
  return provider ?? (instrumentId === undefined ? undefined : site.configuration(instrumentId)?.facts.provider);
}
