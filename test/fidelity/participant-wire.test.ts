/** The scripted participant answers as a real one did: the cases of its wire, replayed. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import { Participant } from "../scripted-participant/participant.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { Tokens } from "../scripted-participant/tokens.js";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { ParticipantPackages } from "../../src/ledger/participant/packages.js";
import { messageError, responseError } from "../../src/ledger/participant/errors.js";
import { MAX_WAIT_MS, within } from "../fixtures/wait.js";
import { endpointAt } from "../ledger/participant/servers.js";
import { wireRecording, type WireCase } from "./recordings.js";

const AUTHENTICATED = /^(auth|error|filter for a party|events-by|more elements|offset as)/;

/** Cases that need what is not scripted, and why. */
const UNCOMPARED: readonly (readonly [RegExp, reason: string])[] = [
  [/^about$/, "no case"],
  [/gRPC port/, "no gRPC port is served"],
  [/^pruning at an offset/, "a call over gRPC"],
  [/^readyz$/, "not used"],
  [
    /stream is open|while the stream/,
    "in time: the tests of the scripted participant have expiry, and a right revoked",
  ],
  [/^auth: a token that lives longer/, "the lifetime is not read"],
  [/^stream: ten seconds|^checkpoints:/, "in time: the tests of the scripted participant have offsets and checkpoints"],
  [
    /template unknown in a known package|unknown template in a known|name without #/,
    "templates of packages are not scripted",
  ],
  [/in the arguments|another template|unknown choice|fails in Daml|not authorized/, "Daml is not interpreted"],
  [/malformed blob|blob of another/, "blobs are not decoded"],
  [
    /malformed (contract )?id$|contract, id of the right form|is not disclosed/,
    "ids are cut in the recording, and free texts here",
  ],
  [/GET \/v2\/package-vetting/, "the deprecated form"],
  [/list limit|events-by-contract-id, (token good|known)$/, "depends on the contracts"],
  [/alone$/, "our client fails where the server selects what it has not offered"],
  [/second page/, "the token is cut in the recording"],
  [
    /HTTP updates|updates over HTTP|\(HTTP\)|list limit, updates|\?limit|connected synchronizers|version|livez/,
    "a call that offledger does not make",
  ],
];

const token = { GOOD: "", expired: "", foreign: "", forged: "eyJ.forged.token", unknown: "" };

/** The recording hides tokens. A case says which it sent. */
function tokenOf(name: string): string | undefined {
  if (/token missing|no token|Basic/.test(name)) return undefined;
  if (/not a token/.test(name)) return "abc";
  if (/expired/.test(name)) return token.expired;
  if (/foreign/.test(name)) return token.foreign;
  if (/forged/.test(name)) return token.forged;
  if (/unknown user/.test(name)) return token.unknown;
  return token.GOOD;
}

const isCompared = ({ case: name }: WireCase): boolean => !UNCOMPARED.some(([pattern]) => pattern.test(name));

interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly body: JsonValue;
}

