/**
 * Recorded habits of other registries, a file each in the folder `habits`: what their sources say they do, as answers that a
 * server replays. In a file `cid:NAME`, `pkg:NAME` and `party:NAME` stand for a contract id, a package id and a party. For
 * readers alone it has its `source`, `facts` in our words, `shapes` that stand more than once, and the lesser checks that fail.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { parse } from "yaml";
import { contractId, party } from "../../demo/element.js";
import type { Given } from "../../packages/conformance/src/run.js";
import { type JsonValue, valueAt } from "../../src/util/json.js";
import { withContracts } from "./disclosed.js";

/** All of it has to hold. Of a body the keys are JSON pointers, and null is what is absent; a turn counts by method and path. */
interface When {
  readonly noBody?: boolean;
  readonly body?: Readonly<Record<string, JsonValue>>;
  readonly same?: readonly [string, string];
  /** A list, object or text has more than so many. */
  readonly longer?: Readonly<Record<string, number>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly turn?: "first" | "odd" | "even";
}

interface Route {
  /** Regular expressions: of the method, and of the path after `base`, decoded. The first route that fits answers. */
  readonly method: string;
  readonly path: string;
  readonly when?: When;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text, or JSON in which `disclosed` lists contracts by id and template. */
  readonly body?: JsonValue;
}

interface Finding {
  readonly check?: string;
  readonly why: string;
}

interface Habit {
  readonly name: string;
  /** What stands before `/registry/`. */
  readonly base?: string;
  readonly known: Partial<Given>;
  readonly routes: readonly Route[];
  /** The checks of severity `must` that fail, and rightly. */
  readonly found: readonly Finding[];
  /** Wrong too, but no check asks for it yet; the check that is named here may. */
  readonly missed?: readonly Finding[];
}

const FOLDER = new URL("habits/", import.meta.url);
const NAMES = { cid: contractId, pkg: (name: string) => createHash("sha256").update(name).digest("hex"), party };

/** All files, by name. */
export function readHabits(): readonly Habit[] {
  return readdirSync(FOLDER)
    .toSorted()
    .map((file) => {
      const text = readFileSync(new URL(file, FOLDER), "utf8").replaceAll(
        /\b(cid|pkg|party):([\w-]+)/g,
        (_, kind: keyof typeof NAMES, name: string) => NAMES[kind](name),
      );
      return Object.assign(parse(text, { merge: true }) as Habit, { name: file.replace(/\.yaml$/, "") });
    });
}

/** Serves the answers of a file: `url` is that of the registry. */
export async function replay({ base = "", routes }: Habit): Promise<{ url: string; close: () => void }> {
  const turns = new Map<string, number>();
  const server = createServer((request, response) => {
    void textOf(request).then((text) => {
      const { pathname, searchParams: query } = new URL(request.url ?? "", "http://registry");
      const asked = `${request.method} ${decodeURIComponent(pathname)}`;
      const turn = (turns.get(asked) ?? 0) + 1;
      turns.set(asked, turn);
      const route = routes.find(
        ({ method, path, when = {} }) =>
          new RegExp(`^(?:${method}) ${base}(?:${path})$`).test(asked) && isMet(when, { text, query, turn }),
      );
      const { status, headers, body = "" } = route ?? ({ status: 404 } as Route);
      const isText = typeof body === "string";
      response.writeHead(status, { ...(!isText && { "content-type": "application/json" }), ...headers });
      response.end(isText ? body : JSON.stringify(withContracts(body)));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${base}`;
  return { url, close: () => server.close().closeAllConnections() };
}

function isMet(when: When, asked: { readonly text: string; readonly query: URLSearchParams; readonly turn: number }) {
  const at = (pointer: string) => valueAt(jsonOf(asked.text), ...pointer.split("/").slice(1));
  const json = (pointer: string) => JSON.stringify(at(pointer) ?? null);
  const all = <T>(wanted: Readonly<Record<string, T>> = {}, holds: (name: string, value: T) => boolean) =>
    Object.entries(wanted).every(([name, value]) => holds(name, value));
  const { turn, same, noBody } = when;
  return (
    (noBody !== true || asked.text === "") &&
    (same === undefined || json(same[0]) === json(same[1])) &&
    all(when.body, (pointer, value) => json(pointer) === JSON.stringify(value)) &&
    all(when.longer, (pointer, most) => Object.values(at(pointer) ?? {}).length > most) &&
    all(when.query, (name, value) => asked.query.get(name) === value) &&
    (turn === undefined || (turn === "first" ? asked.turn === 1 : (asked.turn % 2 === 1) === (turn === "odd")))
  );
}

function jsonOf(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
