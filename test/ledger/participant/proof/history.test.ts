/** Queries of past updates, and the decoding of their responses. */
import { describe, expect, test } from "vitest";
import { transferOffer } from "../../../../src/registry/utility/templates.js";
import type { JsonObject, JsonValue } from "../../../../src/domain/json.js";
import { Documents, hasDocuments } from "../../../scripted-participant/schemas.js";
import { failureOf } from "../servers.js";
import {
  about,
  created,
  exercised,
  templates,
  notFound,
  offerEntity,
  scriptedHistory,
  transaction,
  updateId,
} from "./scripted-responses.js";

describe("an update", () => {
  test("has its events in order", async () => {
    const { history } = await scriptedHistory([
      { body: transaction({ ExercisedEvent: exercised }, { CreatedEvent: created }) },
    ]);
    expect(await history.update({ updateId }, templates)).toEqual({
      events: [
        {
          does: "exercise",
          template: transferOffer,
          contractId: "offer",
          choice: "TransferInstruction_Accept",
          argument: { extraArgs: {} },
          result: { meta: {} },
          consuming: true,
        },
        { does: "create", template: transferOffer, contractId: "offer", payload: { transfer: {} }, offset: 7 },
      ],
    });
  });

  test("omits events of other templates", async () => {
    const other = { templateId: "pkg:Other:Other" };
    const same = { packageName: "other-package" };
    const events = [
      { CreatedEvent: { ...created, ...other } },
      { ExercisedEvent: { ...exercised, ...same } },
      { ExercisedEvent: { ...exercised, ...other } },
    ];
    const { history } = await scriptedHistory([{ body: transaction(...events) }]);
    expect(await history.update({ offset: 7 }, templates)).toEqual({ events: [] });
  });

  test("that is not a transaction has no events", async () => {
    const { history } = await scriptedHistory([{ body: { update: { Reassignment: { value: { events: [] } } } } }]);
    expect(await history.update({ updateId }, templates)).toEqual({ events: [] });
  });

  test("without a result or an argument has null", async () => {
    const { choiceArgument: _, exerciseResult: __, ...bare } = exercised;
    const { history } = await scriptedHistory([{ body: transaction({ ExercisedEvent: bare }) }]);
    const update = await history.update({ updateId }, templates);
    expect(update?.events).toMatchObject([{ argument: null, result: null }]);
  });

  const broken: [string, JsonValue | string][] = [
    ["is no JSON", "<html>"],
    ["is a list", []],
    ["is null", null],
    ["has no update", {}],
    ["has an update that is null", { update: null }],
    ["has a transaction without its value", { update: { Transaction: {} } }],
    ["has a transaction that is null", { update: { Transaction: null } }],
    ["has no events", { update: { Transaction: { value: {} } } }],
    ["has events that are no list", { update: { Transaction: { value: { events: {} } } } }],
    ["has an event that is none", transaction(5)],
    ["has an event of another form", transaction({ ArchivedEvent: about })],
    ["has an event without a template", transaction({ CreatedEvent: { ...created, templateId: null } })],
    ["has a template without its package", transaction({ CreatedEvent: { ...created, templateId: offerEntity } })],
    ["has an event without a package name", transaction({ ExercisedEvent: { ...exercised, packageName: "" } })],
    ["has a creation without its arguments", transaction({ CreatedEvent: { ...created, createArgument: null } })],
    ["has a creation without its offset", transaction({ CreatedEvent: { ...created, offset: "7" } })],
    ["has a creation without its contract", transaction({ CreatedEvent: { ...created, contractId: "" } })],
    ["has a choice without its name", transaction({ ExercisedEvent: { ...exercised, choice: null } })],
    ["has a choice without its contract", transaction({ ExercisedEvent: { ...exercised, contractId: 5 } })],
    [
      "has a choice that does not say whether it archives",
      transaction({ ExercisedEvent: { ...exercised, consuming: "yes" } }),
    ],
  ];
  test.each(broken)("cannot be decoded if the response %s", async (_, body) => {
    const { history } = await scriptedHistory([{ body }], 1_000);
    expect((await failureOf(history.update({ updateId }, templates))).kind).toBe("unreadable");
  });
});

describe("the creation of a contract", () => {
  test("is found, archived or not", async () => {
    const { history } = await scriptedHistory([
      { body: { created: { createdEvent: created, synchronizerId: "A" }, archived: null } },
    ]);
    const creation = {
      does: "create",
      template: transferOffer,
      contractId: "offer",
      payload: { transfer: {} },
      offset: 7,
    };
    expect(await history.creation("offer", templates)).toEqual(creation);
  });

  test.each<[string, JsonObject]>([
    ["is null", { created: null, archived: {} }],
    ["is left out", { archived: {} }],
    ["is of another kind", { created: { createdEvent: { ...created, templateId: "pkg:Other:Other" } } }],
  ])("is undefined if it %s", async (_, found) => {
    const { history } = await scriptedHistory([{ body: found }]);
    expect(await history.creation("offer", templates)).toBeUndefined();
  });

  test.each<[string, JsonObject]>([
    ["is text", { created: "event" }],
    ["has no event", { created: { synchronizerId: "A" } }],
    ["has an event that is null", { created: { createdEvent: null } }],
    ["has no arguments", { created: { createdEvent: { ...created, createArgument: [] } } }],
  ])("cannot be decoded if it %s", async (_, found) => {
    const { history } = await scriptedHistory([{ body: found }]);
    expect((await failureOf(history.creation("offer", templates))).kind).toBe("unreadable");
  });

  test("that is not found is undefined at once", async () => {
    const body = { ...notFound, code: "CONTRACT_EVENTS_NOT_FOUND" };
    const { history, requests } = await scriptedHistory([{ status: 404, body }], 1_000);
    expect(await history.creation("offer", templates)).toBeUndefined();
    expect(requests).toHaveLength(1);
  });
});

test.skipIf(!hasDocuments)("what is asked is as the published documents have it", async () => {
  const documents = new Documents();
  const { history, requests } = await scriptedHistory([{ body: transaction() }]);
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
    const parties = /"filtersByParty":\{"operator::1220":\{"cumulative":.+"registrar::1220":/;
    expect(body).toMatch(parties);
  }
});
