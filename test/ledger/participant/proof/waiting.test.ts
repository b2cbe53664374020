/** How long an unknown update is polled for, and which errors mean that it is unknown. */
import { describe, expect, test } from "vitest";
import { failureOf } from "../servers.js";
import { templates, notFound, scriptedHistory, transaction, updateId } from "./scripted-responses.js";

test("what is pruned is as unknown as what never was", async () => {
  const pruned = { status: 400, body: { ...notFound, code: "PARTICIPANT_PRUNED_DATA_ACCESSED" } };
  const { history } = await scriptedHistory([pruned]);
  expect(await history.update({ updateId }, templates)).toBeUndefined();
  expect(await history.creation("offer", templates)).toBeUndefined();
});

describe("an update that has not arrived yet", () => {
  const missing = { status: 404, body: notFound };

  test("is polled by its id until it arrives", async () => {
    const { history, requests } = await scriptedHistory([missing, missing, { body: transaction() }], 1_000);
    expect(await history.pollUntil(() => history.update({ updateId }, templates))).toEqual({ events: [] });
    expect(requests).toHaveLength(3);
  });

  test.each([0, 100, 250, 400, 1_000])(
    "by its id is looked for until %s ms have passed, and no longer",
    async (maxWait) => {
      const { history, pauses, time } = await scriptedHistory([missing], maxWait);
      expect(await history.pollUntil(() => history.update({ updateId }, templates))).toBeUndefined();
      expect(time()).toBe(maxWait);
      expect(pauses.every((pause) => pause > 0 && pause <= 250)).toBe(true);
    },
  );

  test.each([0, 1, 40, 140])("takes as long if each look-up takes %s ms", async (duration) => {
    const { history, advance, time } = await scriptedHistory([missing], 1_000);
    let queries = 0;
    const query = (): Promise<undefined> => {
      advance(duration);
      return Promise.resolve(void queries++);
    };
    expect(await history.pollUntil(query)).toBeUndefined();
    expect(time()).toBe(1_000);
    expect(queries).toBeGreaterThan(3);
  });

  test("is none at once where it is not asked for again", async () => {
    const { history, requests } = await scriptedHistory([missing], 1_000);
    expect(await history.update({ offset: 7 }, templates)).toBeUndefined();
    expect(requests).toHaveLength(1);
  });

  test.each([
    [503, "SERVER_IS_SHUTTING_DOWN"],
    [404, "PACKAGE_NAMES_NOT_FOUND"],
    [404, "TEMPLATES_OR_INTERFACES_NOT_FOUND"],
  ])("is not what %s %s says", async (status, code) => {
    const { history } = await scriptedHistory([{ status, body: { ...notFound, code } }], 0);
    expect((await failureOf(history.update({ updateId }, templates))).code).toBe(code);
  });
});
