/** The packages of the contracts of a log; src/state/postgres/packages.ts. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { contentHash } from "../../../src/state/lookup-hash.js";
import { StoredPackages } from "../../../src/state/postgres/packages.js";
import type { PostgresWriter } from "../../../src/state/postgres/writer.js";
import { fruit } from "../../fixtures/fruits.js";
import { beginWriter, CONTENT, freshSchema, type Schema } from "../../fixtures/postgres-schema.js";

let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());
beforeEach(() => () => schema.empty());

async function writerOf(contentId: string): Promise<PostgresWriter> {
  await schema.sql("INSERT INTO offledger.state (content_hash, content_id) VALUES ($1, $2) ON CONFLICT DO NOTHING", [
    contentHash(contentId),
    contentId,
  ]);
  return beginWriter(schema.database, { contentId });
}

const idsOf = async (contentId: string) => (await new StoredPackages(schema.database, contentId).ids()).toSorted();
const of = (templateId: string, id: string) => fruit(id, { templateId });

test("are those of the snapshot and of updates, of the served generation of the content, each once", async () => {
  const [ours, others] = [await writerOf(CONTENT), await writerOf("others")];
  expect(await idsOf(CONTENT)).toEqual([]);
  await ours.replace([of("gone:M:A", "a")], 5);
  await ours.replace(
    [of("a1:M:A", "a"), of("a1:M:B", "b"), of("a1:M:A", "c"), of("a10:M:A", "d"), of("Z:M:A", "e")],
    6,
  );
  await others.replace([of("other:M:A", "a")], 5);
  expect(await idsOf(CONTENT)).toEqual(["Z", "a1", "a10"]);
  await ours.apply([{ active: of("new:M:A", "f") }, { archived: "d" }, { archived: "b" }], 7);
  expect(await idsOf(CONTENT)).toEqual(["Z", "a1", "new"]);
  expect(await idsOf("others")).toEqual(["other"]);
  expect(await idsOf("none")).toEqual([]);
});
