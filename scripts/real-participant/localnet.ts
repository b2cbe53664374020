/**
 * A token on two participants, from nothing to a settled trade, with the built service as its registry and the published library
 * of a wallet. See docs/localnet.md:
 *
 *   npx tsx scripts/real-participant/localnet.ts --dars FOLDER [--ledger URL] [--second URL] [--synchronizers N] [--secret TEXT]
 *     [--record FILE]
 *
 * The folder has splice-test-token-v2-1.0.0.dar, splice-token-test-trading-app-1.0.2.dar and simple-token-0.1.0.dar. Ends with 1 if
 * anything is refused, or if the second set-up changes anything. `--record` writes what test/localnet replays.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { brotliCompressSync } from "node:zlib";
import { openAccess, secretAccess, signToken } from "../../packages/localnet/src/access.js";
import { findToken, LocalNet } from "../../packages/localnet/src/localnet.js";
import { type Created, Participant, textOf } from "../../packages/localnet/src/participant.js";
import { kindOf, tokenOf } from "../../packages/localnet/src/token.js";
import { up } from "../../packages/localnet/src/up.js";
import { holdingsOf, offersTo, Wallet } from "../../packages/localnet/src/wallet.js";
import type { JsonObject } from "../../src/util/json.js";
import { type Exchange, recordTo } from "./recorder.js";
import { Service } from "./service.js";
import { type Prepared, withLibrary } from "./wallet.js";

const { values } = parseArgs({
  options: {
    ledger: { type: "string", default: "http://127.0.0.1:7864" },
    second: { type: "string", default: "http://127.0.0.1:7880" },
    dars: { type: "string", default: "." },
    synchronizers: { type: "string", default: "1" },
    secret: { type: "string" },
    record: { type: "string" },
  },
});

const USER = "participant_admin";
const AUDIENCE = "https://canton.network.global";
const HOUR_MS = 3_600_000;

const GOLD = `
token: test-token-v2
issuer: coffee
parties: { alice: app, bob: user, venue: app }
instruments:
  - { id: GOLD, name: Gold, symbol: GLD, decimals: 2, balances: { alice: "100.0", bob: "50.0" } }
  - { id: SILVER, balances: { bob: "20.0" } }
`;
const PLATE = `
token: simple-token
issuer: silversmith
instruments: [{ id: PLATE, balances: { bob: "7.5" } }]
`;

const sections: Record<string, Exchange[]> = {};
let section: Exchange[] = [];
const record = (name: string): void => void (section = sections[name] ??= []);

const proxied = (to: string, url: string) =>
  values.record === undefined ? Promise.resolve(url) : recordTo((exchange) => void section.push(exchange), to, url);
const { secret } = values;
const participant = async (name: string, url: string) =>
  new Participant(
    name,
    await proxied(name, url),
    secret === undefined ? openAccess(USER) : secretAccess(secret, USER, AUDIENCE),
  );

const begun = performance.now();
const say = (text: string): void =>
  void process.stdout.write(`${((performance.now() - begun) / 1_000).toFixed(1).padStart(6)} s  ${text}\n`);

const participants = [await participant("app", values.ledger), await participant("user", values.second)] as const;
const folder = await mkdtemp(join(tmpdir(), "offledger-localnet-"));
const files = { instruments: join(folder, "instruments.yaml"), token: join(folder, "token") };

/** Returns the token, and the steps that have changed something. */
async function setUp(text: string, dars: readonly string[], registryUrl?: string) {
  const changed: string[] = [];
  const token = await up({
    participants,
    token: tokenOf(text, "token.yaml"),
    dars: dars.map((name) => join(values.dars, name)),
    registryUrl,
    waitMs: 60_000,
    synchronizers: Number(values.synchronizers),
    service: {
      user: "offledger",
      signing: secret === undefined ? undefined : { secret, audience: AUDIENCE, file: files.token },
    },
    instrumentsFile: files.instruments,
    report(step, did, isChange) {
      if (isChange) changed.push(`${step}: ${did}`);
    },
  });
  return { token, changed };
}

const serve = (parties: string, registry: string): Promise<Service> =>
  Service.start({
    OFFLEDGER_LEDGER_URL: values.ledger,
    OFFLEDGER_REGISTRY: registry,
    OFFLEDGER_INSTRUMENTS: files.instruments,
    OFFLEDGER_ROOT_REGISTRAR: "user",
    OFFLEDGER_WAIT: "true",
    // Without authentication a participant knows no user.
    ...(secret === undefined
      ? { OFFLEDGER_LEDGER_PARTIES: parties }
      : { OFFLEDGER_LEDGER_PARTIES: "user", OFFLEDGER_LEDGER_TOKEN_FILE: files.token }),
  });

