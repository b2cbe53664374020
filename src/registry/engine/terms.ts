/** The values of a request with which `find` of an entry looks contracts up. */
import { isObject, type JsonObject } from "../../util/json.js";
import type { RequestSubject } from "./choice-context.js";
import type { EntryDefinition } from "./grammar.js";
import type { ContractSelector } from "./selector.js";
import { accountKey } from "./templates.js";

/** A value of the request in `find`. */
export interface FindTerm {
  readonly term: string;
  /** Only this many characters count. */
  readonly length: number | undefined;
}

/** `start(party, 2)`: the first characters of a value. */
const START = /^start\(([^(),]+), ?([1-9]\d?|[12]\d\d|300)\)$/;

/** A value of the request. */
export function termOf(text: string): FindTerm {
  const [, term = text, length] = START.exec(text) ?? [];
  return { term, length: length === undefined ? undefined : Number(length) };
}

/** The values that are parties of the request, for each of which an entry is looked up. */
export const PARTIES: ReadonlySet<string> = new Set(["sender", "receiver", "holder", "party"]);

/** The parties of a request in a role. */
export type PartiesOf = (
  selector: ContractSelector,
  subject: Pick<RequestSubject, "roles" | "instruments">,
  role: string,
) => readonly string[];

/** Those that the request names. */
export const partiesNamed: PartiesOf = (_selector, { roles }, role) => roles[role] ?? [];

/** The values of one look-up. */
interface Terms {
  readonly values: readonly string[];
  /** The party for which it is made; undefined if the entry is not found by a party. */
  readonly party: string | undefined;
  /** What the party is in the request. */
  readonly role: string | undefined;
}

/** Of an entry that is found by the registrar alone. */
const ONCE: readonly Terms[] = [{ values: [], party: undefined, role: undefined }];

interface TermsRequest {
  readonly selector: ContractSelector;
  readonly subject: RequestSubject;
  /** The accounts that count. */
  readonly of: readonly string[];
  readonly only: EntryDefinition["only"];
  readonly partiesOf: PartiesOf;
  /** The parties in a role of another entry's contracts. */
  readonly rolesOf: (entry: string, role: string) => readonly string[];
}

/** The values for each look-up. A request that lacks one of them has none. */
export function termsOf(terms: readonly FindTerm[], request: TermsRequest): readonly Terms[] {
  if (terms.length === 0) return ONCE;
  let found: readonly Terms[] = ONCE;
  // An instrument is one of the party's.
  const inOrder = terms.toSorted((a, b) => Number(a.term === "instrument") - Number(b.term === "instrument"));
  for (const { term, length } of inOrder)
    found = found.flatMap((before) =>
      valuesOf(term, request, before).map((value): Terms => {
        const isParty = PARTIES.has(term);
        return {
          values: [...before.values, cut(value, length)],
          party: isParty ? value : before.party,
          role: isParty ? term : before.role,
        };
      }),
    );
  const positions = terms.map((term) => inOrder.indexOf(term));
  return found.map(({ values, party, role }) => ({
    values: positions.map((position) => values[position] ?? ""),
    party,
    role,
  }));
}

/** The values of the request for a term, each once. */
function valuesOf(
  term: string,
  { selector, subject, of, only, partiesOf, rolesOf }: TermsRequest,
  { party, role }: Terms,
): readonly string[] {
  const { roles, accounts = {} } = subject;
  switch (term) {
    case "registrar":
      return [selector.registrar];
    case "instrument":
      return instrumentsOf(subject, party, role);
    case "holder":
      return [...new Set(holdersOf(subject))];
    case "party":
      return [...new Set([...(roles["sender"] ?? []), ...(roles["receiver"] ?? []), ...holdersOf(subject)])];
    case "account": {
      const all = of.flatMap((group) => accounts[group] ?? []).filter(({ isSpecial }) => !isSpecial);
      return [...new Set(all.filter(({ provider }) => only === undefined || provider !== undefined).map(accountKey))];
    }
    default: {
      if (term.startsWith("meta.")) return metaAt(subject.meta, term.slice("meta.".length));
      const [entry = "", named] = term.split(".");
      return [...new Set(named === undefined ? partiesOf(selector, subject, entry) : rolesOf(entry, named))];
    }
  }
}

/** The value of a key of the metadata, of the standard's `values` or beside them. */
function metaAt(meta: JsonObject | undefined, key: string): readonly string[] {
  const values = meta?.["values"];
  for (const one of [isObject(values) ? values : undefined, meta]) {
    const value = one !== undefined && Object.hasOwn(one, key) ? one[key] : undefined;
    if (typeof value === "string") return [value];
  }
  return [];
}

const holdersOf = ({ roles, holders = [] }: RequestSubject): string[] => [
  ...(roles["holder"] ?? []),
  ...holders.map(({ party }) => party),
];

/** The instruments that the party sends, receives or holds; all of the request without a party. */
function instrumentsOf(
  { instruments, sent = instruments, holders }: RequestSubject,
  party: string | undefined,
  role: string | undefined,
): readonly string[] {
  if (role === "sender") return sent;
  return holders?.find((one) => one.party === party)?.instruments ?? instruments;
}

/** The first characters. One that takes two code units is not cut in half. */
const cut = (text: string, length: number | undefined): string =>
  length === undefined
    ? text
    : Array.from(text.slice(0, 2 * length))
        .slice(0, length)
        .join("");
