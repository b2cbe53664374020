/** The selection of credentials, as seen in the sender-credentials of an offer. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { transferFactory, transferV1 } from "../fixtures/requests.js";
import { contractId, contractIds, failure, resultContracts, short, twice } from "../fixtures/context.js";
import { element, parties, payload, requirement } from "../fixtures/elements.js";
import { registryOf, serving } from "../fixtures/registries.js";
import { type ServeOptions, WITH_CREDENTIALS_REQUIRED } from "../fixtures/run-service.js";

/** Requests an offer of USD with these holder requirements. Only the given credentials exist. */
async function ask(
  requirements: JsonObject[],
  credentials: JsonObject[],
  options: ServeOptions = {},
): Promise<JsonObject> {
  const configured = payload.configuration("USD", { holderRequirements: requirements });
  const changes = { configuration: element("InstrumentConfiguration", "usd", configured), alice: undefined };
  const running = await serving(registryOf(changes, ...credentials), options);
  return short(await running.post(transferFactory(), transferV1("alice", "bob")));
}

/** The same where a missing credential is an error. */
const askRequired = (requirements: JsonObject[], credentials: JsonObject[], options: ServeOptions = {}) =>
  ask(requirements, credentials, { ...options, ...WITH_CREDENTIALS_REQUIRED });

const alice = (contract: string, claims: string[], more: JsonObject = {}): JsonObject =>
  element("Credential", contract, payload.credential("alice", claims, more));

/** Whether a list has these contract ids, each once, in any order. */
const hasExactly = (list: readonly JsonObject[], ids: readonly string[]): boolean =>
  list.length === ids.length && ids.every((id) => list.some(({ value }) => value === id));

const offerWith = (...credentials: string[]): JsonObject => ({
  factoryId: "factory",
  transferKind: "offer",
  values: {
    ...twice({
      "instrument-configuration": contractId("usd"),
      "sender-credentials": {
        tag: "AV_List",
        value: expect.toSatisfy((list: JsonObject[]) => hasExactly(list, credentials)) as unknown as JsonObject[],
      },
    }),
    ...resultContracts(true),
  },
  disclosed: [...credentials, "factory", "usd"].toSorted((a, b) => (a < b ? -1 : 1)),
});

const holds = [requirement(["holds=USD"])];
const holdsAndResides = [requirement(["holds=USD", "resides=CH"])];

describe("of several credentials", () => {
  test("an instrument without requirements needs none", async () => {
    expect(await ask([], [alice("unused", ["holds=USD"])])).toMatchObject({
      values: twice({ "instrument-configuration": contractId("usd"), "sender-credentials": contractIds() }),
      disclosed: ["factory", "usd"],
    });
  });

  test("a requirement without claims needs none", async () => {
    expect(await ask([requirement([])], [alice("unused", ["holds=USD"])])).toMatchObject({
      disclosed: ["factory", "usd"],
    });
  });

  test("a single one that meets the whole requirement is preferred", async () => {
    const parts = [alice("a", ["holds=USD"]), alice("z", ["resides=CH"])];
    const single = alice("m", ["resides=CH", "age=40", "holds=USD"], { validUntil: "2026-06-02T00:00:00Z" });
    expect(await ask(holdsAndResides, [...parts, single])).toEqual(offerWith("m"));
  });

  test.each([
    ["2026-07-01T00:00:00Z", "2027-01-01T00:00:00Z", "late"],
    ["2026-07-01T00:00:00Z", null, "late"],
    ["2027-01-01T00:00:00Z", "2026-07-01T00:00:00Z", "early"],
    [null, "2026-07-01T00:00:00Z", "early"],
    ["2026-07-01T00:00:00.000001Z", "2026-07-01T00:00:00.000002Z", "late"],
    ["2026-07-01T00:00:00.000002Z", "2026-07-01T00:00:00.000001Z", "early"],
  ])(
    "of one valid until %s and a newer one valid until %s the one valid longest is chosen",
    async (until, then, chosen) => {
      const early = alice("early", ["holds=USD"], { validUntil: until });
      const late = element("Credential", "late", payload.credential("alice", ["holds=USD"], { validUntil: then }), {
        createdAt: "2026-02-05T09:00:00.000000Z",
      });
      expect(await ask(holds, [early, late])).toEqual(offerWith(chosen));
    },
  );

  test("an absent validUntil equals null", async () => {
    const { validUntil: _, validFrom: __, ...endless } = payload.credential("alice", ["holds=USD"]);
    const ending = alice("ending", ["holds=USD"], { validUntil: "2036-01-01T00:00:00Z" });
    expect(await ask(holds, [ending, element("Credential", "endless", endless)])).toEqual(offerWith("endless"));
  });

  test("two that meet the requirement together are both chosen", async () => {
    const credentials = [alice("a", ["holds=USD"]), alice("b", ["resides=CH"]), alice("c", ["age=40"])];
    expect(await ask(holdsAndResides, credentials)).toEqual(offerWith("a", "b"));
  });

  test("as few as possible are chosen, even without the one with most claims", async () => {
    const six = [requirement(["a=1", "b=1", "c=1", "d=1", "e=1", "f=1"])];
    const credentials = [
      alice("most", ["a=1", "b=1", "d=1", "e=1"]),
      alice("first", ["a=1", "b=1", "c=1"]),
      alice("second", ["d=1", "e=1", "f=1"]),
    ];
    expect(await ask(six, credentials)).toEqual(offerWith("first", "second"));
  });

  test("every requirement is met by its issuer", async () => {
    const credentials = [alice("ours", ["holds=USD"]), alice("theirs", ["resides=CH"], { issuer: "issuer-2::1220" })];
    const requirements = [...holds, requirement(["resides=CH"], "issuer-2::1220")];
    expect(await ask(requirements, credentials)).toEqual(offerWith("ours", "theirs"));
  });

  test("one that meets two requirements appears once", async () => {
    const answer = await ask([...holds, requirement(["resides=CH"])], [alice("both", ["holds=USD", "resides=CH"])]);
    expect(answer).toMatchObject({
      values: twice({ "instrument-configuration": contractId("usd"), "sender-credentials": contractIds("both") }),
      disclosed: ["both", "factory", "usd"],
    });
  });
});