async function testToken(dars: readonly string[]): Promise<void> {
  record("first");
  const first = await setUp(GOLD, dars);
  say(`set up: ${first.changed.length} steps changed something`);
  const { issuer, kind } = first.token;
  const service = await serve(issuer.party, kind.registry);
  try {
    const registryUrl = await proxied("registry", service.url);
    record("accepted");
    say(`balances: ${(await setUp(GOLD, dars, registryUrl)).changed.join("; ")}`);
    record("again");
    const again = await setUp(GOLD, dars, registryUrl);
    if (again.changed.length > 0) throw new Error(`the second set-up has changed ${again.changed.join("; ")}`);
    say("again: nothing changed");
    record("moves");
    await moves(registryUrl);
    record("wallet");
    await trade(service.url);
  } finally {
    await service.stop();
  }
}

async function opened(text: string, registryUrl: string) {
  const file = tokenOf(text, "token.yaml");
  const net = await LocalNet.connect(participants, { waitMs: 0, synchronizers: Number(values.synchronizers) });
  const token = await findToken(net, await kindOf(file.token), file);
  return {
    net,
    token,
    wallet: new Wallet(token, registryUrl),
    alice: await net.actor("alice"),
    bob: await net.actor("bob"),
  };
}

async function moves(registryUrl: string): Promise<void> {
  const { wallet, alice, bob } = await opened(GOLD, registryUrl);
  const offer = await wallet.mint({ receiver: bob.party, instrument: "SILVER", amount: "2.5" });
  await wallet.accept(bob, offer ?? "");
  say("minted 2.5 SILVER for bob, and accepted");
  await wallet.transfer(alice, { receiver: bob.party, instrument: "GOLD", amount: "30.0" });
  const [waiting] = await offersTo(bob.party, bob.participant, bob.party);
  await wallet.accept(bob, waiting?.contractId ?? "");
  say("30.0 GOLD from alice to bob, of another participant: offered and accepted");
  await wallet.burn(bob, "GOLD", "10.0");
  const held = await holdingsOf(bob);
  say(`bob burned 10.0 GOLD and has ${held.map((one) => `${one.amount} ${one.instrument}`).join(", ")}`);
}

const TRADE = "#splice-token-test-trading-app:Splice.Testing.Apps.TradingApp";

