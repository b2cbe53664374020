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
    const own = readdirSync(folder).filter((file) => pins.test(file));
    // A client in TypeScript without a package of its own uses that of the repository.
    const pinned = own.length > 0 ? own.map((file) => join(folder, file)) : ["package.json"];
    expect(pinned.map((path) => readFileSync(path, "utf8")).join("\n")).toContain(version);
  },
);
