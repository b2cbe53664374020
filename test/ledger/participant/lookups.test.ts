/** Looking up input holdings, past updates and creations at a participant. */
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/util/json.js";
import type { LedgerError } from "../../../src/ledger/participant/errors.js";
import { ParticipantHistory, ParticipantHoldings } from "../../../src/ledger/participant/lookups.js";
import { namedParties } from "../../../src/ledger/participant/parties.js";
import { allocationFactory, holding, transferOffer } from "../../../src/registry/utility/templates.js";
import { Documents } from "../../scripted-participant/schemas.js";
import { gate, until } from "../../fixtures/wait.js";
import { closedPort, endpointAt, failureOf, type Seen, seen, serving } from "./servers.js";

interface Answer {
  readonly status?: number;
  readonly body: JsonValue | string;
}

/** A participant that answers each request, and the requests. */
async function answering(answer: (request: Seen, count: number) => Answer | Promise<Answer>) {
  const requests: Seen[] = [];
  const url = await serving(async (request, response) => {
    const came = await seen(request);
    requests.push(came);
    const { status = 200, body } = await answer(came, requests.length);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  return { endpoint: endpointAt(url), requests };
}

const errorOf = (status: number, code: string): Answer => ({ status, body: { code, cause: "because" } });

describe("holdings", () => {
  const [owner, operator, provider, registrar] = ["alice::1", "operator::1", "provider::1", "registrar::1"];
  const instrument = { source: registrar, id: "USD", scheme: "S" };
  const createdEvent = {
    templateId: "pkg:Utility.Registry.Holding.V0.Holding:Holding",
    packageName: "utility-registry-holding-v0",
    createArgument: { owner, operator, provider, registrar, instrument, label: "", amount: "1.0" },
  };
  const good: Answer = { body: { created: { createdEvent, synchronizerId: "sync" }, archived: null } };
  const changed = (more: JsonObject): Answer => ({ body: { created: { createdEvent: { ...createdEvent, ...more } } } });

  /** Holdings of a participant that answers by contract id. */
  async function holdingsOf(answer: (contractId: string) => Answer | Promise<Answer>, maxWait = 5_000) {
    const failures: string[] = [];
    const { endpoint, requests } = await answering(({ body }) =>
      answer((JSON.parse(body) as { readonly contractId: string }).contractId),
    );
    const options = { template: holding, maxWait, onFailure: ({ kind }: LedgerError) => void failures.push(kind) };
    return {
      source: new ParticipantHoldings(endpoint, namedParties([operator, registrar]), options),
      requests,
      failures,
    };
  }

  test("are asked for as every party of the mirror, and have the fields of their payload", async () => {
    const { source, requests, failures } = await holdingsOf(() => good);
    const fields = { owner, operator, provider, registrar, instrumentId: "USD" };
    expect(await source.holdings(["one"])).toEqual(new Map([["one", { contractId: "one", ...fields }]]));
    expect(requests.map(({ path }) => path)).toEqual(["/v2/events/events-by-contract-id"]);
    const { eventFormat } = JSON.parse(requests[0]?.body ?? "") as { eventFormat: { filtersByParty: JsonObject } };
    expect(Object.keys(eventFormat.filtersByParty)).toEqual([operator, registrar]);
    expect(requests[0]?.body).toContain("#utility-registry-holding-v0:Utility.Registry.Holding.V0.Holding:Holding");
    expect(failures).toEqual([]);
  });

  test.each<[string, Answer, "archived" | "unread" | undefined, string[]]>([
    [
      "archived, which is told",
      { body: { created: { createdEvent }, archived: { archivedEvent: {} } } },
      "archived",
      [],
    ],
    ["archived, its creation pruned", { body: { created: null, archived: { archivedEvent: {} } } }, "archived", []],
    ["not known", errorOf(404, "CONTRACT_EVENTS_NOT_FOUND"), undefined, []],
    ["of a package that the participant lacks", errorOf(404, "PACKAGE_NAMES_NOT_FOUND"), undefined, []],
    ["of a malformed id", errorOf(400, "INVALID_FIELD"), undefined, []],
    ["another contract", changed({ templateId: "pkg:Other:Other" }), undefined, []],
    ["neither created nor archived", { body: { created: null, archived: null } }, undefined, []],
    ["unreadable, which is reported once", changed({ createArgument: {} }), "unread", ["unreadable"]],
    ["no JSON", { body: "<html>" }, "unread", ["unreadable"]],
    ["not told by a busy participant", errorOf(503, "OVERLOADED"), "unread", ["busy"]],
    ["not told to who lacks a right", errorOf(403, "NA"), "unread", ["denied"]],
    ["not told by what is no participant", { status: 404, body: "" }, "unread", ["refused"]],
  ])("that are %s, leave the others", async (_, answer, told, reported) => {
    const { source, failures } = await holdingsOf((id) => (id.startsWith("bad") ? answer : good));
    const found = await source.holdings(["bad", "bad-too", "good"]);
    expect([found.get("bad"), found.get("bad-too"), typeof found.get("good")]).toEqual([told, told, "object"]);
    expect(failures).toEqual(reported);
  });

  test("are asked for once each, the first 100 of them, 8 at a time", async () => {
    let [inFlight, highest] = [0, 0];
    const waiting: (() => void)[] = [];
    // Eight requests wait for one another: with fewer at a time nothing would be answered.
    const { source, requests } = await holdingsOf(async () => {
      highest = Math.max(highest, ++inFlight);
      if (requests.length <= 8) await new Promise<void>((resolve) => waiting.push(resolve));
      else await new Promise((resolve) => setTimeout(resolve, 1));
      inFlight--;
      return good;
    });
    const release = until("eight requests wait", () => waiting.length === 8).then(() => waiting.forEach((go) => go()));
    const ids = Array.from({ length: 150 }, (_, index) => `id-${index}`);
    const found = await source.holdings(["id-0", ...ids]);
    await release;
    expect([...found.keys()].toSorted()).toEqual(ids.slice(0, 100).toSorted());
    expect([requests.length, highest]).toEqual([100, 8]);
  });

  test("that are not told within the wait are unread, and so are all if the participant cannot be reached", async () => {
    const never = new Promise<Answer>(() => {});
    const { source, failures } = await holdingsOf((id) => (id === "slow" ? never : good), 1_500);
    const found = await source.holdings(["slow", "quick"]);
    expect([found.get("slow"), typeof found.get("quick")]).toEqual(["unread", "object"]);
    expect(failures).toEqual(["lost"]);
    const options = {
      template: holding,
      maxWait: 1_000,
      onFailure: ({ kind }: LedgerError) => void failures.push(kind),
    };
    const away = new ParticipantHoldings(endpointAt(await closedPort()), namedParties([operator]), options);
    expect(await away.holdings(["one"])).toEqual(new Map([["one", "unread"]]));
    expect(failures).toEqual(["lost", "lost"]);
  });
});

const templates = [transferOffer, allocationFactory];
const updateId = `1220${"1".repeat(64)}`;
const offerEntity = "Utility.Registry.App.V0.Model.Transfer:TransferOffer";
const about = {
  contractId: "offer",
  templateId: `pkg:${offerEntity}`,
  packageName: "utility-registry-app-v0",
  offset: 7,
};
const created: JsonObject = { ...about, nodeId: 1, createArgument: { transfer: {} } };
const creation = { does: "create", template: transferOffer, contractId: "offer", payload: { transfer: {} }, offset: 7 };
const exercised: JsonObject = {
  ...about,
  nodeId: 0,
  choice: "TransferInstruction_Accept",
  choiceArgument: { extraArgs: {} },
  exerciseResult: { meta: {} },
  consuming: true,
};
const transaction = (...events: JsonValue[]): Answer => ({
  body: { update: { Transaction: { value: { offset: 7, events } } } },
});

/** A history whose clock advances by its pauses. Responses are sent in order; the last one repeats. */
async function historyOf(answers: readonly Answer[], maxWait = 0) {
  const { endpoint, requests } = await answering((_, count) => answers[count - 1] ?? answers.at(-1) ?? { body: "" });
  const pauses: number[] = [];
  const clock = { time: 0 };
  const pause = (milliseconds: number): Promise<void> => {
    pauses.push(milliseconds);
    clock.time += milliseconds;
    return Promise.resolve();
  };
  const waiting = { maxWait, clock: () => clock.time, pause };
  const history = new ParticipantHistory(endpoint, namedParties(["operator::1220", "registrar::1220"]), waiting);
  return { history, requests, pauses, clock };
}

describe("a past update", () => {
  const other = { templateId: "pkg:Other:Other" };
  const { choiceArgument: _, exerciseResult: __, ...bare } = exercised;
  const choice = {
    does: "exercise",
    template: transferOffer,
    contractId: "offer",
    choice: "TransferInstruction_Accept",
  };

  test.each<[string, Answer, object[]]>([
    [
      "its events in order",
      transaction({ ExercisedEvent: exercised }, { CreatedEvent: created }),
      [{ ...choice, argument: { extraArgs: {} }, result: { meta: {} }, consuming: true }, creation],
    ],
    [
      "null for no argument and result",
      transaction({ ExercisedEvent: bare }),
      [{ ...choice, argument: null, result: null, consuming: true }],
    ],
    [
      "no events of other templates",
      transaction(
        { CreatedEvent: { ...created, ...other } },
        { ExercisedEvent: { ...exercised, packageName: "other-package" } },
        { ExercisedEvent: { ...exercised, ...other } },
      ),
      [],
    ],
    ["no events if it is no transaction", { body: { update: { Reassignment: { value: { events: [] } } } } }, []],
  ])("has %s", async (_what, answer, expected) => {
    const { history } = await historyOf([answer]);
    expect(await history.update({ updateId }, templates)).toEqual({ events: expected });
  });

  test.each<[string, JsonValue | string]>([
    ["is no JSON", "<html>"],
    ["is a list", []],
    ["is null", null],
    ["has no update", {}],
    ["has an update that is null", { update: null }],
    ["has a transaction without its value", { update: { Transaction: {} } }],
    ["has a transaction that is null", { update: { Transaction: null } }],
    ["has no events", { update: { Transaction: { value: {} } } }],
    ["has events that are no list", { update: { Transaction: { value: { events: {} } } } }],
    ...Object.entries<JsonValue>({
      "an event that is none": 5,
      "an event of another form": { ArchivedEvent: about },
      "an event without a template": { CreatedEvent: { ...created, templateId: null } },
      "a template without its package": { CreatedEvent: { ...created, templateId: offerEntity } },
      "an event without a package name": { ExercisedEvent: { ...exercised, packageName: "" } },
      "a creation without its arguments": { CreatedEvent: { ...created, createArgument: null } },
      "a creation without its offset": { CreatedEvent: { ...created, offset: "7" } },
      "a creation without its contract": { CreatedEvent: { ...created, contractId: "" } },
      "a choice without its name": { ExercisedEvent: { ...exercised, choice: null } },
      "a choice without its contract": { ExercisedEvent: { ...exercised, contractId: 5 } },
      "a choice that does not say whether it archives": { ExercisedEvent: { ...exercised, consuming: "yes" } },
    }).map(([what, event]): [string, JsonValue] => [`has ${what}`, transaction(event).body]),
  ])("cannot be decoded if the response %s", async (_what, body) => {
    const { history } = await historyOf([{ body }], 1_000);
    expect((await failureOf(history.update({ updateId }, templates))).kind).toBe("unreadable");
  });
});

test("at most 64 updates are looked up at a time; others fail as busy, and later ones do not; nothing warns", async () => {
  const warnings: string[] = [];
  const warn = ({ name }: Error) => void warnings.push(name);
  process.on("warning", warn);
  onTestFinished(() => void process.off("warning", warn));
  const release = gate();
  const { endpoint, requests } = await answering(() => release.opened.then(() => transaction()));
  const waiting = { maxWait: 0, clock: () => 0, pause: () => Promise.resolve() };
  const history = new ParticipantHistory(endpoint, namedParties(["operator::1220"]), waiting);
  const running = Array.from({ length: 64 }, () => history.update({ updateId }, templates));
  await until("all are asked for", () => requests.length === 64);
  const message = "64 lookups of past updates are in progress";
  expect(await failureOf(history.update({ updateId }, templates))).toMatchObject({ kind: "busy", message });
  release.open();
  await Promise.all(running);
  expect(await history.update({ updateId }, templates)).toEqual({ events: [] });
  expect(warnings).not.toContain("MaxListenersExceededWarning");
});

describe("the creation of a contract", () => {
  test.each<[string, Answer, object | string | undefined]>([
    ["is found", { body: { created: { createdEvent: created, synchronizerId: "A" }, archived: null } }, creation],
    ["is undefined if it is null", { body: { created: null, archived: {} } }, undefined],
    ["is undefined if it is left out", { body: { archived: {} } }, undefined],
    [
      "is undefined if it is of another kind",
      { body: { created: { createdEvent: { ...created, templateId: "p:O:O" } } } },
      undefined,
    ],
    ["is undefined if it is not found", errorOf(404, "CONTRACT_EVENTS_NOT_FOUND"), undefined],
    ["is undefined if it is pruned", errorOf(400, "PARTICIPANT_PRUNED_DATA_ACCESSED"), undefined],
    ["cannot be decoded if it is text", { body: { created: "event" } }, "unreadable"],
    ["cannot be decoded if it has no event", { body: { created: { synchronizerId: "A" } } }, "unreadable"],
    ["cannot be decoded if its event is null", { body: { created: { createdEvent: null } } }, "unreadable"],
    [
      "cannot be decoded if it has no arguments",
      { body: { created: { createdEvent: { ...created, createArgument: [] } } } },
      "unreadable",
    ],
  ])("%s", async (_what, answer, expected) => {
    const { history, requests } = await historyOf([answer], 1_000);
    const found = await history.creation("offer", templates).catch(({ kind }: LedgerError) => kind);
    expect(found).toEqual(expected);
    expect(requests).toHaveLength(1);
  });
});

describe("an update that has not arrived yet", () => {
  const missing = errorOf(404, "UPDATE_NOT_FOUND");

  test("is polled by its id until it arrives", async () => {
    const { history, requests } = await historyOf([missing, missing, transaction()], 1_000);
    expect(await history.pollUntil(() => history.update({ updateId }, templates))).toEqual({ events: [] });
    expect(requests).toHaveLength(3);
  });

  test.each([0, 100, 250, 400, 1_000])("is looked for until %s ms have passed, and no longer", async (maxWait) => {
    const { history, pauses, clock } = await historyOf([missing], maxWait);
    expect(await history.pollUntil(() => history.update({ updateId }, templates))).toBeUndefined();
    expect(clock.time).toBe(maxWait);
    expect(pauses.every((pause) => pause > 0 && pause <= 250)).toBe(true);
  });

  test.each([1, 40, 140])("takes as long if each look-up takes %s ms", async (duration) => {
    const { history, clock } = await historyOf([missing], 1_000);
    let queries = 0;
    const query = (): Promise<undefined> => {
      clock.time += duration;
      return Promise.resolve(void queries++);
    };
    expect(await history.pollUntil(query)).toBeUndefined();
    expect(clock.time).toBe(1_000);
    expect(queries).toBeGreaterThan(3);
  });

  test("is none at once where it is not asked for again, and so is one that is pruned", async () => {
    for (const answer of [missing, errorOf(400, "PARTICIPANT_PRUNED_DATA_ACCESSED")]) {
      const { history, requests } = await historyOf([answer], 1_000);
      expect(await history.update({ offset: 7 }, templates)).toBeUndefined();
      expect(requests).toHaveLength(1);
    }
  });

  test.each([
    [503, "SERVER_IS_SHUTTING_DOWN"],
    [404, "PACKAGE_NAMES_NOT_FOUND"],
    [404, "TEMPLATES_OR_INTERFACES_NOT_FOUND"],
  ])("is not what %s %s says", async (status, code) => {
    const { history } = await historyOf([errorOf(status, code)]);
    expect((await failureOf(history.update({ updateId }, templates))).code).toBe(code);
  });
});

test("what is asked is as the published documents have it, for every party", async () => {
  const documents = new Documents();
  const { history, requests } = await historyOf([transaction()]);
  await history.update({ updateId }, templates);
  await history.update({ offset: 7 }, templates);
  await history.creation("offer", templates);
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "POST /v2/updates/update-by-id",
    "POST /v2/updates/update-by-offset",
    "POST /v2/events/events-by-contract-id",
  ]);
  for (const { path = "", body } of requests) {
    expect(documents.body(path, JSON.parse(body) as JsonObject)).toEqual([]);
    expect(body).toMatch(/"filtersByParty":\{"operator::1220":\{"cumulative":.+"registrar::1220":/);
  }
});