/** With the library of a wallet: a transfer back, and GOLD against SILVER by way of a venue. */
async function trade(registryUrl: string): Promise<void> {
  const { net, token, alice, bob } = await opened(GOLD, registryUrl);
  const venue = await net.actor("venue");
  const { synchronizerId } = token;
  const admin = token.issuer.party;
  const registry = `${registryUrl}/api/token-standard/v0/registrars/${admin}`;
  const bearer = secret === undefined ? undefined : signToken(secret, USER, AUDIENCE, HOUR_MS / 1_000);
  await withLibrary(async (load) => {
    const ofAlice = await load(values.ledger, USER, bearer);
    const ofBob = await load(values.second, USER, bearer);
    const submit = async ({ participant: at, party }: typeof alice, prepared: Prepared) => {
      const [{ choiceArgument: argument, ...exercise }, disclosed] = await prepared;
      return at.submit([party], [{ ...exercise, argument }], synchronizerId, disclosed as readonly JsonObject[]);
    };
    const inputs = async (owner: typeof alice, instrument: string) => {
      const held = (await holdingsOf(owner)).filter((one) => one.instrument === instrument && !one.isLocked);
      return held.map(({ contractId }) => contractId);
    };
    await submit(
      bob,
      ofBob.transfer.createTransfer(bob.party, alice.party, "5.0", admin, "GOLD", registry, await inputs(bob, "GOLD")),
    );
    const [offer] = await offersTo(alice.party, alice.participant, alice.party);
    await submit(alice, ofAlice.transfer.createAcceptTransferInstruction(offer?.contractId ?? "", registry));
    say("library: 5.0 GOLD from bob to alice, offered and accepted");

    const legs = {
      gold: leg(alice.party, bob.party, "12.0", { admin, id: "GOLD" }),
      silver: leg(bob.party, alice.party, "4.0", { admin, id: "SILVER" }),
    };
    const [proposal] = await created(alice, [
      {
        templateId: `${TRADE}:OTCTradeProposal`,
        argument: { venue: venue.party, tradeCid: null, transferLegs: legs, approvers: [alice.party] },
      },
    ]);
    const [approved] = await exercised(bob, proposal, "OTCTradeProposal", "OTCTradeProposal_Accept", {
      approver: bob.party,
    });
    const [prepareUntil, settleBefore] = [1, 2].map((hours) => new Date(Date.now() + hours * HOUR_MS).toISOString());
    const [otc] = await exercised(venue, approved, "OTCTradeProposal", "OTCTradeProposal_InitiateSettlement", {
      prepareUntil: prepareUntil ?? "",
      settleBefore: settleBefore ?? "",
    });
    const trades = await venue.participant.active(venue.party, `${TRADE}:OTCTrade`, "TemplateFilter");
    const request = trades.find(({ contractId }) => contractId === otc?.contractId);
    const { createdAt, tradeCid } = request?.argument ?? {};
    const settlement = {
      executor: venue.party,
      requestedAt: textOf(createdAt),
      settlementRef: { id: "OTCTradeProposal", cid: textOf(tradeCid) },
      allocateBefore: prepareUntil ?? "",
      settleBefore: settleBefore ?? "",
      meta: { values: {} },
    };
    const allocate = async (owner: typeof alice, library: typeof ofAlice, id: keyof typeof legs) => {
      const specification = { settlement, transferLegId: id, transferLeg: legs[id] };
      const input = await inputs(owner, legs[id].instrumentId.id);
      // The token's allocations of version 1 have the time of the call as that of the settlement.
      const prepared = library.allocation.createAllocationInstruction(
        specification,
        admin,
        registry,
        input,
        settlement.requestedAt,
      );
      return idOf((await submit(owner, prepared)).created, "Allocation");
    };
    const allocations = {
      gold: await allocate(alice, ofAlice, "gold"),
      silver: await allocate(bob, ofBob, "silver"),
    };
    say("library: both legs allocated");
    const contexts = await Promise.all(
      Object.entries(allocations).map(async ([id, contractId]) => {
        const context = await ofAlice.allocation.fetchExecuteTransferChoiceContext(contractId, registry);
        return { id, contractId, context };
      }),
    );
    const withContext = contexts.map(({ id, contractId, context: { choiceContextData: context } }) => {
      return [id, { _1: contractId, _2: { context, meta: { values: {} } } }] as const;
    });
    await exercised(
      venue,
      otc,
      "OTCTrade",
      "OTCTrade_Settle",
      { allocationsWithContext: Object.fromEntries(withContext) },
      contexts.flatMap(({ context: { disclosedContracts } }) => disclosedContracts),
    );
    say("settled: 12.0 GOLD against 4.0 SILVER");
  });

  async function created(
    { participant: at, party }: typeof alice,
    commands: Parameters<Participant["submit"]>[1],
    disclosed: readonly JsonObject[] = [],
  ): Promise<readonly Created[]> {
    return (await at.submit([party], commands, synchronizerId, disclosed)).created;
  }
  async function exercised(
    actor: typeof alice,
    contract: Created | undefined,
    entity: string,
    choice: string,
    argument: JsonObject,
    disclosed?: readonly JsonObject[],
  ) {
    const { contractId = "" } = contract ?? {};
    return created(actor, [{ templateId: `${TRADE}:${entity}`, contractId, choice, argument }], disclosed);
  }
}

const leg = (sender: string, receiver: string, amount: string, instrumentId: { admin: string; id: string }) => ({
  sender,
  receiver,
  amount,
  instrumentId,
  meta: { values: {} },
});

function idOf(created: readonly Created[], entity: string): string {
  const found = created.find(({ templateId }) => templateId.split(":").at(-1)?.includes(entity) === true);
  if (found === undefined) throw new Error(`no ${entity} was created: ${JSON.stringify(created)}`);
  return found.contractId;
}

async function simpleToken(dars: readonly string[]): Promise<void> {
  record("simple");
  const { token } = await setUp(PLATE, dars);
  const service = await serve(token.issuer.party, token.kind.registry);
  try {
    const registryUrl = await proxied("registry", service.url);
    const { changed } = await setUp(PLATE, dars, registryUrl);
    say(`simple-token: ${changed.join("; ")}`);
    const { wallet, alice, bob } = await opened(PLATE, registryUrl);
    const { offer } = await wallet.transfer(bob, { receiver: alice.party, instrument: "PLATE", amount: "2.5" });
    await wallet.accept(alice, offer ?? "");
    await wallet.burn(alice, "PLATE", "1.0");
    say("simple-token: 2.5 PLATE from bob to alice, offered and accepted; 1.0 burned");
  } finally {
    await service.stop();
  }
}

try {
  await testToken(["splice-test-token-v2-1.0.0.dar", "splice-token-test-trading-app-1.0.2.dar"]);
  await simpleToken(["simple-token-0.1.0.dar"]);
  if (values.record !== undefined) await writeFile(values.record, brotliCompressSync(JSON.stringify(sections)));
} catch (error) {
  say(`FAILED: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true });
}
