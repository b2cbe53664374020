/** Holdings of any token, which are read by their ids where an answer names them, on the contracts of a recorded participant. */
import { describe, expect, onTestFinished, test } from "vitest";
import { startApp } from "../../src/app/app.js";
import type { Config } from "../../src/config/config.js";
import { TOKEN_INTERFACES } from "../../src/domain/token-interfaces.js";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { read } from "../fidelity/recordings.js";
import { temporaryFile } from "../fixtures/files.js";
import { databaseAt, freshDatabase } from "../fixtures/postgres.js";
import { quiet, type Running, serve, serveFile } from "../fixtures/run-service.js";
import { until } from "../fixtures/wait.js";
import { play } from "../scripted-participant/elements.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { Participant } from "../scripted-participant/participant.js";

const EVENTS = "/v2/events/events-by-contract-id";

const { testTokenV2 } = read("interface-views-3.5.json") as {
  readonly testTokenV2: { readonly admin: string; readonly active: readonly JsonObject[] };
};
const { admin, active } = testTokenV2;

type Event = JsonObject & {
  readonly contractId: string;
  readonly templateId: string;
  readonly createdEventBlob: string;
  readonly interfaceViews: (JsonObject & { readonly viewValue: JsonObject })[];
};
const eventIn = (element: JsonObject): Event =>
  (element["contractEntry"] as { readonly JsActiveContract: { readonly createdEvent: Event } }).JsActiveContract
    .createdEvent;
/** A copy with other fields. */
const changed = (element: JsonObject, change: (event: Event) => JsonObject): JsonObject => {
  const copy = structuredClone(element);
  Object.assign(eventIn(copy), change(eventIn(copy)));
  return copy;
};
const ofEntity = (entity: string, isOne: (event: Event) => boolean = () => true): JsonObject => {
  const found = active.find((one) => eventIn(one).templateId.endsWith(`:${entity}`) && isOne(eventIn(one)));
  if (found === undefined) throw new Error(`the recording has no ${entity}`);
  return found;
};
const isLocked = ({ interfaceViews: [view] }: Event): boolean => (view?.viewValue["lock"] ?? null) !== null;

const rules = ofEntity("TokenRules");
const [locked, unlocked] = [ofEntity("Token", isLocked), ofEntity("Token", (event) => !isLocked(event))];
const spent = changed(unlocked, () => ({ contractId: "00spent" }));
/** Its view names the admin, who sees it and has not signed it. */
const forged = changed(unlocked, () => ({
  contractId: "00forged",
  signatories: ["mallory::1220"],
  observers: [admin],
}));
const [lockedId, unlockedId] = [eventIn(locked).contractId, eventIn(unlocked).contractId];
const named = [lockedId, unlockedId, "00spent", "00forged", "00unknown"];
/** The recorded offer, which names these holdings. */
const offer = changed(ofEntity("TokenTransferOffer"), ({ interfaceViews }) => ({
  contractId: "00offer",
  interfaceViews: interfaceViews.map((view) => ({
    ...view,
    viewValue: {
      ...view.viewValue,
      transfer: { ...(view.viewValue["transfer"] as JsonObject), inputHoldingCids: named },
    },
  })),
}));
const elements = [rules, locked, unlocked, spent, forged, offer];

const registry = `/api/token-standard/v0/registrars/${encodeURIComponent(admin)}/registry`;
const choose = (service: Running, choice: string) =>
  service.post(`${registry}/transfer-instruction/v2/00offer/choice-contexts/${choice}`, { meta: {} });
const instruments = async (service: Running): Promise<readonly JsonValue[]> => {
  const { body } = await service.get(`${registry}/metadata/v1/instruments`);
  return (body as { readonly instruments: JsonObject[] }).instruments.map(({ id }) => id ?? null);
};

interface Disclosed extends JsonObject {
  readonly contractId: string;
  readonly createdEventBlob: string;
}
const disclosedBy = ({ body }: { readonly body: JsonValue }): string[] =>
  (body as unknown as { readonly disclosedContracts: readonly Disclosed[] }).disclosedContracts
    .map(({ contractId }) => contractId)
    .toSorted();
const both = [lockedId, unlockedId].toSorted();

async function participantOf() {
  const ledger = new ScriptedLedger();
  play(ledger, elements);
  ledger.transact([{ archive: "00spent" }]);
  const names = new Set(TOKEN_INTERFACES.map(({ packageName }) => packageName));
  const participant = await Participant.start({ ledger, packageNames: [...names, "splice-test-token-v2"] });
  onTestFinished(() => participant.stop());
  const config: Partial<Config> = {
    registry: "standard",
    ledgerUrl: new URL(participant.url),
    ledgerParties: [admin],
  };
  const asked = () =>
    participant.requests
      .filter(({ path }) => path === EVENTS)
      .map(({ body }) => (body as { readonly contractId: string }).contractId);
  /** Whether the snapshot and the stream of updates have holdings. */
  const streamsHoldings = () =>
    participant.requests
      .filter(({ path, status }) => status === 101 && (path === "/v2/updates" || path === "/v2/state/active-contracts"))
      .map(({ body }) => JSON.stringify(body).includes(":Holding"));
  return { ledger, participant, config, asked, streamsHoldings };
}

async function ready(config: Partial<Config>): Promise<Running> {
  const service = await serveFile(undefined, { config });
  onTestFinished(() => service.close());
  await until("the service is ready", async () => (await service.get("/readyz")).status === 200);
  return service;
}

const instrumentsFile = (): Promise<string> =>
  temporaryFile("instruments.yaml", JSON.stringify({ [admin]: { GOLD: {} } }));

