/** `offledger-localnet up` against what real participants have answered: see replay.ts. */
import { readFile, stat } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { openAccess } from "../../packages/localnet/src/access.js";
import { Participant } from "../../packages/localnet/src/participant.js";
import { tokenOf } from "../../packages/localnet/src/token.js";
import { up, type UpOptions } from "../../packages/localnet/src/up.js";
import type { JsonValue } from "../../src/util/json.js";
import { temporaryFile } from "../fixtures/files.js";
import { freePort } from "../fixtures/free-port.js";
import { dar, type Exchange, recordedId, recording, replay } from "./replay.js";

const packageId = (name: string): string => recordedId(new RegExp(`"packageId":"([0-9a-f]{64})"[^}]*"${name}"`));
const dars = async () => [
  await dar("splice-test-token-v2", "1.0.0", packageId("splice-test-token-v2")),
  await dar("splice-token-test-trading-app", "1.0.2", packageId("splice-token-test-trading-app")),
];

const TOKEN = `
issuer: coffee
parties: { alice: app, bob: user, venue: app }
instruments:
  - { id: GOLD, name: Gold, symbol: GLD, decimals: 2, balances: { alice: "100.0", bob: "50.0" } }
  - { id: SILVER, balances: { bob: "20.0" } }
`;

const access = openAccess("participant_admin");

async function run(
  { app, user }: { readonly app: string; readonly user: string },
  more: Partial<UpOptions> = {},
  token = TOKEN,
) {
  const lines: string[] = [];
  const options: UpOptions = {
    participants: [new Participant("app", app, access), new Participant("user", user, access)],
    token: tokenOf(token, "token.yaml"),
    dars: await dars(),
    registryUrl: undefined,
    waitMs: 0,
    synchronizers: 2,
    service: { user: "offledger", signing: undefined },
    instrumentsFile: undefined,
    report: (step, did, changed) => void lines.push(`${changed ? "+" : "="} ${step}: ${did}`),
    ...more,
  };
  return { lines, done: await up(options).catch((error: unknown) => error as Error) };
}

const changes = (lines: readonly string[]) => lines.filter((line) => line.startsWith("+"));
const issuer = recordedId(/"party":"(coffee::[0-9a-f]+)"/);
const bob = recordedId(/"party":"(bob::[0-9a-f]+)"/);

