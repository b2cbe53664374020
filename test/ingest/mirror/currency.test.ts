/** At no time is an answer given from a state that the ledger did not have within the limit of staleness. */
import { expect, test } from "vitest";
import { run, runAll } from "./virtual/run.js";
import { QUIET_START, type Step } from "./virtual/script.js";

/** What random scripts have found, in its shortest form. */
const found: readonly [string, readonly Step[]][] = [
  [
    "a dead connection, and another history that ends at the same offset",
    [
      { do: "move", to: "restored", creates: 1 },
      { do: "wait", ms: 70_000 },
    ],
  ],
  [
    "a stuck stream whose next updates are pruned",
    [
      { do: "stream", fault: "silence", streams: "open" },
      { do: "create", what: ["offer"] },
      { do: "create", what: ["offer"] },
      { do: "prune", share: 0.9 },
      { do: "wait", ms: 3_000 },
    ],
  ],
  [
    "a package that was missing, while the search for it is not answered",
    [
      { do: "clear", packages: 1 },
      { do: "create", what: ["offer"] },
      { do: "wait", ms: 3_000 },
      { do: "search", fault: "unanswered", times: 3 },
      { do: "upload" },
      { do: "create", what: ["locked"] },
      { do: "wait", ms: 150_000 },
    ],
  ],
  [
    "a package that is found while a snapshot without it is read",
    [
      { do: "slowSnapshot", ms: 50_000 },
      { do: "clear", packages: 1 },
      { do: "create", what: ["offer"] },
      { do: "wait", ms: 3_000 },
      { do: "upload" },
      { do: "create", what: ["locked"] },
      { do: "wait", ms: 150_000 },
    ],
  ],
];

test.each(found)("holds over %s", async (_, script) => {
  for (let seed = 1; seed <= 20; seed++) {
    const { wrong, logged } = await run([...QUIET_START, ...script], seed);
    expect(wrong, logged.join("\n")).toBeUndefined();
  }
});

const SCRIPTS = 200;

test(`holds over ${SCRIPTS} random scripts`, async () => {
  const { failed, served, refused, reached, gaveUp } = await runAll(1, SCRIPTS);
  expect(failed).toEqual([]);
  expect(served).toBeGreaterThan(10 * SCRIPTS);
  expect(refused).toBeGreaterThan(10 * SCRIPTS);
  expect(reached).toBeGreaterThan(SCRIPTS);
  expect(gaveUp).toBeGreaterThan(SCRIPTS / 4);
});
