/**
 * `offledger-localnet up` against what a Canton 3.5.10 participant and this service have answered: `up.json.br` has the runs, call
 * by call. A call that was not recorded is refused.
 */
import { readFileSync } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { brotliDecompressSync } from "node:zlib";
import { strToU8, zipSync } from "fflate";
import { describe, expect, onTestFinished, test } from "vitest";
import { Participant } from "../../packages/localnet/src/participant.js";
import { tokenOf } from "../../packages/localnet/src/token.js";
import { up, type UpOptions } from "../../packages/localnet/src/up.js";
import type { JsonValue } from "../../src/util/json.js";
import { temporaryFile } from "../fixtures/files.js";
import { freePort } from "../fixtures/free-port.js";

interface Exchange {
  readonly method: string;
  readonly path: string;
  /** Null for an upload too. */
  readonly body: JsonValue;
  readonly status: number;
  readonly answer: JsonValue;
}

const recorded = brotliDecompressSync(readFileSync(join(import.meta.dirname, "up.json.br"))).toString();
const recording = JSON.parse(recorded) as Readonly<
  Record<"first" | "accepted" | "again" | "upload" | "registry", readonly Exchange[]>
>;

const PARTICIPANT = "12202dd9096783ce1abce2d6a98e4cd0bc760d8e58d75a1a81ecb47e869087ed51bf";

/** What each run has of its own. */
const comparable = (body: JsonValue): JsonValue =>
  JSON.parse(
    JSON.stringify(body, (name, value: unknown) => (name === "commandId" || name === "offeredAt" ? "" : value)),
  ) as JsonValue;

/** Answers the calls in their order. `left` has those that were not made, `refused` those that were not expected. */
async function replay(exchanges: readonly Exchange[]) {
  const left = [...exchanges];
  const refused: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const isJson = text !== "" && request.headers["content-type"] === "application/json";
    const body = isJson ? comparable(JSON.parse(text) as JsonValue) : null;
    const [next] = left;
    const isNext =
      next !== undefined &&
      next.method === request.method &&
      next.path === request.url &&
      isDeepStrictEqual(comparable(next.body), body);
    if (isNext) left.shift();
    else refused.push(`${request.method} ${request.url} ${JSON.stringify(body)}`);
    response.writeHead(isNext ? next.status : 400, { "content-type": "application/json" });
    response.end(JSON.stringify(isNext ? next.answer : { code: "NOT_RECORDED", cause: "not recorded" }));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, left, refused };
}

/** As the participant has vetted it. */
const [, TOKEN_ID = ""] =
  /"packageId":"([0-9a-f]{64})"[^}]*"splice-test-token-v2"/.exec(JSON.stringify(recording.first)) ?? [];

/** The path of a DAR with this main package. */
async function dar(name: string, version: string, packageId: string): Promise<string> {
  const main = `${name}-${version}-${packageId}`;
  const long = `Main-Dalf: ${main}/${main}.dalf`;
  const lines = ["Manifest-Version: 1.0", `Name: ${name}-${version}`, long.slice(0, 70), ` ${long.slice(70)}`, ""];
  const path = await temporaryFile("token.dar", "");
  await writeFile(path, zipSync({ "META-INF/MANIFEST.MF": strToU8(lines.join("\r\n")) }));
  return path;
}

async function run(url: string, more: Partial<UpOptions> = {}, token = BALANCES) {
  const lines: string[] = [];
  const options: UpOptions = {
    participants: [new Participant("app", url, { user: "participant_admin", token: undefined })],
    token: tokenOf(token, "token.yaml"),
    dars: [await dar("splice-test-token-v2", "1.0.0", TOKEN_ID)],
    registryUrl: undefined,
    waitMs: 0,
    service: { user: "offledger", signing: undefined },
    instrumentsFile: undefined,
    report: (step, did, changed) => void lines.push(`${changed ? "+" : "="} ${step}: ${did}`),
    ...more,
  };
  return { lines, done: await up(options).catch((error: unknown) => error as Error) };
}

const BALANCES = 'issuer: acme\ninstruments: [{ id: GOLD, balances: { bob: "100.0" } }]';
const issuer = `acme::${PARTICIPANT}`;