describe("a token", () => {
  test("is set up: packages on each participant and synchronizer, parties, rules, the service's user, and offers", async () => {
    const net = await replay(recording.first);
    const { lines, done } = await run(net);
    expect([net.refused, net.left]).toEqual([[], []]);
    expect(done).toMatchObject({ issuer: { party: issuer }, kind: { registry: "test-token-v2" } });
    const changed = changes(lines);
    for (const name of ["splice-test-token-v2: 1.0.0", "splice-token-test-trading-app: 1.0.2"])
      for (const at of [
        "app on synchronizer-1",
        "app on synchronizer-2",
        "user on synchronizer-1",
        "user on synchronizer-2",
      ])
        expect(changed.filter((line) => line.startsWith(`+ ${name} uploaded, and vetted by ${at}`))).toHaveLength(1);
    expect(changed.slice(8)).toEqual([
      `+ issuer: ${issuer}`,
      expect.stringMatching(/^\+ alice: alice::/),
      `+ bob: ${bob}`,
      expect.stringMatching(/^\+ venue: venue::/),
      expect.stringMatching(/^\+ the token's rules: 00/),
      "+ user: offledger may read as the issuer",
      ...["100.0 GOLD for alice", "50.0 GOLD for bob", "20.0 SILVER for bob"].map(
        (step) => `+ ${step}: offered; no registry is given, so it is not accepted`,
      ),
    ]);
  });

  test("is accepted with the registry's answer when it is set up again, and nothing else changes", async () => {
    const net = await replay(recording.accepted);
    const { lines } = await run(net, { registryUrl: net.registry });
    expect([net.refused, net.left]).toEqual([[], []]);
    expect(changes(lines)).toEqual([
      "+ 100.0 GOLD for alice: minted and accepted",
      "+ 50.0 GOLD for bob: minted and accepted",
      "+ 20.0 SILVER for bob: minted and accepted",
    ]);
  });

  test("that is there is left as it is", async () => {
    const net = await replay(recording.again);
    const { lines, done } = await run(net, { registryUrl: net.registry });
    expect([net.refused, net.left]).toEqual([[], []]);
    expect(done).toMatchObject({ issuer: { party: issuer } });
    expect(changes(lines)).toEqual([]);
  });

  test("has files for the service: a token that only its owner reads, and the names of its instruments", async () => {
    const net = await replay(recording.again);
    const [tokenFile, instrumentsFile] = [await temporaryFile("token", ""), await temporaryFile("names", "")];
    const signing = { secret: "unsafe", audience: "https://canton.network.global", file: tokenFile };
    await run(net, { service: { user: "offledger", signing }, instrumentsFile });
    const [head = "", claims = ""] = (await readFile(tokenFile, "utf8")).split(".");
    expect([head, claims].map((part) => JSON.parse(Buffer.from(part, "base64url").toString()) as JsonValue)).toEqual([
      { alg: "HS256", typ: "JWT" },
      { sub: "offledger", aud: "https://canton.network.global" },
    ]);
    expect((await stat(tokenFile)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(instrumentsFile, "utf8"))).toEqual({
      [issuer]: {
        GOLD: { name: "Gold", symbol: "GLD", decimals: 2 },
        SILVER: { name: "SILVER", symbol: "SILVER", decimals: 10 },
      },
    });
  });
});

const changed = (exchanges: readonly Exchange[], path: string, answer: JsonValue): readonly Exchange[] =>
  exchanges.map((one) => (one.path.startsWith(path) ? { ...one, answer } : one));
const nobody = { partyDetails: [], nextPageToken: "" };

test.each<
  [
    string,
    () => readonly Exchange[],
    Partial<UpOptions> | (() => Promise<Partial<UpOptions>>),
    string | RegExp,
    string?,
  ]
>([
  [
    "another build of the package",
    () => recording.again,
    async () => ({ dars: [await dar("splice-test-token-v2", "1.0.0", "b".repeat(64))] }),
    new RegExp(
      `${"b".repeat(64)}, but app on .* has it as ${packageId("splice-test-token-v2")}: use the DAR of the network`,
    ),
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
      changed(recording.first, "/v2/parties?filter-party=coffee", {
        partyDetails: [{ party: "coffee::1220ff", isLocal: false }],
        nextPageToken: "",
      }),
    {},
    "the party coffee::1220ff is hosted by another participant than app",
  ],
  [
    "a party that nobody knows",
    () => {
      const first = recording.again.find(({ path }) => path.endsWith("filter-party=bob"));
      const others = recording.again.filter((one) => one !== first);
      return changed(others, "/v2/parties?filter-party=bob", nobody);
    },
    {},
    "no participant knows the party bob: allocate it first",
    TOKEN.replace(", bob: user", ""),
  ],
  [
    "a party on a participant that is not there",
    () => recording.first,
    {},
    "the participant third of the party bob is not among those given",
    TOKEN.replace("bob: user", "bob: third").replace("alice: app, ", ""),
  ],
  [
    "participants that do not meet",
    () =>
      recording.first.flatMap((one) =>
        one.path === "/v2/state/connected-synchronizers"
          ? [{ ...one, answer: { connectedSynchronizers: [{ synchronizerId: `${one.to}::1` }] } }]
          : [],
      ),
    { synchronizers: 1, dars: [] },
    "the participants have no synchronizer in common",
  ],
])("%s is told in a sentence", async (_what, exchanges, given, expected, token) => {
  // Calls of steps before may be left out.
  const net = await replay(exchanges());
  const { done } = await run(net, typeof given === "function" ? await given() : given, token);
  expect(done).toBeInstanceOf(Error);
  expect((done as Error).message).toMatch(expected);
});

test("a participant that is not there is waited for, and named", async () => {
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  const { lines, done } = await run({ app: nowhere, user: nowhere });
  expect((done as Error).message).toMatch(/^app: http:\/\/127.0.0.1:\d+ cannot be reached: .*ECONNREFUSED/);
  expect(lines).toEqual([]);
});

test("a participant at a public address is not called", async () => {
  const { done } = await run({ app: "http://192.0.2.1", user: "http://127.0.0.1:1" });
  expect((done as Error).message).toMatch(/^app is at 192\.0\.2\.1, which is not a private address/);
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