describe("the wire of the scripted participant", () => {
  const cases = wireRecording().filter(isCompared);
  const parties = new Set(
    [...JSON.stringify(wireRecording()).matchAll(/"(\w+::1220[0-9a-f]{64})"/g)]
      .map(([, party = ""]) => party)
      .filter((party) => !party.startsWith("nobody")),
  );
  const synchronizerId = synchronizerOf("prepare: logical synchronizer id");
  let open: Participant;
  let authenticated: Participant;
  let later: Participant;
  const participantFor = (name: string) => {
    if (name.includes("without --auth")) return later;
    return AUTHENTICATED.test(name) ? authenticated : open;
  };

  beforeAll(async () => {
    const tokens = new Tokens();
    token.GOOD = tokens.issue({ parties: [...parties] });
    token.expired = tokens.issue({ expiresInMs: -1 });
    token.foreign = tokens.issue({ parties: [] });
    token.unknown = tokens.issue({ hasUser: false });
    const vetted = vettedOf(wireRecording());
    const packageNames = ["holding-v0", "app-v0", "v0"].map((name) => `utility-registry-${name}`);
    const options = {
      vetted,
      parties,
      packageNames: [...packageNames, "utility-credential-v0", "splice-api-token-transfer-instruction-v1"],
      checkpointMs: 50,
    };
    open = await Participant.start({ ...options, ledger: ledgerTo(191) });
    later = await Participant.start({ ...options, ledger: ledgerTo(200) });
    authenticated = await Participant.start({ ...options, ledger: ledgerTo(164), tokens });
  });
  afterAll(() => Promise.all([open.stop(), later.stop(), authenticated.stop()]));

  /** A ledger that ends where the recorded one did. */
  function ledgerTo(end: number): ScriptedLedger {
    const ledger = new ScriptedLedger({ synchronizerId });
    ledger.elsewhere({ offset: end - 2 });
    return ledger;
  }

  const http = cases.filter(({ request }) => request !== null && "path" in request);
  const streams = cases.filter(({ request }) => request !== null && "websocket" in request);

  test.each(http.filter(({ case: name }) => !name.includes("pruned")).map(({ case: name }) => name))(
    "HTTP: %s",
    async (name) => {
      const { request, response } = caseOf(name);
      const { status, headers, body } = response as { status: number; headers: JsonObject; body: JsonValue };
      const type = headers["content-type"] ?? null;
      const answer = await send(participantFor(name), name, request);
      expect(viewOf(answer.status, answer.type, answer.body)).toEqual(viewOf(status, type, body));
    },
  );

  test.each(streams.filter(({ case: name }) => !name.includes("pruned")).map(({ case: name }) => name))(
    "WebSocket: %s",
    async (name) => {
      const { request, response } = caseOf(name);
      const { handshake = 101, protocol, body = null } = response as JsonObject;
      const { code, ...answer } = await follow(participantFor(name), name, request);
      const error = errorOf(response);
      expect({
        handshake: answer.handshake,
        protocol: protocol === undefined ? undefined : answer.protocol,
        body: shapeOf(answer.body),
        error: answer.error && shapeOf(answer.error),
        kind: messageError(answer.error ?? null)?.kind,
        closesNormally: answer.error === undefined || code === 1000,
      }).toEqual({
        handshake,
        protocol,
        body: shapeOf(body),
        error: error && shapeOf(error),
        kind: messageError(error ?? null)?.kind,
        closesNormally: true,
      });
    },
  );

  test("updates and contracts of before what was pruned", async () => {
    const pruned = await Participant.start({ ledger: ledgerTo(164) });
    pruned.ledger.prune(104);
    try {
      const ofPruning = wireRecording().filter(({ case: name }) => /pruned offset \(Web|at a pruned/.test(name));
      expect(ofPruning).toHaveLength(2);
      for (const { case: name, request, response } of ofPruning) {
        const isStream = request !== null && "websocket" in request;
        const recorded = isStream ? errorOf(response) : (response as { body: JsonObject }).body;
        const answer = isStream
          ? (await follow(pruned, name, request)).error
          : (await send(pruned, name, request)).body;
        expect(shapeOf(answer ?? null)).toEqual(shapeOf(recorded ?? null));
      }
    } finally {
      await pruned.stop();
    }
  });

  test("names, versions and pages of vetted packages are understood", async () => {
    const packages = new ParticipantPackages(endpointAt(new URL(open.url)));
    const all = await packages.versions();
    expect(all?.get("7a75ef6e69f69395a4e60919e228528bb8f3881150ccfde3f31bcc73864b18ab")).toEqual({
      name: "utility-registry-app-v0",
      version: "0.7.0",
    });
    expect(await packages.versions(["0".repeat(64), "xyz"])).toEqual(new Map());
  });

  test("of the recorded cases most are compared", () => {
    expect(http.length + streams.length).toBeGreaterThan(105);
    for (const [pattern] of UNCOMPARED) {
      expect(wireRecording().some(({ case: name }) => pattern.test(name))).toBe(true);
    }
  });
});

function caseOf(name: string): WireCase {
  const found = wireRecording().find((one) => one.case === name);
  if (found === undefined) throw new Error(`no case is named ${name}`);
  return found;
}

const synchronizerOf = (name: string): string =>
  /synchronizer-1::1220[0-9a-f]{64}/.exec(JSON.stringify(caseOf(name).request))?.[0] ?? "";

/** What of a response is compared. The contracts of lists are not scripted. */
function viewOf(status: number, type: JsonValue, body: JsonValue): object {
  const kind = status < 400 ? undefined : responseError(body, status).kind;
  if (typeof body === "string") return { status, type, kind, body };
  return { status, type, kind, body: Array.isArray(body) ? "a list" : shapeOf(body) };
}

/** The packages that the recording lists by name. Long lists are cut there. */
function vettedOf(recorded: readonly WireCase[]) {
  const found = new Map<string, { packageId: string; packageName: string; packageVersion: string }>();
  for (const { response } of recorded) {
    for (const match of JSON.stringify(response).matchAll(
      /"packageId":"([0-9a-f]{64})",[^{}]*"packageName":"([\w-]+)","packageVersion":"([\d.]+)"/g,
    )) {
      const [, packageId = "", packageName = "", packageVersion = ""] = match;
      found.set(packageId, { packageId, packageName, packageVersion });
    }
  }
  return [{ participantId: "sandbox::1220", synchronizerId: "synchronizer-1::1220", packages: [...found.values()] }];
}

/** The names of fields, and what programs read of an error. Lists are reduced to their first element. */
function shapeOf(value: JsonValue): unknown {
  if (typeof value === "string") return value.startsWith("{") ? shapeOf(JSON.parse(value) as JsonValue) : "text";
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0] ?? null)];
  if (typeof value !== "object" || value === null) return typeof value;
  if (typeof value.code === "string") {
    const { code, errorCategory, grpcCodeValue, retryInfo, definiteAnswer } = value;
    return { code, errorCategory, grpcCodeValue, retryInfo, definiteAnswer, fields: Object.keys(value).toSorted() };
  }
  if (Array.isArray(value.vettedPackages)) return { fields: Object.keys(value), packages: value.vettedPackages.length };
  if (typeof value.preparedTransaction === "string") return Object.keys(value).toSorted();
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]));
}