describe("a token", () => {
  test("is set up: issuer, rules, the service's user, and an offer of what a party is to have", async () => {
    const { url, left, refused } = await replay(recording.first);
    const { lines, done } = await run(url);
    expect({ refused, left }).toEqual({ refused: [], left: [] });
    expect(done).toMatchObject({ issuer, registry: "test-token-v2" });
    expect(lines.filter((line) => line.startsWith("+"))).toEqual([
      `+ issuer: ${issuer}`,
      expect.stringMatching(/^\+ the token's rules: 00/),
      "+ user: offledger may read as the issuer",
      "+ 100.0 GOLD for bob: offered; no registry is given, so it is not accepted",
    ]);
  });

  test("is accepted with the registry's answer when it is set up again, and nothing else changes", async () => {
    const { url, left, refused } = await replay(recording.accepted);
    const registry = await replay(recording.registry);
    const { lines, done } = await run(url, { registryUrl: registry.url });
    expect({ refused, left, ofRegistry: [registry.left, registry.refused] }).toEqual({
      refused: [],
      left: [],
      ofRegistry: [[], []],
    });
    expect(done).toMatchObject({ issuer });
    expect(lines.filter((line) => line.startsWith("+"))).toEqual(["+ 100.0 GOLD for bob: minted and accepted"]);
  });

  test("that is there is left as it is", async () => {
    const { url, left, refused } = await replay(recording.again);
    const { lines, done } = await run(url, { registryUrl: "http://127.0.0.1:1" });
    expect({ refused, left }).toEqual({ refused: [], left: [] });
    expect(done).toMatchObject({ issuer });
    expect(lines.every((line) => line.startsWith("="))).toBe(true);
  });

  test("has its packages uploaded where they are not vetted", async () => {
    const { url, left, refused } = await replay(recording.upload);
    const dars = [await dar("utility-credential-app-v0", "0.4.1", "a".repeat(64))];
    const { lines } = await run(url, { dars }, "issuer: acme\ninstruments: [{ id: GOLD }]");
    expect({ refused, left }).toEqual({ refused: [], left: [] });
    expect(lines[1]).toMatch(/^\+ utility-credential-app-v0: 0.4.1 uploaded, and vetted by app on synchronizer-1::/);
  });

  test("has files for the service: a token that only its owner reads, and the names of its instruments", async () => {
    const { url } = await replay(recording.again);
    const [tokenFile, instrumentsFile] = [await temporaryFile("token", ""), await temporaryFile("names", "")];
    const signing = { secret: "unsafe", audience: "https://canton.network.global", file: tokenFile };
    const token =
      'issuer: acme\ninstruments: [{ id: GOLD, name: Gold, symbol: GLD, decimals: 2, balances: { bob: "1" } }]';
    await run(url, { service: { user: "offledger", signing }, instrumentsFile }, token);
    const [head = "", claims = ""] = (await readFile(tokenFile, "utf8")).split(".");
    expect([head, claims].map((part) => JSON.parse(Buffer.from(part, "base64url").toString()) as JsonValue)).toEqual([
      { alg: "HS256", typ: "JWT" },
      { sub: "offledger", aud: "https://canton.network.global" },
    ]);
    expect((await stat(tokenFile)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(instrumentsFile, "utf8"))).toEqual({
      [issuer]: { GOLD: { name: "Gold", symbol: "GLD", decimals: 2 } },
    });
  });
});

const changed = (exchanges: readonly Exchange[], path: string, answer: JsonValue): readonly Exchange[] =>
  exchanges.map((one) => (one.path.startsWith(path) ? { ...one, answer } : one));

test.each<
  [string, () => readonly Exchange[], Partial<UpOptions> | (() => Promise<Partial<UpOptions>>), string | RegExp]
>([
  [
    "another build of the package",
    () => recording.first,
    async () => ({ dars: [await dar("splice-test-token-v2", "1.0.0", "b".repeat(64))] }),
    new RegExp(`${"b".repeat(64)}, but app on .* has it as ${TOKEN_ID}: use the DAR of the network`),
  ],
  [
    "a DAR that is missing",
    () => recording.first,
    { dars: ["/nowhere/token.dar"] },
    "/nowhere/token.dar cannot be read",
  ],
  [
    "a party of another participant",
    () =>
      changed(recording.first, "/v2/parties?filter-party=acme", {
        partyDetails: [{ party: "acme::1220ff", isLocal: false }],
        nextPageToken: "",
      }),
    {},
    "the party acme::1220ff is hosted by another participant than app",
  ],
  [
    "a party that nobody knows",
    () => changed(recording.first, "/v2/parties?filter-party=bob", { partyDetails: [], nextPageToken: "" }),
    {},
    "no participant knows the party bob: allocate it first",
  ],
])("%s is told in a sentence", async (_what, exchanges, given, expected) => {
  const { url } = await replay(exchanges());
  const { done } = await run(url, typeof given === "function" ? await given() : given);
  expect(done).toBeInstanceOf(Error);
  expect((done as Error).message).toMatch(expected);
});

test("a participant that is not there is waited for, and named", async () => {
  const { lines, done } = await run(`http://127.0.0.1:${await freePort()}`);
  expect((done as Error).message).toMatch(/^app: http:\/\/127.0.0.1:\d+ cannot be reached: .*ECONNREFUSED/);
  expect(lines).toEqual([]);
});

test.each([
  ["instruments: []", /token.yaml: instruments: /],
  ["instruments: [{ id: GOLD, decimals: 11 }]", /instruments.0.decimals: /],
  ['instruments: [{ id: GOLD, balances: { bob: "1e5" } }]', /balances.bob: must be a decimal such as "100.0"/],
  ["instruments: [{ id: GOLD }]\nissuer: a b", /issuer: must be letters, digits, - and _/],
  ["instruments: [{ id: GOLD }]\nsuply: 1", /suply/],
  ["a: [", /token.yaml is not YAML/],
])("the file %s is refused by name", (text, expected) => {
  expect(() => tokenOf(text, "token.yaml")).toThrow(expected);
});
