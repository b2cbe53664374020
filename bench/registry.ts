/**
 * A registry with a given number of offers between a hundred holders, its requests, and snapshot files. An accept context
 * discloses five contracts.
 */
import { hash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { JsonObject } from "../src/util/json.js";
import { element, parties, payload, requirement, type Template } from "../test/fixtures/elements.js";
import { encodeHttp1, type Request } from "./load.js";

const INSTRUMENT = "BENCH";
const HOLDERS = 100;
export const FIXED_CONTRACTS = 5 + HOLDERS;
export const BASE_PATH = `/api/token-standard/v0/registrars/${parties.registrar}/registry`;

/** Makes an accept context with debug fields about 12 KB. */
const blob = Buffer.alloc(1_110);

const holder = (index: number): string => `holder-${index % HOLDERS}::1220${"0".repeat(64)}`;
const receiver = (index: number): string => holder(index * 7 + 13);
export const offerId = (index: number): string => contractId(`offer ${index}`);

/** In the form of a real ledger. */
export function contractId(label: string): string {
  const digits = hash("sha512", label);
  return `00${digits.slice(0, 64)}ca121220${digits.slice(64)}`;
}

/** The element of an active contract. Its blob is the id followed by noise, so that no two share content. */
export function create(template: Template, label: string, content: JsonObject): JsonObject {
  const id = contractId(label);
  let state = Number.parseInt(id.slice(2, 10), 16) | 1;
  for (let at = blob.write(id, "hex"); at + 4 <= blob.length; at += 4) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    blob.writeInt32LE(state, at);
  }
  return element(template, id, content, { blob: blob.toString("base64") });
}

/** What every registrar has once. */
export const createServices = (): JsonObject[] => [
  create("AllocationFactory", "factory", payload.service()),
  create("RegistrarService", "service", payload.service({ enableResultContracts: true })),
  create("TransferRule", "rule", payload.service()),
  create("AppRewardConfiguration", "rewards", payload.reward()),
];

export function* generateTransfers(offers: number): Generator<JsonObject> {
  const claims = [`isHolderOf=${INSTRUMENT}`];
  yield* createServices();
  yield create("InstrumentConfiguration", "instrument", {
    ...payload.configuration(INSTRUMENT, { holderRequirements: [requirement(claims)] }),
  });
  for (let index = 0; index < HOLDERS; index++) {
    yield create("Credential", `credential ${index}`, payload.credential(holder(index), claims));
  }
  for (let index = 0; index < offers; index++) yield* createOffer(index);
}

export const createOffer = (index: number): [JsonObject, JsonObject] => [
  create("Holding", `holding ${index}`, payload.lockedHolding(holder(index), INSTRUMENT)),
  create(
    "TransferOffer",
    `offer ${index}`,
    payload.offer(holder(index), receiver(index), INSTRUMENT, contractId(`holding ${index}`)),
  ),
];

/** Requests have about 1 KB. */
const pad = "x".repeat(520);
export const acceptBody = (hasDebug: boolean) => ({ meta: { values: { pad } }, excludeDebugFields: !hasDebug });

export const acceptRequest = (offer: number, hasDebug = true): Request => ({
  path: `${BASE_PATH}/transfer-instruction/v1/${offerId(offer)}/choice-contexts/accept`,
  type: "application/json",
  body: JSON.stringify(acceptBody(hasDebug)),
});

/** Every second request excludes debug fields. */
export const encodeAccept = (offer: number): Buffer => encodeHttp1(acceptRequest(offer, offer % 2 === 0));

export async function isServed(url: string, offer: number): Promise<boolean> {
  const { path, type, body = "" } = acceptRequest(offer);
  const response = await fetch(url + path, { method: "POST", headers: { "content-type": type }, body });
  await response.arrayBuffer();
  return response.ok;
}

export const transferRequest = (index: number, hasDebug: boolean): Request => ({
  path: `${BASE_PATH}/transfer-instruction/v1/transfer-factory`,
  type: "application/json",
  body: JSON.stringify({
    choiceArguments: {
      expectedAdmin: parties.registrar,
      transfer: {
        sender: holder(index),
        receiver: receiver(index),
        amount: "1.0",
        instrumentId: { admin: parties.registrar, id: INSTRUMENT },
        requestedAt: "2026-01-05T09:00:00Z",
        executeBefore: "2036-01-05T09:00:00Z",
        inputHoldingCids: [],
        meta: { values: { pad: pad.slice(0, 160) } },
      },
      extraArgs: { context: { values: {} }, meta: { values: {} } },
    },
    excludeDebugFields: !hasDebug,
  }),
});

/** A snapshot file of the elements, and its size. */
export async function writeSnapshot(elements: Iterable<JsonObject>) {
  const folder = await mkdtemp(join(tmpdir(), "offledger-bench-"));
  const path = join(folder, "snapshot.ndjson");
  const stop = () => rm(folder, { recursive: true, force: true });
  let bytes = 0;
  const lines = function* () {
    for (const one of elements) {
      const line = `${JSON.stringify(one)}\n`;
      bytes += line.length;
      yield line;
    }
  };
  await pipeline(Readable.from(lines()), createWriteStream(path));
  return { path, bytes, stop };
}
