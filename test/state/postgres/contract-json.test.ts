/** What a module reads of a contract has to be the same after it was stored as JSON. */
import { createReadStream } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isStored, type StoredContract } from "../../../src/domain/contract.js";
import { unreadableTemplate } from "../../../src/domain/template.js";
import { Decoder } from "../../../src/ledger/decode.js";
import { parseSnapshot } from "../../../src/ledger/file/snapshot.js";
import { parseRegistryFile } from "../../../src/registry/engine/file.js";
import { tableRegistry } from "../../../src/registry/engine/table-registry.js";
import { templates } from "../../../src/registry/utility/templates.js";
import { encodeParsed } from "../../../src/state/postgres/contract-json.js";
import { PostgresLog } from "../../../src/state/postgres/log.js";
import { apple, type Fruit, fruit, fruits, pear } from "../../fixtures/fruits.js";
import { beginWriter, CONTENT, freshSchema, type Schema } from "../../fixtures/postgres-schema.js";

const withFields = (fields: unknown) => ({ ...fruit("a"), fields: fields as Fruit });

const EVERYTHING = `
name: tea
package: tea
templates:
  rules: { name: "Tea:Rules", registrar: admin }
  kind: { name: "Tea:Kind", registrar: admin }
  gift:
    name: "Tea:Gift"
    registrar: admin
    choices: transfer-instruction
    roles: { sender: from }
    accounts: { receiver: to }
    refs: { leaf: leaves.* }
    flags: { isOpen: open }
    from: since
    until: until
    deadline: before
    newest: rank
    instrument: kind
factory: { template: rules }
instruments: { template: kind, id: id, name: name, decimals: decimals }
entries: { rules: { template: rules, find: { admin: registrar } } }
`;

describe("fields are the same after they were stored", () => {
  const rowOf = (contract: StoredContract): unknown =>
    (JSON.parse(encodeParsed(contract)) as { fields: unknown }).fields;

  test("of the contracts of the Registry Utility", async () => {
    const decoder = new Decoder(templates, { countsSupply: true, keepsOptional: true });
    const file = createReadStream("demo/registry.ndjson", "utf8");
    const { contracts } = await parseSnapshot(file, decoder);
    const stored = contracts.filter((one): one is StoredContract => isStored(one as StoredContract));
    for (const contract of stored) expect(rowOf(contract)).toEqual(contract.fields);
    const seen = new Set(stored.map(({ template }) => template.qualifiedName));
    // What is read by views has the fields of a table.
    const named = templates.filter(({ packageName }) => packageName !== "");
    expect(named.filter(({ qualifiedName }) => !seen.has(qualifiedName))).toEqual([]);
  });

  test("of the contracts of a table, whatever it reads", () => {
    const { file, problems } = parseRegistryFile(EVERYTHING);
    if (file === undefined) throw new Error(problems.join("\n"));
    const table = tableRegistry(file);
    const payloads: Readonly<Record<string, object>> = {
      "Tea:Kind": { admin: "r", id: "GREEN", name: "Green", decimals: "3" },
      "Tea:Gift": {
        admin: "r",
        from: "alice",
        to: { owner: "bob", provider: null, id: "savings" },
        leaves: ["1", "2"],
        open: true,
        since: "2026-01-05T09:00:00Z",
        until: "2026-01-06T09:00:00Z",
        before: "2026-01-05T10:00:00Z",
        // Beyond what a number holds.
        rank: "9".repeat(400),
        kind: "GREEN",
      },
    };
    let checked = 0;
    for (const template of table.templates) {
      const payload = payloads[template.qualifiedName];
      if (payload === undefined) continue;
      checked++;
      const parsed = template.parse(payload as never);
      if (parsed === undefined) throw new Error(`a contract of ${template.qualifiedName} is not kept`);
      expect(rowOf({ ...fruit("a"), template, ...parsed })).toEqual(parsed.fields);
    }
    expect(checked).toBe(2);
  });

  class Label {
    readonly name = "red";
  }
  const loop: { self?: unknown } = {};
  loop.self = loop;

  test.each<[string, unknown]>([
    ["fields.amount of contract a is of type bigint", { amount: 5n }],
    ["fields.labels[1].seen of contract a is of class Set", { labels: ["a", { seen: new Set() }] }],
    ["fields of contract a is of class Map", new Map()],
    ["fields.at of contract a is of class Date", { at: new Date(0) }],
    ["fields[0] of contract a is of class Label", [new Label()]],
    ["fields.rank of contract a is NaN", { rank: Number.NaN }],
    ["fields.rank of contract a is -Infinity", { rank: -Infinity }],
    ["fields[1] of contract a is of type undefined", ["a", undefined]],
    ["fields.toJSON of contract a is of type function", { toJSON: () => 1 }],
    ["of contract a is below 100 others", loop],
  ])("or the contract is refused: %s", (message, fields) => {
    expect(() => encodeParsed(withFields(fields))).toThrow(message);
    expect(() => encodeParsed(withFields(fields))).toThrow("template fruit:Fruit.Tree:Apple: fields");
  });

  test.each([
    null,
    undefined,
    "",
    0.1,
    -1e300,
    { a: undefined, __proto__: null },
    [[], {}, [null]],
    { "é\0\ud800": "\0" },
  ])("if they are JSON: %j", (fields) => {
    expect(rowOf(withFields(fields))).toEqual(fields);
  });
});

