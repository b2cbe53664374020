/** What `offledger explain` prints of an explanation. */
import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { ExplainResponseSchema } from "../../gen/offledger/explain/v1/explain_pb.js";
import { formatExplanation } from "../../src/cli/explanation.js";

const textOf = (yaml: string): string => formatExplanation(fromJson(ExplainResponseSchema, parse(yaml) as JsonValue));

const CONTRACT = `template: "Module:Rule", packageId: aa, packageName: rules, createdAt: "2026-01-02T00:00:00Z"`;

test("a refusal: causes, what would have to change, what was looked for and passed over, and claims", () => {
  const text = textOf(String.raw`
operation: S/Get
at: "2026-02-01T00:00:00Z"
offset: "7"
status: not_found
error: "a: b"
causes: [{ code: rule-missing, message: "no rule of a\u001b[31m\n\u202eb" }, { code: other, message: no other }]
changes: [{ help: Create a rule. }, { help: Create another. }]
notes: [It is paused.]
searches:
  - { name: the rule, template: "Module:Rule", synchronizer: sync-A, entries: [one, two], required: true, omittedCandidates: 2, candidates: [
      { chosen: true, contract: { contractId: new, synchronizer: sync-A, ${CONTRACT} } },
      { reason: a newer one is chosen, contract: { contractId: old, packageVersion: "0.7.0", ${CONTRACT} } } ] }
  - { name: "the Module:Rule of alice", template: "Module:Rule" }
requirements:
  - { party: alice, issuer: bank, instruments: [USD, EUR], synchronizer: sync-A, claims: [
      { property: p, value: "1", credential: c1, validUntil: "2026-03-01T00:00:00Z" },
      { property: q, value: "2", passedOver: [{ contract: { contractId: c2 }, reason: has ended }], omittedPassedOver: 1 },
      { property: "" } ] }
  - { party: bob, issuer: bank, instruments: [USD], required: true }
`);
  expect(text).toBe(String.raw`S/Get
answered as at 2026-02-01T00:00:00.000Z, with the contracts of offset 7

the request is refused: not_found
  rule-missing: no rule of a\u{1b}[31m\u{a}\u{202e}b
  other: no other

what would have to change
  - Create a rule.
  - Create another.

notes
  - It is paused.

looked for
  the rule (required)
    Module:Rule
    on synchronizer sync-A
    for one, two
    chosen new
      created 2026-01-02T00:00:00.000Z, rules (package aa), on sync-A
    passed over old: a newer one is chosen
      created 2026-01-02T00:00:00.000Z, rules (0.7.0), between synchronizers
    and 2 more
  the Module:Rule of alice (optional)
    none found

claims
  alice from issuer bank (optional: without them the wallet has to add credentials, or the choice fails on the ledger)
    for USD, EUR
    on synchronizer sync-A
    met     p = 1 by c1, until 2026-03-01T00:00:00.000Z
    missing q = 2
      passed over c2: has ended
      and 1 more
    missing any credential
  bob from issuer bank (required)
    for USD
`);
});

test("a success: what it discloses, and until when it holds; a refusal without a cause has its error", () => {
  const success = `
operation: S/Get
succeeds: true
disclosures: [{ contract: { contractId: rule, ${CONTRACT} }, entries: [one, two] }, { contract: { contractId: factory, ${CONTRACT} } }]
validUntil: "2026-03-01T00:00:00Z"`;
  expect(textOf(success)).toBe(`S/Get
answered as at an unknown time, with the contracts of offset 0

the request succeeds

disclosed
  rule
    Module:Rule, for one, two
  factory
    Module:Rule

may change without a new contract at 2026-03-01T00:00:00.000Z
`);
  expect(textOf("{ status: unavailable, error: later }")).toContain(
    "\n\nthe request is refused: unavailable\n  later\n",
  );
});
