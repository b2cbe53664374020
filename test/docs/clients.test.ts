/** docs/clients.md names the clients that clients/ has, with the versions that they pin. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findClients } from "../../scripts/clients/folders.js";
import { tableErrors } from "../../scripts/clients/table.js";

const clients = findClients();

test("docs/clients.md lists every client", () => {
  expect(clients.length).toBeGreaterThan(2);
  expect(tableErrors(clients)).toEqual([]);
});

const pins = /^(?:go\.mod|Cargo\.lock|requirements\.txt|pom\.xml|package(?:-lock)?\.json)$/;

test.each(clients.flatMap(({ name, stacks }) => stacks.map((stack) => ({ client: name, ...stack }))))(
  "clients/$client pins $name of version $version",
  ({ client, version }) => {
    const folder = join("clients", client);
    const pinned = readdirSync(folder).filter((file) => pins.test(file));
    expect(pinned.map((file) => readFileSync(join(folder, file), "utf8")).join("\n")).toContain(version);
  },
);
