/** What `offledger-localnet` moves, against what real participants have answered: see replay.ts; and its faucet. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { openAccess } from "../../packages/localnet/src/access.js";
import { type FaucetOptions, startFaucet } from "../../packages/localnet/src/faucet.js";
import { findToken, LocalNet } from "../../packages/localnet/src/localnet.js";
import { LedgerError, Participant } from "../../packages/localnet/src/participant.js";
import { kindOf, type Mint, tokenOf } from "../../packages/localnet/src/token.js";
import { up } from "../../packages/localnet/src/up.js";
import { amountOf, holdingsOf, offersTo, unitsOf, Wallet } from "../../packages/localnet/src/wallet.js";
import { temporaryFile } from "../fixtures/files.js";
import { until } from "../fixtures/wait.js";
import { dar, type Exchange, recordedId, recording, replay } from "./replay.js";

const GOLD = "issuer: coffee\ninstruments: [{ id: GOLD }, { id: SILVER }]";
const access = openAccess("participant_admin");

type Net = Awaited<ReturnType<typeof replay>>;
const participantsOf = ({ app, user }: Net) =>
  [new Participant("app", app, access), new Participant("user", user, access)] as const;

async function opened(recorded: Net, text: string) {
  const file = tokenOf(text, "token.yaml");
  const net = await LocalNet.connect(participantsOf(recorded), { waitMs: 0, synchronizers: 2 });
  const token = await findToken(net, await kindOf(file.token), file);
  return { wallet: new Wallet(token, recorded.registry), alice: await net.actor("alice"), bob: await net.actor("bob") };
}

const sumOf = (held: readonly { readonly instrument: string; readonly amount: string }[], instrument: string): string =>
  amountOf(held.filter((one) => one.instrument === instrument).reduce((sum, one) => sum + unitsOf(one.amount), 0n));

test("a token is minted, transferred to a party of another participant, and burned", async () => {
  const recorded = await replay(recording.moves);
  const { wallet, alice, bob } = await opened(recorded, GOLD);
  const offer = await wallet.mint({ receiver: bob.party, instrument: "SILVER", amount: "2.5" });
  expect(await wallet.accept(bob, offer ?? "")).toMatchObject({ offer: undefined, holdings: [{}] });
  const sent = await wallet.transfer(alice, { receiver: bob.party, instrument: "GOLD", amount: "30.0" });
  const [waiting] = await offersTo(bob.party, bob.participant, bob.party);
  expect(waiting).toMatchObject({ contractId: sent.offer, amount: "30.0000000000", sender: alice.party });
  await wallet.accept(bob, sent.offer ?? "");
  await wallet.burn(bob, "GOLD", "10.0");
  const held = await holdingsOf(bob);
  // 50 at first, 30 of alice, 10 burned; 20 at first, 2.5 minted.
  expect([sumOf(held, "GOLD"), sumOf(held, "SILVER")]).toEqual(["70.0", "22.5"]);
  expect([recorded.refused, recorded.left]).toEqual([[], []]);
});

test("a token that is minted by a transfer of its issuer: set up, minted, transferred and burned", async () => {
  const recorded = await replay(recording.simple);
  const text = 'token: simple-token\nissuer: silversmith\ninstruments: [{ id: PLATE, balances: { bob: "7.5" } }]';
  const changed: string[] = [];
  const setUp = async (registryUrl: string | undefined) =>
    up({
      participants: participantsOf(recorded),
      token: tokenOf(text, "token.yaml"),
      dars: [await dar("simple-token", "0.1.0", recordedId(/"packageId":"([0-9a-f]{64})"[^}]*"simple-token"/))],
      registryUrl,
      waitMs: 0,
      synchronizers: 2,
      service: { user: "offledger", signing: undefined },
      instrumentsFile: undefined,
      report: (step, did, isChange) => void (isChange && changed.push(`${step}: ${did}`)),
    });
  expect(await setUp(undefined)).toMatchObject({ kind: { registry: "simple-token" } });
  changed.length = 0;
  await setUp(recorded.registry);
  expect(changed).toEqual(["7.5 PLATE for bob: minted and accepted"]);
  const { wallet, alice, bob } = await opened(recorded, text);
  const { offer } = await wallet.transfer(bob, { receiver: alice.party, instrument: "PLATE", amount: "2.5" });
  await wallet.accept(alice, offer ?? "");
  await wallet.burn(alice, "PLATE", "1.0");
  expect([recorded.refused, recorded.left]).toEqual([[], []]);
});

test("an offer that the receiver's participant does not see yet is accepted when it does", async () => {
  const { moves } = recording;
  const isSubmit = ({ path }: Exchange) => path.includes("submit-and-wait");
  const [, accept] = moves.flatMap((one, index) => (isSubmit(one) ? [index] : []));
  const late = { status: 404, answer: { code: "CONTRACT_NOT_FOUND", cause: "Contract could not be found" } };
  const accepted = moves[accept ?? 0];
  if (accepted === undefined) throw new Error("no accept is recorded");
  const before = moves.slice(0, accept);
  const recorded = await replay([...before, { ...accepted, ...late }, accepted]);
  const { wallet, bob } = await opened(recorded, GOLD);
  const offer = await wallet.mint({ receiver: bob.party, instrument: "SILVER", amount: "2.5" });
  expect(await wallet.accept(bob, offer ?? "")).toMatchObject({ holdings: [{}] });
  expect([recorded.refused, recorded.left]).toEqual([[], []]);
});

test.each([
  ["more than a party has", (text: string) => text, "100.1", "100.0"],
  ["what is locked", (text: string) => text.replaceAll('"lock":null', '"lock":{"holders":[]}'), "1", "0.0"],
])("%s is told with what it has", async (_what, edit, amount, has) => {
  const { moves } = recording;
  const [mint, factory] = ["submit-and-wait", "transfer-factory"].map((part) =>
    moves.findIndex(({ path }) => path.includes(part)),
  );
  // The two calls before the factory read alice's holdings.
  const holdings = JSON.parse(edit(JSON.stringify(moves.slice((factory ?? 0) - 2, factory)))) as typeof moves;
  const recorded = await replay([...moves.slice(0, mint), ...holdings]);
  const { wallet, alice } = await opened(recorded, GOLD);
  const sent = wallet.transfer(alice, { receiver: "bob::1220", instrument: "GOLD", amount });
  await expect(sent).rejects.toThrow(`alice has ${has} GOLD that is not locked, less than ${amount}`);
  expect([recorded.refused, recorded.left]).toEqual([[], []]);
});

test.each([
  ["0", "0.0"],
  ["1", "1.0"],
  ["12.5", "12.5"],
  ["0.0000000001", "0.0000000001"],
  ["9999999999999999999999999999.9999999999", "9999999999999999999999999999.9999999999"],
])("the amount %s is read and written exactly", (text, written) => {
  expect(amountOf(unitsOf(text))).toBe(written);
});

describe("the faucet", () => {
  async function start(mint: FaucetOptions["mint"]) {
    const lines: string[] = [];
    const report = (step: string, did: string) => void lines.push(`${step}: ${did}`);
    const faucet = await startFaucet({ host: "127.0.0.1", port: 0, instruments: ["GOLD"], max: "100", mint, report });
    onTestFinished(() => void faucet.close());
    const post = async (body: string, type = "application/json") => {
      const response = await fetch(`${faucet.url}/faucet`, { method: "POST", headers: { "content-type": type }, body });
      return { status: response.status, text: await response.text() };
    };
    return { url: faucet.url, post, lines };
  }
  const minted: Mint[] = [];
  const works = async (mint: Mint) => {
    minted.push(mint);
    return Promise.resolve("minted and accepted");
  };

  test("mints for programs and by its page", async () => {
    const { url, post, lines } = await start(works);
    expect(await post('{"party":"bob","instrument":"GOLD","amount":"100"}')).toEqual({
      status: 200,
      text: '{"receiver":"bob","instrument":"GOLD","amount":"100","result":"minted and accepted"}',
    });
    const page = await (await fetch(url)).text();
    expect(page).toContain('<form method="post" action="/faucet">');
    const form = await post("party=%3Cb%3E&instrument=GOLD&amount=1.5", "application/x-www-form-urlencoded");
    expect(form).toMatchObject({
      status: 200,
      text: expect.stringContaining("1.5 GOLD for &#60;b&#62;: minted") as string,
    });
    expect(minted).toEqual([
      { receiver: "bob", instrument: "GOLD", amount: "100" },
      { receiver: "<b>", instrument: "GOLD", amount: "1.5" },
    ]);
    expect(lines).toHaveLength(2);
  });

  test.each([
    ['{"party":"bob","instrument":"GOLD","amount":"100.0000000001"}', 400, "is above 100, the most for one request"],
    ['{"party":"bob","instrument":"GOLD","amount":"-1"}', 400, "must be a decimal above zero"],
    ['{"party":"bob","instrument":"GOLD","amount":"0.0"}', 400, "must be a decimal above zero"],
    ['{"party":"bob","instrument":"TIN","amount":"1"}', 400, "there is no instrument TIN: there are GOLD"],
    ['{"instrument":"GOLD","amount":"1"}', 400, "party is missing"],
    ["[", 400, "must be a JSON object"],
    [`"${"x".repeat(5_000)}"`, 413, "longer than 4096 bytes"],
  ])("refuses %s", async (body, status, why) => {
    const { post } = await start(() => Promise.reject(new Error("not reached")));
    expect(await post(body)).toEqual({ status, text: expect.stringContaining(why) as string });
  });

  test("tells what the ledger says, and goes on", async () => {
    let isFirst = true;
    const { post } = await start(async (mint) => {
      if (isFirst) {
        isFirst = false;
        throw new LedgerError("the participant is down", undefined, undefined);
      }
      return works(mint);
    });
    const body = '{"party":"bob","instrument":"GOLD","amount":"1"}';
    expect(await post(body)).toEqual({ status: 502, text: '{"error":"the participant is down"}' });
    expect((await post(body)).status).toBe(200);
  });

  test("mints one after the other, and lets sixteen wait", async () => {
    let running = 0;
    let most = 0;
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const { post } = await start(async () => {
      most = Math.max(most, ++running);
      await released;
      running--;
      return "minted";
    });
    const body = '{"party":"bob","instrument":"GOLD","amount":"1"}';
    const statuses: number[] = [];
    const sent = Array.from({ length: 20 }, async () => statuses.push((await post(body)).status));
    await until("those beyond sixteen are refused", () => statuses.length === 4);
    release();
    await Promise.all(sent);
    expect(most).toBe(1);
    expect(statuses).toEqual([...Array.from({ length: 4 }, () => 429), ...Array.from({ length: 16 }, () => 200)]);
    expect((await post(body)).status).toBe(200);
  });

  test("says that its port is taken", async () => {
    const { url } = await start(works);
    const port = Number(new URL(url).port);
    const again = startFaucet({
      host: "127.0.0.1",
      port,
      instruments: [],
      max: "1",
      mint: works,
      report: () => undefined,
    });
    await expect(again).rejects.toThrow(`127.0.0.1:${port} is taken: choose another with --port`);
  });
});

/** The command, with the variables. */
async function command(args: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  const main = join(import.meta.dirname, "../../packages/localnet/src/main.ts");
  const env = { PATH: process.env["PATH"] ?? "", ...variables };
  const run = promisify(execFile)(process.execPath, ["--import", "tsx", main, ...args], { env });
  return run.then(
    ({ stdout }) => ({ code: 0, output: stdout }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, output: stderr }),
  );
}

