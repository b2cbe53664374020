/**
 * An issuer may keep one credential with the claims of 10,000 parties, or 100,000 credentials of one claim each. A query
 * does the same work on them as on ten: counted, not timed.
 */
import { describe, expect, test } from "vitest";
import type { StoredContract } from "../../src/domain/contract.js";
import type { JsonObject } from "../../src/util/json.js";
import type { Template } from "../../src/domain/template.js";
import { backgroundContext } from "../../src/registry/background.js";
import type { ContextResult, RequestContext } from "../../src/registry/sdk/registry.js";
import { type Credential, credential } from "../../src/registry/utility/templates.js";
import { MemoryStore } from "../../src/state/memory-store.js";
import type { View } from "../../src/state/port.js";
import { element, parties, payload, requirement } from "../fixtures/elements.js";
import { contractsOf, utility } from "../fixtures/in-memory.js";
import { instructions, registryOf } from "../fixtures/registries.js";
import { account, leg, settlement } from "../fixtures/requests.js";

const now = Date.parse("2026-06-01T00:00:00Z");
const { issuer, registrar } = parties;

/** As many parties, in no particular order. Half of the others come before alice and bob by name, half after. */
const partiesOf = (count: number): string[] =>
  ["zoe", "aaron"].flatMap((name, half) =>
    Array.from({ length: count / 2 - 1 }, (_, index) => `${name}-${(index * 7_919) % 1_000_003}::1220`).concat(
      ["alice", "bob"][half] ?? "",
    ),
  );
const listOf = (id: string, subjects: readonly string[]): JsonObject => {
  const claims = subjects.map((subject) => ({ subject, property: "member", value: "yes" }));
  return element("Credential", id, payload.credential(issuer, [], { claims }));
};

/** The issuer's credentials in both forms: how many there are at most, and which an answer discloses. */
const forms = {
  "one credential with the claims of all": {
    make: (count: number) => [listOf("list", partiesOf(count))],
    many: 10_000,
    disclosed: ["list"],
  },
  "one credential for each": {
    make: (count: number) => partiesOf(count).map((party) => listOf(`list-${party}`, [party])),
    many: 100_000,
    disclosed: ["list-alice", "list-bob"],
  },
};
type Form = (typeof forms)[keyof typeof forms];

function contractsWith({ make }: Form, count: number): StoredContract[] {
  const claim = requirement(["member=yes"]);
  const needs = payload.configuration("USD", { holderRequirements: [claim], issuerRequirements: [claim] });
  const configuration = element("InstrumentConfiguration", "usd", needs);
  const changes = { configuration, alice: undefined, bob: undefined };
  return contractsOf(registryOf(changes, ...instructions(), ...make(count)));
}

type Query = (context: RequestContext) => ContextResult;
const { choiceArguments } = settlement([leg(account("alice"), account("bob"), "USD")], ["allocation"]);
const queries: Readonly<Record<string, Query>> = {
  "accepting a transfer": (context) =>
    utility.choiceContext(context, "transfer-instruction/accept", { registrar, contractId: "offer" }),
  "a settlement": (context) =>
    utility.settlementFactory(context, { registrar, choiceArguments: choiceArguments as JsonObject }),
  "burning and minting": (context) =>
    utility.utility?.burnMintFactory(context, { registrar, instrumentId: "USD", holders: ["alice", "bob"] }) ??
    expect.fail("the Registry Utility has utility operations"),
};

const listsIn = ({ disclosed }: ContextResult): string[] =>
  disclosed.map(({ contractId }) => contractId).filter((id) => id.startsWith("list"));

/** Lookups of credentials by index key, what they returned, reads of their subjects, and listings. */
const nothing = () => ({ lookups: 0, found: 0, subjectReads: 0, listings: 0 });
type Counts = ReturnType<typeof nothing>;

/** A credential that counts how its subjects are read. */
function watched(contract: StoredContract, counts: Counts): StoredContract {
  if (contract.template !== credential) return contract;
  const fields = contract.fields as Credential;
  const subjects = new Proxy(fields.subjects, {
    get(target, name, receiver) {
      if (typeof name === "string" && /^\d+$/.test(name)) counts.subjectReads++;
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
  return { ...contract, fields: { ...fields, subjects } };
}

const watchedView = (view: View, counts: Counts): View =>
  new Proxy(view, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown;
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        const result = Reflect.apply(value, target, args) as unknown;
        if (name === "all") counts.listings++;
        if (name === "byKey" && (args[0] as Template) === (credential as Template)) {
          counts.lookups++;
          counts.found += (result as readonly unknown[]).length;
        }
        return result;
      };
    },
  });

describe.each(Object.entries(forms))("%s", (_name, form) => {
  test("a query reads two of them, and few of their subjects", async () => {
    const counts = nothing();
    const store = new MemoryStore();
    await store.replace(
      contractsWith(form, form.many).map((one) => watched(one, counts)),
      10,
    );
    for (const query of Object.values(queries)) {
      Object.assign(counts, nothing());
      const answer = store.read((view) => query(backgroundContext(watchedView(view, counts), now)));
      // One lookup for alice, one for bob, each of which finds one credential.
      expect(counts).toMatchObject({ lookups: 2, found: 2, listings: 0 });
      // Each of the two finds its claims by bisection, three times: 2 to the power of 14 is more than 10,000.
      expect(counts.subjectReads).toBeGreaterThan(0);
      expect(counts.subjectReads).toBeLessThanOrEqual(2 * 3 * (form.disclosed.length === 2 ? 1 : 14));
      expect(listsIn(answer)).toEqual(form.disclosed);
    }
  });
});