describe("a log", () => {
  let schema: Schema;
  beforeAll(async () => {
    schema = await freshSchema();
  });
  afterAll(() => schema.drop());

  const begin = async () => {
    const lost: unknown[] = [];
    const writer = await beginWriter(schema.database, { onLost: (error) => lost.push(error) });
    return { writer, lost, log: new PostgresLog(schema.database, { templates: fruits, contentId: CONTENT }) };
  };
  const loaded = (log: PostgresLog) =>
    log.load(async (state) => {
      const ids: string[] = [];
      for await (const { contract } of state?.contracts ?? [])
        ids.push(`${contract.contractId} ${contract.template.qualifiedName}`);
      return [state?.head.offset, ...ids.toSorted()];
    }, new AbortController().signal);

  test("refuses what it cannot hold, changes nothing, and goes on", async () => {
    const { writer, lost, log } = await begin();
    const set = withFields({ labels: new Set() });
    await writer.replace([fruit("x")], 5);
    await expect(writer.replace([fruit("b"), set], 6)).rejects.toThrow("fields.labels of contract a is of class Set");
    await expect(writer.apply([{ active: set }], 6)).rejects.toThrow("fields.labels of contract a is of class Set");
    // In several batches.
    const changes = [{ active: fruit("b") }, { archived: "b" }, { active: set }];
    await expect(writer.apply(changes, 6)).rejects.toThrow("fields.labels of contract a is of class Set");
    expect(await loaded(log)).toEqual([5, "x Fruit.Tree:Apple"]);
    await writer.apply([{ active: fruit("b") }], 6);
    expect(await loaded(log)).toEqual([6, "b Fruit.Tree:Apple", "x Fruit.Tree:Apple"]);
    expect(lost).toEqual([]);
    await schema.empty();
  });

  test.each(["", "{", "null", "7", '{"fields": {}}', '{"fields": {}, "indexKeys": 7}'])(
    "gives a row with the JSON %j as a contract that cannot be read",
    async (parsed) => {
      const { writer, log } = await begin();
      await writer.replace([fruit("a"), fruit("b")], 5);
      const { head } = (await log.progress(undefined)) as {
        head: { generation: number; offset: number; updateId: undefined };
      };
      await writer.apply([{ active: fruit("c") }], 6);
      await schema.sql("UPDATE offledger.log_contracts SET parsed = $1 WHERE contract_id IN ('a', 'c')", [parsed]);
      const name = "Fruit.Tree:Apple (unreadable)";
      expect(await loaded(log)).toEqual([6, `a ${name}`, "b Fruit.Tree:Apple", `c ${name}`]);
      expect(await log.progress(head)).toMatchObject({
        step: {
          active: [
            {
              contractId: "c",
              fields: null,
              template: unreadableTemplate(apple),
              indexKeys: [unreadableTemplate(apple).indexKey],
            },
          ],
        },
      });
      await schema.empty();
    },
  );

  test("does not read past a contract whose template it does not know", async () => {
    const { writer, log } = await begin();
    await writer.replace([fruit("a"), fruit("p", { template: pear })], 5);
    const others = new PostgresLog(schema.database, { templates: [apple], contentId: CONTENT });
    await expect(loaded(others)).rejects.toThrow(
      "contract p is stored with template pkg-1:Fruit.Tree:Pear, which this process does not serve",
    );
    expect(await loaded(log)).toHaveLength(3);
    await schema.empty();
  });
});
