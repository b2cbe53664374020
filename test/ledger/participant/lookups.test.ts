/** Looking up input holdings, past updates and creations at a participant. */
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/util/json.js";
import type { LedgerError } from "../../../src/ledger/participant/errors.js";
import {
  type ContractsOptions,
  ParticipantContracts,
  ParticipantHistory,
} from "../../../src/ledger/participant/lookups.js";
import { namedParties } from "../../../src/ledger/participant/parties.js";
import { allocationFactory, holding, transferOffer } from "../../../src/registry/utility/templates.js";
import { tableTemplates } from "../../../src/registry/engine/templates.js";
import { element, parties, payload } from "../../fixtures/elements.js";
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

describe("contracts by id", () => {
  const [operator, registrar] = [parties.operator, parties.registrar];
  const { JsActiveContract: active } = element(
    "Holding",
    "good",
    payload.lockedHolding("alice", "USD", { lock: null }),
  )["contractEntry"] as { readonly JsActiveContract: JsonObject };
  const createdEvent = active["createdEvent"] as JsonObject;
  const told = (event: JsonObject): Answer => ({
    body: { created: { createdEvent: event, synchronizerId: "sync" }, archived: null },
  });
  const good = told(createdEvent);
  const changed = (more: JsonObject): Answer => told({ ...createdEvent, ...more });

  /** Those of a participant that answers by contract id and filters. */
  async function sourceOf(
    answer: (contractId: string, body: string) => Answer | Promise<Answer>,
    { maxWait = 5_000, templates = [holding], registrars = [] }: Partial<ContractsOptions> = {},
  ) {
    const failures: string[] = [];
    const clock = { time: 0 };
    const { endpoint, requests } = await answering(({ body }) =>
      answer((JSON.parse(body) as { readonly contractId: string }).contractId, body),
    );
    const options: ContractsOptions = {
      templates,
      registrars,
      maxWait,
      clock: () => clock.time,
      onFailure: ({ kind }: LedgerError) => void failures.push(kind),
    };
    return {
      source: new ParticipantContracts(endpoint, namedParties([operator, registrar]), options),
      requests,
      failures,
      clock,
    };
  }

  test("are asked for as every party of the mirror, and have fields and body", async () => {
    const { source, requests, failures } = await sourceOf(() => good);
    expect((await source.contracts(["good"])).get("good")).toMatchObject({
      contractId: "good",
      template: holding,
      synchronizerId: "sync",
      fields: { owner: "alice", registrar, instrumentId: "USD" },
      body: { createdEventBlob: createdEvent["createdEventBlob"] },
    });
    expect(requests.map(({ path }) => path)).toEqual(["/v2/events/events-by-contract-id"]);
    const template = '"#utility-registry-holding-v0:Utility.Registry.Holding.V0.Holding:Holding"';
    for (const asked of [operator, registrar, template, '"includeCreatedEventBlob":true'])
      expect(requests[0]?.body).toContain(asked);
    expect(failures).toEqual([]);
  });

  test.each<[string, Answer, "archived" | "unread" | undefined, string[]]>([
    ["archived", { body: { created: { createdEvent }, archived: { archivedEvent: {} } } }, "archived", []],
    ["archived, its creation pruned", { body: { created: null, archived: { archivedEvent: {} } } }, "archived", []],
    ["not known", errorOf(404, "CONTRACT_EVENTS_NOT_FOUND"), undefined, []],
    ["pruned", errorOf(400, "PARTICIPANT_PRUNED_DATA_ACCESSED"), undefined, []],
    ["of a malformed id", errorOf(400, "INVALID_FIELD"), undefined, []],
    ["another contract", changed({ templateId: "pkg:Other:Other" }), undefined, []],
    ["neither created nor archived", { body: { created: null, archived: null } }, undefined, []],
    ["unreadable, which is reported once", changed({ createArgument: {} }), "unread", ["unreadable"]],
    ["without a blob", changed({ createdEventBlob: "" }), "unread", ["unreadable"]],
    ["not told by a busy participant", errorOf(503, "OVERLOADED"), "unread", ["busy"]],
  ])("that are %s, leave the others", async (_, answer, expected, reported) => {
    const { source, failures } = await sourceOf((id) => (id.startsWith("bad") ? answer : good));
    const found = await source.contracts(["bad", "bad-too", "good"]);
    expect([found.get("bad"), found.get("bad-too"), typeof found.get("good")]).toEqual([expected, expected, "object"]);
    expect(failures).toEqual(reported);
  });

  describe("by interface", () => {
    const [byInterface] = tableTemplates({ templates: { holding: { implements: "holding", read: "by-id" } } }).values();
    if (byInterface === undefined) throw new Error("the table has no template");
    const [v1] = byInterface.interfaces ?? [];
    const viewValue = { owner: "alice", instrumentId: { admin: registrar, id: "GOLD" }, amount: "1.0", lock: null };
    const view = { interfaceId: `${v1?.packageId}:${v1?.qualifiedName}`, viewStatus: { code: 0 }, viewValue };
    const event = (more: JsonObject = {}): JsonObject => ({
      ...createdEvent,
      templateId: "pkg:A.Token:Token",
      packageName: "a-token",
      interfaceViews: [view],
      signatories: [registrar],
      witnessParties: [registrar],
      ...more,
    });
    const missing: Answer = {
      status: 404,
      body: { code: "PACKAGE_NAMES_NOT_FOUND", cause: "not uploaded: [splice-api-token-holding-v2]." },
    };

    test("are asked for with their views, and count with the signature of their admin", async () => {
      const { source, requests } = await sourceOf(() => told(event()), { templates: [byInterface] });
      expect((await source.contracts(["one"])).get("one")).toMatchObject({
        fields: { registrar, instruments: ["GOLD"] },
        body: { createdEventBlob: createdEvent["createdEventBlob"] },
      });
      const { eventFormat } = JSON.parse(requests[0]?.body ?? "") as { eventFormat: JsonObject };
      expect(
        JSON.stringify(eventFormat).match(/"includeInterfaceView":true,"includeCreatedEventBlob":true/g),
      ).toHaveLength(4);
    });

    test.each<[string, JsonObject]>([
      ["signed by others", { signatories: ["mallory::1"] }],
      ["signed by others whom we read as", { signatories: [operator], witnessParties: [operator] }],
      ["of an admin that we do not read as", { witnessParties: [operator] }],
      ["of no interface", { interfaceViews: [] }],
    ])("%s are not known", async (_what, more) => {
      const { source, failures } = await sourceOf(() => told(event(more)), { templates: [byInterface] });
      expect(await source.contracts(["one"])).toEqual(new Map());
      expect(failures).toEqual([]);
    });

    test("of an admin that is configured count", async () => {
      const { source } = await sourceOf(() => told(event({ witnessParties: [operator] })), {
        templates: [byInterface],
        registrars: [registrar],
      });
      expect(typeof (await source.contracts(["one"])).get("one")).toBe("object");
    });

    test("are asked for without the packages that the participant lacks, and with them again after half a minute", async () => {
      const { source, requests, clock } = await sourceOf(
        (_id, body) => (body.includes("holding-v2") ? missing : told(event())),
        { templates: [byInterface] },
      );
      const withBoth = () => requests.splice(0).map(({ body }) => body.includes("holding-v2"));
      expect(typeof (await source.contracts(["one"])).get("one")).toBe("object");
      expect(withBoth()).toEqual([true, false]);
      clock.time = 29_999;
      await source.contracts(["one"]);
      expect(withBoth()).toEqual([false]);
      clock.time = 30_000;
      await source.contracts(["one"]);
      expect(withBoth()).toEqual([true, false]);
    });

    test("of packages that the participant lacks altogether are not known", async () => {
      const cause = "not uploaded: [splice-api-token-holding-v1, splice-api-token-holding-v2].";
      const none: Answer = { status: 404, body: { code: "PACKAGE_NAMES_NOT_FOUND", cause } };
      const { source, failures } = await sourceOf(() => none, { templates: [byInterface] });
      expect(await source.contracts(["one", "two"])).toEqual(new Map());
      expect(failures).toEqual([]);
    });
  });

  test("are asked for once each, the first 500 of them, 8 at a time", async () => {
    let [inFlight, highest] = [0, 0];
    const waiting: (() => void)[] = [];
    // Eight requests wait for one another: with fewer at a time nothing would be answered.
    const { source, requests } = await sourceOf(
      async () => {
        highest = Math.max(highest, ++inFlight);
        if (requests.length <= 8) await new Promise<void>((resolve) => waiting.push(resolve));
        else await new Promise((resolve) => setImmediate(resolve));
        inFlight--;
        return good;
      },
      { maxWait: 60_000 },
    );
    const release = until("eight requests wait", () => waiting.length === 8).then(() => waiting.forEach((go) => go()));
    const ids = Array.from({ length: 510 }, (_, index) => `id-${index}`);
    const found = await source.contracts(["id-0", ...ids]);
    await release;
    expect([...found].filter(([, one]) => one === "unread").map(([id]) => id)).toEqual(ids.slice(500));
    expect([found.size, requests.length, highest]).toEqual([510, 500, 8]);
  });

  test("that are not told within the wait are unread, and so are all if the participant cannot be reached", async () => {
    const never = new Promise<Answer>(() => {});
    const { source, failures } = await sourceOf((id) => (id === "slow" ? never : good), { maxWait: 1_500 });
    const found = await source.contracts(["slow", "quick"]);
    expect([found.get("slow"), typeof found.get("quick")]).toEqual(["unread", "object"]);
    expect(failures).toEqual(["lost"]);
    const away = new ParticipantContracts(endpointAt(await closedPort()), namedParties([operator]), {
      templates: [holding],
      registrars: [],
      maxWait: 1_000,
      clock: () => 0,
      onFailure: ({ kind }) => void failures.push(kind),
    });
    expect(await away.contracts(["one"])).toEqual(new Map([["one", "unread"]]));
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
  const accept = {
    does: "exercise",
    template: transferOffer,
    contractId: "offer",
    choice: "TransferInstruction_Accept",
  };
  const choice = { ...accept, argument: { extraArgs: {} }, result: { meta: {} }, consuming: true };
  const foreign = [
    { CreatedEvent: { ...created, ...other } },
    { ExercisedEvent: { ...exercised, packageName: "other-package" } },
  ];

  test.each<[string, Answer, object[]]>([
    ["its events in order", transaction({ ExercisedEvent: exercised }, { CreatedEvent: created }), [choice, creation]],
    ["null for what is left out", transaction({ ExercisedEvent: bare }), [{ ...choice, argument: null, result: null }]],
    ["no events of other templates", transaction(...foreign), []],
    ["no events if it is no transaction", { body: { update: { Reassignment: { value: { events: [] } } } } }, []],
  ])("has %s", async (_what, answer, expected) => {
    const { history } = await historyOf([answer]);
    expect(await history.update({ updateId }, templates)).toEqual({ events: expected });
  });

  test.each<[string, JsonValue | string]>([
    ["is no JSON", "<html>"],
    ["is a list", []],
    ["has no update", {}],
    ["has a transaction that is null", { update: { Transaction: null } }],
    ["has events that are no list", { update: { Transaction: { value: { events: {} } } } }],
    ...Object.entries<JsonValue>({
      "an event that is none": 5,
      "an event of another form": { ArchivedEvent: about },
      "an event without a template": { CreatedEvent: { ...created, templateId: null } },
      "a creation without its arguments": { CreatedEvent: { ...created, createArgument: null } },
      "a creation without its offset": { CreatedEvent: { ...created, offset: "7" } },
      "a choice without its name": { ExercisedEvent: { ...exercised, choice: null } },
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
      "is undefined of another kind",
      { body: { created: { createdEvent: { ...created, templateId: "p:O:O" } } } },
      undefined,
    ],
    ["is undefined if it is not found", errorOf(404, "CONTRACT_EVENTS_NOT_FOUND"), undefined],
    ["is undefined if it is pruned", errorOf(400, "PARTICIPANT_PRUNED_DATA_ACCESSED"), undefined],
    ["cannot be decoded if it is text", { body: { created: "event" } }, "unreadable"],
    ["cannot be decoded if it has no event", { body: { created: { synchronizerId: "A" } } }, "unreadable"],
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

  test.each([0, 250, 1_000])("is looked for until %s ms have passed, and no longer", async (maxWait) => {
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