test("the command takes its options from the command line and from variables", async () => {
  const recorded = await replay(recording.moves.slice(0, 12));
  const variables = {
    LOCALNET_PARTICIPANT: `app=${recorded.app},user=${recorded.user}`,
    LOCALNET_TOKEN: await temporaryFile("token.yaml", GOLD),
    LOCALNET_SYNCHRONIZERS: "2",
    LOCALNET_USER: "participant_admin",
  };
  const asked = await command(["mint", "--to", "bob", "--instrument", "TIN", "--amount", "1"], variables);
  expect(asked).toEqual({
    code: 2,
    output: expect.stringMatching(/^--instrument TIN must be one of .*: GOLD, SILVER\n$/) as string,
  });
  expect(await command(["mint", "--instrument", "TIN"], { ...variables, LOCALNET_PARTICIPANT: "app" })).toEqual({
    code: 2,
    output: "--participant app must be NAME=URL, such as app=http://127.0.0.1:3975\n",
  });
  // Nobody waits for a participant to be told that.
  const nowhere = { ...variables, LOCALNET_PARTICIPANT: "app=http://127.0.0.1:1" };
  const given = ["mint", "--instrument", "GOLD", "--amount", "1"];
  expect(await command(given, nowhere)).toEqual({ code: 2, output: "--to PARTY is missing\n" });
  expect(await command(["print"])).toMatchObject({
    code: 2,
    output: expect.stringContaining("say what to do: up, mint") as string,
  });
});
