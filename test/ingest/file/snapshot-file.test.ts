/** Real files with a real watch. */
import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Decoder } from "../../../src/ledger/decode.js";
import { SnapshotError, SnapshotFile } from "../../../src/ingest/file-ingestor.js";
import { allocationFactory, templates } from "../../../src/registry/utility/templates.js";
import { MemoryStore } from "../../../src/state/memory-store.js";
import type { StoredContract } from "../../../src/domain/contract.js";
import { NotReady, type StoreWriter } from "../../../src/state/port.js";
import { element, payload } from "../../fixtures/elements.js";
import { gate, until, within } from "../../fixtures/wait.js";

const POLL_MS = 20;
/** Longer than any load of the file. */
const BOUND_MS = 5_000;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "offledger-snapshot-"));
});
afterEach(() => rm(folder, { recursive: true }));

const at = (name: string): string => join(folder, name);
const content = (...ids: readonly string[]): string =>
  ids.map((id) => `${JSON.stringify(element("AllocationFactory", id, payload.service()))}\n`).join("");

interface Watched {
  readonly file: SnapshotFile;
  readonly store: MemoryStore;
  /** How many contracts were swapped in, each time. */
  readonly swapped: number[];
  readonly rejected: string[];
}

/** A file that is not started yet, with a store of its own, optionally wrapped; read in one pass if it is `isHeld`. */
function createSnapshotFile(
  path: string,
  wrap?: (store: MemoryStore) => Pick<StoreWriter, "replace">,
  isHeld = true,
): Watched {
  const store = new MemoryStore();
  const file = new SnapshotFile(path, new Decoder(templates), wrap?.(store) ?? store, isHeld);
  onTestFinished(() => file.close());
  return { file, store, swapped: [], rejected: [] };
}

const start = ({ file, swapped, rejected }: Watched) =>
  file.start(
    { onReplaced: (contracts) => void swapped.push(contracts), onRejected: (reason) => void rejected.push(reason) },
    POLL_MS,
  );

async function started(path: string): Promise<Watched> {
  const watched = createSnapshotFile(path);
  await start(watched);
  return watched;
}

const idsIn = async ({ store }: Watched): Promise<string[]> =>
  store.read((view) => view.all(allocationFactory).map(({ contractId }) => contractId));

const serves = async (watched: Watched, ...ids: readonly string[]): Promise<boolean> =>
  JSON.stringify(await idsIn(watched)) === JSON.stringify(ids);

const untilServes = (watched: Watched, ...ids: readonly string[]): Promise<void> =>
  until(`${ids.join(", ")} are served`, () => serves(watched, ...ids), BOUND_MS);

const untilRejected = (watched: Watched, count: number): Promise<void> =>
  until(`${count} changes have been rejected`, () => watched.rejected.length >= count, BOUND_MS);

describe("at the start", () => {
  test.each([true, false])("the file is in the store when start resolves, and is reported (%s)", async (isHeld) => {
    await writeFile(at("file"), content("a", "b"));
    const watched = createSnapshotFile(at("file"), undefined, isHeld);
    expect(await start(watched)).toBe(2);
    expect(await idsIn(watched)).toEqual(["a", "b"]);
    expect(watched.store.checkpoint?.offset).toBe(10);
    expect(watched.swapped).toEqual([]);
  });

  test.each([
    ["a missing file", "nothing", "PATH cannot be read (ENOENT)"],
    ["a folder", ".", "PATH cannot be read (EISDIR)"],
    [
      "each problem of an invalid file",
      "broken",
      "PATH:2: the element must be an object, but is not one\nPATH:4: contractEntry must be an object, but is missing",
    ],
  ])("%s is reported, the store stays empty, and the file is not watched", async (_what, name, message) => {
    await writeFile(at("broken"), `${content("a")}5\n${content("b")}{}\n`);
    const watched = createSnapshotFile(at(name));
    await expect(start(watched)).rejects.toThrow(new SnapshotError(message.replaceAll("PATH", at(name))));
    if (name !== ".") await seenByAnother(at(name), "b");
    await expect(idsIn(watched)).rejects.toThrow(NotReady);
  });
});

const idsOf = (version: number) => Array.from({ length: version }, (_, index) => `${version}-${100 + index}`);