test("those that an offer names are disclosed where they are active and signed by their admin, locked or not", async () => {
  const { config, asked } = await participantOf();
  const service = await ready(config);
  const answer = await choose(service, "accept");
  expect(disclosedBy(answer)).toEqual(both);
  for (const one of [locked, unlocked]) expect(JSON.stringify(answer.body)).toContain(eventIn(one).createdEventBlob);
  expect(asked().toSorted()).toEqual(named.toSorted());
});

test("what is not mirrored gives no tags, by which a client would keep the answer", async () => {
  const { config } = await participantOf();
  const service = await ready(config);
  const headers = { "content-type": "application/json", "offledger-if-none-match": '""' };
  const ask = (path: string, method: string, body?: string) =>
    fetch(service.url + path, { method, headers, ...(body !== undefined && { body }) });
  const accepted = await ask(`${registry}/transfer-instruction/v2/00offer/choice-contexts/accept`, "POST", "{}");
  expect([accepted.status, accepted.headers.has("etag"), accepted.headers.has("offledger-tags")]).toEqual([
    200,
    true,
    false,
  ]);
  expect((await ask(`${registry}/metadata/v1/instruments`, "GET")).headers.has("offledger-tags")).toBe(true);
});

describe("a participant that does not tell them in time", () => {
  test.each<[string, (participant: Participant) => void]>([
    ["is slow", ({ faults }) => faults.leaveUnanswered({ path: EVENTS, times: named.length })],
    ["is overloaded", ({ faults }) => faults.refuse(503, { path: EVENTS, times: named.length })],
    ["hangs up", ({ faults }) => faults.hangUp({ path: EVENTS, times: named.length })],
  ])("%s: an accept is 503, a reject leaves them out", async (_what, fail) => {
    const { config, participant } = await participantOf();
    const service = await ready(config);
    fail(participant);
    const refused = await choose(service, "accept");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    participant.faults.clear();
    fail(participant);
    const rejected = await choose(service, "reject");
    expect([rejected.status, disclosedBy(rejected)]).toEqual([200, []]);
    participant.faults.clear();
    expect(disclosedBy(await choose(service, "accept"))).toEqual(both);
  });
});

test("of a pruned ledger those are left out of which only the archival was there", async () => {
  const { config, ledger } = await participantOf();
  const service = await ready(config);
  ledger.prune(ledger.end);
  expect(disclosedBy(await choose(service, "accept"))).toEqual(both);
});

describe("holdings are mirrored", () => {
  test("to know the instruments, which do not end with the last offer", async () => {
    const { config, ledger, streamsHoldings } = await participantOf();
    const service = await ready(config);
    ledger.transact([{ archive: "00offer" }, { archive: lockedId }]);
    await until("the offer is archived", async () => (await choose(service, "accept")).status === 404);
    expect(await instruments(service)).toEqual(["GOLD"]);
    expect(streamsHoldings()).toEqual([true, true]);
    ledger.transact([{ archive: unlockedId }]);
    // The forged holding is there still.
    await until("the last holding is spent", async () => (await instruments(service)).length === 0);
  });

  test("not where the instruments file names some", async () => {
    const { config, streamsHoldings } = await participantOf();
    const service = await ready({ ...config, instruments: await instrumentsFile() });
    expect(await instruments(service)).toEqual(["GOLD"]);
    expect(disclosedBy(await choose(service, "accept"))).toEqual(both);
    expect(streamsHoldings()).toEqual([false, false]);
  });

  test("where it does, for the total supply", async () => {
    const { config, streamsHoldings } = await participantOf();
    const service = await ready({ ...config, instruments: await instrumentsFile(), totalSupply: true });
    const { body } = await service.get(`${registry}/metadata/v1/instruments`);
    const amounts = [locked, unlocked].map((one) => Number(eventIn(one).interfaceViews[0]?.viewValue["amount"]));
    expect(body).toMatchObject({
      instruments: [{ totalSupply: `${(amounts[0] ?? 0) + (amounts[1] ?? 0)}.0000000000` }],
    });
    expect(streamsHoldings()).toEqual([true, true]);
  });

  test("and stored, and not read, if all are kept", async () => {
    const { config, asked } = await participantOf();
    const service = await ready({ ...config, keepHoldings: true });
    expect(disclosedBy(await choose(service, "accept"))).toEqual(both);
    expect(asked().toSorted()).toEqual(["00forged", "00spent", "00unknown"]);
  });
});

test("a file has them, locked or not", async () => {
  const service = await serve(
    elements.filter((one) => one !== spent),
    { config: { registry: "standard" } },
  );
  onTestFinished(() => service.close());
  expect(disclosedBy(await choose(service, "accept"))).toEqual(both);
  expect(await instruments(service)).toEqual(["GOLD"]);
});

test("on a database a replica reads them, with a participant; without one an accept is 503", async () => {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  const { config } = await participantOf();
  const shared = { ...quiet(), ...config, databaseUrl: databaseAt(database.url) };
  const answers = { mirrors: false, answers: true };
  const serving = await ready(shared);
  await until("the contracts are there", async () => (await choose(serving, "reject")).status === 200);
  expect(disclosedBy(await choose(serving, "accept"))).toEqual(both);
  expect(await instruments(serving)).toEqual(["GOLD"]);
  const replica = await startApp({ ...shared, ledgerUrl: undefined }, Date.now, answers);
  onTestFinished(() => replica.close());
  const post = (choice: string) =>
    fetch(`${replica.url}${registry}/transfer-instruction/v2/00offer/choice-contexts/${choice}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
  await until("the replica is ready", async () => (await fetch(`${replica.url}/readyz`)).ok);
  expect([(await post("accept")).status, (await post("reject")).status]).toEqual([503, 200]);
});