describe("validity", () => {
  test.each([
    ["now = validFrom", "2026-06-01T00:00:00Z", null],
    ["now is the last millisecond before validUntil", null, "2026-06-01T00:00:00.001Z"],
    ["now is the last microsecond before validUntil", null, "2026-06-01T00:00:00.000001Z"],
    ["now lies between", "2026-05-01T00:00:00Z", "2026-07-01T00:00:00Z"],
  ])("a credential counts if %s", async (_, validFrom, validUntil) => {
    const it = alice("it", ["holds=USD"], { validFrom, validUntil });
    expect(await ask(holds, [it], { now: "2026-06-01T00:00:00Z" })).toEqual(offerWith("it"));
  });

  test.each([
    ["now is a millisecond before validFrom", "2026-06-01T00:00:00.001Z", null],
    ["now is a microsecond before validFrom", "2026-06-01T00:00:00.000001Z", null],
    ["now = validUntil", null, "2026-06-01T00:00:00Z"],
    ["it ended long ago", "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"],
  ])("a credential does not count if %s", async (_, validFrom, validUntil) => {
    const it = alice("it", ["holds=USD"], { validFrom, validUntil });
    const options = { now: "2026-06-01T00:00:00Z" };
    expect(await ask(holds, [it], options)).toEqual(offerWith());
    expect(await askRequired(holds, [it], options)).toEqual(failure(404, "alice", parties.issuer, "holds", "USD"));
  });

  test("two valid ones are chosen instead of an expired one that makes all claims", async () => {
    const expired = alice("expired", ["holds=USD", "resides=CH"], { validUntil: "2026-05-31T23:59:59Z" });
    const credentials = [expired, alice("a", ["holds=USD"]), alice("b", ["resides=CH"])];
    expect(await ask(holdsAndResides, credentials)).toEqual(offerWith("a", "b"));
  });
});

const claim = (subject: string): JsonObject => ({ subject, property: "holds", value: "USD" });

describe("irrelevant credentials", () => {
  test.each([
    ["claims with another subject", payload.credential("alice", [], { claims: [claim("bob")] })],
    ["another issuer", payload.credential("alice", ["holds=USD"], { issuer: "issuer-2::1220" })],
    ["another holder", payload.credential("carol", [], { claims: [claim("alice")] })],
    ["the property with another value", payload.credential("alice", ["holds=EUR"])],
    ["the value of another property", payload.credential("alice", ["lends=USD"])],
  ])("one with %s", async (_, credential) => {
    const it = element("Credential", "it", credential);
    expect(await ask(holds, [it])).toEqual(offerWith());
    expect(await askRequired(holds, [it])).toEqual(failure(404, "alice", parties.issuer, "holds", "USD"));
  });

  test("if credentials are required, the message names only the claim that is missing", async () => {
    const answer = await askRequired(holdsAndResides, [alice("a", ["holds=USD"])]);
    expect(answer).toEqual(failure(404, "alice", parties.issuer, "resides", "CH"));
    expect(answer).not.toEqual(failure(404, "holds"));
  });

  test("if credentials are required, the message names the second issuer if its requirement is not met", async () => {
    const requirements = [...holds, requirement(["resides=CH"], "issuer-2::1220")];
    const answer = await askRequired(requirements, [alice("a", ["holds=USD", "resides=CH"])]);
    expect(answer).toEqual(failure(404, "alice", "issuer-2::1220", "resides", "CH"));
  });

  test("if credentials are required, the receiver of a direct transfer must meet the requirements too", async () => {
    const preapproval = element("TransferPreapproval", "preapproval", payload.preapproval("bob", []));
    const running = await serving(registryOf({ bob: undefined }, preapproval), WITH_CREDENTIALS_REQUIRED);
    const answer = await running.post(transferFactory(), transferV1("alice", "bob"));
    expect(short(answer)).toEqual(failure(404, "bob", parties.issuer, "holds", "USD"));
  });
});