describe("a changed file", () => {
  test("is swapped in again and again, and reported", async () => {
    await writeFile(at("file"), content("start"));
    const watched = await started(at("file"));
    for (const id of ["first", "second-one", "third"]) {
      await replace(at("file"), content(id));
      await untilServes(watched, id);
    }
    // In place.
    await writeFile(at("file"), content("b", "c"));
    await untilServes(watched, "b", "c");
    await until("it has been reported", () => watched.swapped.at(-1) === 2, BOUND_MS);
    expect(watched.swapped.slice(0, 3)).toEqual([1, 1, 1]);
  });

  test("that is invalid is rejected with line and reason, and the old one is still served", async () => {
    await writeFile(at("file"), content("a"));
    const watched = await started(at("file"));
    await replace(at("file"), `${content("b")}\n{"half": \n`);
    await untilRejected(watched, 1);
    expect(watched.rejected[0]?.startsWith(`${at("file")}:3: not JSON: `)).toBe(true);
    expect(await idsIn(watched)).toEqual(["a"]);
    expect(watched.swapped).toEqual([]);

    await replace(at("file"), content("a", "b"));
    await untilServes(watched, "a", "b");
    expect(watched.rejected).toHaveLength(1);
  });

  test.each([
    ["with other contracts", content("d")],
    ["with what is no JSON", "half"],
  ])("that changes again while it is read, %s, is rejected", async (_what, text) => {
    await writeFile(at("file"), content("a"));
    let loads = 0;
    const watched = createSnapshotFile(at("file"), (store) => ({
      async replace(contracts, offset) {
        // In place, between the two passes.
        if (++loads === 2) await writeFile(at("file"), text);
        await store.replace(contracts, offset);
      },
    }));
    await start(watched);
    await replace(at("file"), content("b", "c"));
    await untilRejected(watched, 1);
    expect(watched.rejected[0]).toBe(`${at("file")} has changed while it was read`);
    await replace(at("file"), content("e"));
    await untilServes(watched, "e");
  });

  test("that is deleted is rejected, the old one is still served, and it may come back", async () => {
    await writeFile(at("file"), content("a"));
    const watched = await started(at("file"));
    await unlink(at("file"));
    await untilRejected(watched, 1);
    expect(watched.rejected).toEqual([`${at("file")} cannot be read (ENOENT)`]);
    expect(await idsIn(watched)).toEqual(["a"]);
    await replace(at("file"), content("b"));
    await untilServes(watched, "b");
  });

  test("may be in another folder that a symbolic link now points to, as a mounted ConfigMap does it", async () => {
    for (const [name, id] of [
      ["version-1", "a"],
      ["version-2", "b"],
    ] as const) {
      await mkdir(at(name));
      await writeFile(join(at(name), "registry.ndjson"), content(id));
    }
    await symlink("version-1", at("..data"));
    await symlink(join("..data", "registry.ndjson"), at("registry.ndjson"));
    const watched = await started(at("registry.ndjson"));
    expect(await idsIn(watched)).toEqual(["a"]);
    await symlink("version-2", at("..next"));
    await rename(at("..next"), at("..data"));
    await rm(at("version-1"), { recursive: true });
    await untilServes(watched, "b");
    expect(watched.rejected).toEqual([]);
  });

  test("that changes many times at once ends with the last", async () => {
    await writeFile(at("file"), content("start"));
    const watched = await started(at("file"));
    for (let version = 1; version <= 60; version++) {
      if (version % 2 === 0) await replace(at("file"), content(...idsOf(version)));
      else await writeFile(at("file"), content(...idsOf(version)));
    }
    await untilServes(watched, ...idsOf(60));
    await replace(at("file"), content("end"));
    await until("the end has been reported", () => watched.swapped.at(-1) === 1, BOUND_MS);
    // Nothing older came after the last.
    expect(watched.swapped.at(-2)).toBe(60);
    expect(await idsIn(watched)).toEqual(["end"]);
  });
});

/** Blocks one write, counted from 0, until the gate opens. */
function slow(held: number) {
  const waiting = gate();
  const begun: string[][] = [];
  const wrap = (store: MemoryStore): Pick<StoreWriter, "replace"> => ({
    async replace(contracts: AsyncIterable<StoredContract>, offset: number) {
      const all: StoredContract[] = [];
      for await (const contract of contracts) all.push(contract);
      begun.push(all.map(({ contractId }) => contractId));
      if (begun.length === held + 1) await waiting.opened;
      await store.replace(all, offset);
    },
  });
  return { waiting, begun, wrap };
}

describe("a slow store", () => {
  test("gets the next change after the one before", async () => {
    const { waiting, begun, wrap } = slow(1);
    await writeFile(at("file"), content("a"));
    const watched = createSnapshotFile(at("file"), wrap);
    await start(watched);
    await replace(at("file"), content("b"));
    await until("the first change is being written", () => begun.length === 2);
    await seenByAnother(at("file"), "c");
    await seenByAnother(at("file"), "d");
    expect(begun).toEqual([["a"], ["b"]]);
    waiting.open();
    await untilServes(watched, "d");
    // All changes in between are loaded once.
    expect(begun).toEqual([["a"], ["b"], ["d"]]);
  });

  test("ends with the change that came while the start was being written", async () => {
    const { waiting, begun, wrap } = slow(0);
    await writeFile(at("file"), content("a"));
    const watched = createSnapshotFile(at("file"), wrap);
    const starting = start(watched);
    await until("the start is being written", () => begun.length === 1);
    await seenByAnother(at("file"), "b");
    await seenByAnother(at("file"), "c");
    waiting.open();
    await starting;
    await untilServes(watched, "c");
    expect(begun.at(-1)).toEqual(["c"]);
  });

  test("is waited for by close", async () => {
    const { waiting, begun, wrap } = slow(1);
    await writeFile(at("file"), content("a"));
    const watched = createSnapshotFile(at("file"), wrap);
    await start(watched);
    await replace(at("file"), content("b"));
    await until("the change is being written", () => begun.length === 2);
    let closed = false;
    const closing = watched.file.close().then(() => {
      closed = true;
    });
    await seenByAnother(at("file"), "c");
    expect(closed).toBe(false);
    waiting.open();
    await within(BOUND_MS, "closed", closing);
    expect(await idsIn(watched)).toEqual(["b"]);
  });
});

describe("close", () => {
  test("stops the watch of its own file alone, and may be called twice", async () => {
    await writeFile(at("file"), content("a"));
    const [one, other] = [await started(at("file")), await started(at("file"))];
    await one.file.close();
    await one.file.close();
    await replace(at("file"), content("b"));
    await untilServes(other, "b");
    await seenByAnother(at("file"), "c");
    expect([await idsIn(one), one.swapped, one.rejected]).toEqual([["a"], [], []]);
  });
});

/** Puts a new file in place of another in one step. */
async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.next`, text);
  await rename(`${path}.next`, path);
}

/**
 * Changes a file and waits until another watch of it has served that: a watch
 * that started earlier has seen the change before.
 */
async function seenByAnother(path: string, ...ids: readonly string[]): Promise<void> {
  await writeFile(path, content("before"));
  const other = await started(path);
  await replace(path, content(...ids));
  await untilServes(other, ...ids);
  await other.file.close();
}