function errorOf(response: JsonValue): JsonObject | undefined {
  const { first, messages } = response as { first?: JsonObject | null; messages?: JsonValue };
  const candidates = [first, ...(Array.isArray(messages) ? messages : [])] as (JsonObject | null | undefined)[];
  const found = candidates.find((one) => typeof one?.code === "string");
  if (found !== undefined && found !== null) {
    const { ms: _, ...error } = found;
    return error;
  }
  if (!Array.isArray(response)) return undefined;
  return response.map((one) => (one as JsonObject).message as JsonObject | undefined).find((one) => one?.code);
}

async function send(to: Participant, name: string, request: WireCase["request"]): Promise<Answer> {
  const { method, path, body, headers } = request as {
    method: string;
    path: string;
    body?: JsonValue;
    headers?: object;
  };
  const own = tokenOf(name);
  const init: RequestInit = {
    method,
    headers: {
      ...(own === undefined ? {} : { authorization: `Bearer ${own}` }),
      ...(headers as Record<string, string>),
    },
  };
  if (body !== undefined) init.body = typeof body === "string" ? body : JSON.stringify(body);
  const response = await within(MAX_WAIT_MS, name, fetch(to.url + path, init));
  const text = await response.text();
  const type = response.headers.get("content-type");
  return { status: response.status, type, body: type === "application/json" ? (JSON.parse(text) as JsonValue) : text };
}

/** Opens a stream as the case says, and reads to its first error, its end, or its first message. */
async function follow(to: Participant, name: string, request: WireCase["request"]) {
  const { websocket, protocols, headers, message } = request as {
    websocket: string;
    protocols?: string[] | null;
    headers?: object;
    message?: JsonValue;
  };
  const inProtocol = name.includes("both, header foreign") ? token.GOOD : tokenOf(name);
  const offered = (protocols ?? ["daml.ws.auth"]).map((one) =>
    one.startsWith("jwt.token.") ? `jwt.token.${inProtocol ?? ""}` : one,
  );
  const isAuthenticated = AUTHENTICATED.test(name) && !name.startsWith("auth") && !name.includes("without --auth");
  const authorization =
    headers !== undefined || isAuthenticated ? { authorization: `Bearer ${tokenOf(name) ?? ""}` } : {};
  const options: ClientOptions = { headers: authorization };
  const socket = new WebSocket(to.url.replace(/^http/, "ws") + websocket, offered, options);
  let [handshake, body, protocol]: [number, string | null, string | null] = [101, null, null];
  const messages: JsonObject[] = [];
  const ended = new Promise<number>((resolve) => {
    socket
      .on("open", () => {
        ({ protocol } = socket);
        socket.send(typeof message === "string" ? message : JSON.stringify(message));
      })
      .on("message", (data: Buffer) => {
        const one = JSON.parse(data.toString()) as JsonObject;
        messages.push(one);
        if (one.code === undefined) socket.terminate();
      })
      .on("unexpected-response", (_request, response) => {
        handshake = response.statusCode ?? 0;
        response.setEncoding("utf8").on("data", (text: string) => (body = (body ?? "") + text));
        response.on("end", () => resolve(0));
      })
      .on("error", () => undefined)
      .on("close", resolve);
  });
  const code = await within(MAX_WAIT_MS, name, ended);
  return { handshake, protocol, body, code, error: messages.find((one) => typeof one.code === "string") };
}
