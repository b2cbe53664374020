/**
 * Malformed input: whatever comes, no answer is a fault of the server, nothing is left unanswered, the process lives and logs no
 * error, and its memory is bounded. Needs `npm run build`. OFFLEDGER_TEST_INPUTS is the number of inputs of each property.
 */
import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BuiltService } from "../fixtures/built-service.js";
import { calls } from "../fixtures/calls/index.js";
import { frame, PREFACE, requestHeaders, settings, Type } from "../fixtures/http2-frames.js";
import { expectAlive, sendHttp1, sendHttp2 } from "../fixtures/http-requests.js";
import { forms, framed, type RawRequest, type RawResponse, requestForms } from "../fixtures/requests-in-forms.js";
import { within } from "../fixtures/wait.js";

const INPUTS = Number(process.env["OFFLEDGER_TEST_INPUTS"] ?? 2_000);
const SEED = Number(process.env["OFFLEDGER_TEST_SEED"] ?? Date.now());
const MIB = 1024 * 1024;
/** Compiled code, tables and pooled buffers explain so much; what leaks with each of thousands of inputs is more. */
const MAX_GROWTH = { heapUsed: 16 * MIB, external: 48 * MIB, rss: 256 * MIB };
const CHECK_EVERY = 500;

let service: BuiltService;
beforeAll(async () => {
  service = await BuiltService.start();
});
afterAll(() => service.kill());

/** Asks for what is valid every now and then, and compares memory at the end with that after a fifth of the inputs. */
async function expectNoFault<T>(
  input: fc.Arbitrary<T>,
  send: (input: T) => Promise<string | undefined>,
): Promise<void> {
  let sent = 0;
  let before = await service.usage();
  const property = fc.asyncProperty(input, async (one) => {
    const fault = await send(one);
    expect(fault).toBeUndefined();
    expect({ isAlive: service.isAlive, errors: service.errorLines }).toEqual({ isAlive: true, errors: [] });
    if (++sent === Math.floor(INPUTS / 5)) before = await service.usage();
    if (sent % CHECK_EVERY === 0) await expectAlive(service.url);
  });
  console.log(`seed ${SEED}, ${INPUTS} inputs`);
  await fc.assert(property, { seed: SEED, numRuns: INPUTS, interruptAfterTimeLimit: 300_000 });
  await expectAlive(service.url);
  const after = await service.usage();
  for (const [name, most] of Object.entries(MAX_GROWTH) as [keyof typeof MAX_GROWTH, number][])
    expect(after[name] - before[name], name).toBeLessThan(most);
}

/** Names with a meaning in JavaScript or in messages, invalid UTF-16, times, numbers and paths out of range. */
const NASTY = [
  ...`__proto__ constructor prototype toString then toJSON values tag 1e400 -1 NaN 9999-99-99T99:99:99Z ::1220 %00 ../../.. \u0000 \ud800
    \udfff\ud800 \u200b\u202e`.split(/\s+/),
  "",
  "a".repeat(5_000),
];
const NUMBERS = [-0, -1, 0.1, 1e308, 5e-324, 2 ** 31, 2 ** 53, 2 ** 64];
/** Invalid UTF-8, and varints without an end, of lengths beyond any message, or padded. */
const BYTES = "ff c080 eda080 f4908080 e282 ffffffffffffffffff01 ffffffffffffffffffffffff ffffffff0f ffffffff07 808040"
  .split(" ")
  .map((text) => Buffer.from(text, "hex"));

/** What takes the place of a value; undefined for nothing. */
type Change = (old: JsonValue) => JsonValue | undefined;
const changeTo = <T>(arbitrary: fc.Arbitrary<T>, make: (drawn: T, old: JsonValue) => JsonValue | undefined) =>
  arbitrary.map(
    (drawn): Change =>
      (old) =>
        make(drawn, old),
  );
const change: fc.Arbitrary<Change> = fc.oneof(
  changeTo(fc.constantFrom(undefined, null, true, ...NUMBERS, ...NASTY), (value) => value),
  changeTo(fc.jsonValue({ maxDepth: 3 }), (value) => value as JsonValue),
  changeTo(fc.constantFrom(2, 60, 150), (depth, old) => {
    let value = old;
    for (let at = 0; at < depth; at++) value = at % 2 === 0 ? [value] : { values: value };
    return value;
  }),
  changeTo(fc.nat(150), (length, old) => Array<JsonValue>(length).fill(old)),
  changeTo(fc.constantFrom(...NASTY), (name, old) => Object.fromEntries([[name, old]])),
);

/** Changes the value at a place, which numbers pick level by level. */
function changed(value: JsonValue, [at, ...deeper]: readonly number[], how: Change): JsonValue | undefined {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (at === undefined || entries.length === 0) return how(value);
  const picked = at % entries.length;
  const others = entries.flatMap(([name, inner], index): [string, JsonValue][] => {
    const next: JsonValue | undefined = index === picked ? changed(inner, deeper, how) : inner;
    return next === undefined ? [] : [[name, next]];
  });
  return Array.isArray(value) ? others.map(([, inner]) => inner) : Object.fromEntries(others);
}
const place = fc.array(fc.nat(20), { maxLength: 7 });

interface Edit {
  readonly at: number;
  readonly drop: number;
  readonly put: Uint8Array;
}
const put = fc.oneof(
  fc.uint8Array({ maxLength: 12 }),
  fc.constantFrom(...BYTES),
  fc
    .constantFrom("{", "]", '"', "\\u12", ",", "\n", "\r\n", "1e999", '{"a":'.repeat(3_000))
    .map((text) => Buffer.from(text)),
);
const edits = (maxLength: number): fc.Arbitrary<readonly Edit[]> =>
  fc.array(fc.record({ at: fc.nat(), drop: fc.oneof(fc.nat(2), fc.nat(300)), put }), { maxLength });

const edited = (bytes: Buffer, list: readonly Edit[]): Buffer =>
  list.reduce((all, { at, drop, put: more }) => {
    const from = at % (all.length + 1);
    return Buffer.concat([all.subarray(0, from), more, all.subarray(from + drop)]);
  }, bytes);

const HEADERS = `accept: */*;q=2,,;
accept-encoding: gzip;q=a
authorization: Bearer a.b
origin: null
range: bytes=0-0,-1
if-none-match: "a
offledger-if-none-match: "a,*,W/
x-forwarded-for: ::1, a
traceparent: 00-0-0-00
content-type: application/json; charset=utf-16
content-type: é
content-type: application/grpc
content-encoding: gzip
content-encoding: br
grpc-encoding: gzip
grpc-timeout: 1n
grpc-timeout: 1x
connect-timeout-ms: 1
connect-timeout-ms: -1
connect-protocol-version: 2
cookie: =;a
expect: something`
  .split("\n")
  .map((line) => line.split(/: (.*)/, 2) as [string, string]);

/** With a longer one, and its other fields, a header is too large: Node.js resets the stream, or its client does not send it. */
const MAX_PATH = 14_000;
const RESET = /NGHTTP2_(?:ENHANCE_YOUR_CALM|REFUSED_STREAM)/;

const anyCall = fc.constantFrom(...Object.values(calls));

/** A call in one form of a protocol, whose message, bytes, path and headers may be wrong. */
const request = fc
  .record({
    call: anyCall,
    form: fc.constantFrom(...forms),
    version: fc.constantFrom(1, 2),
    where: place,
    how: fc.option(change, { freq: 3 }),
    ofBody: edits(3),
    ofPath: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: edits(2) }),
    method: fc.oneof(
      { weight: 20, arbitrary: fc.constant(undefined) },
      fc.constantFrom("GET", "PUT", "DELETE", "OPTIONS"),
    ),
    headers: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      fc.array(fc.constantFrom(...HEADERS), { maxLength: 2 }),
    ),
    isGzipped: fc.integer({ min: 0, max: 30 }).map((one) => one === 0),
  })
  .map(({ call, form, version, where, how, ofBody, ofPath, method, headers, isGzipped }) => {
    const valid: RawRequest = requestForms[form](call);
    let body = valid.body;
    if (body !== undefined && how !== null && (form === "REST" || form === "Connect JSON")) {
      const value = changed(form === "REST" ? (call.body ?? null) : call.request, where, how);
      body = Buffer.from(value === undefined ? "" : JSON.stringify(value));
    }
    if (body !== undefined) body = edited(body, ofBody);
    if (body !== undefined && isGzipped) body = gzipSync(body);
    const path = edited(Buffer.from(valid.path), ofPath)
      .toString("latin1")
      .replaceAll(/[^!-~]/g, encodeURIComponent);
    return {
      version: form.startsWith("gRPC") && !form.startsWith("gRPC-") ? 2 : version,
      method: method ?? valid.method,
      path: path.startsWith("/") ? path : `/${path}`,
      headers: { ...valid.headers, ...Object.fromEntries(headers) },
      body: method === "GET" ? undefined : body,
    };
  });

/** What connect-es, Connect and gRPC prescribe for messages and framing that cannot be read; docs/errors.md has them. */
const PRESCRIBED =
  /parse binary: |protocol error: |received compressed envelope|unknown compression|the message is compressed, but/;

/** No request may cause unknown, internal, unavailable or data loss. */
function faultOf({ status = 0, headers, body }: RawResponse): string | undefined {
  const text = body.toString();
  const trailer = (name: string): string =>
    (headers[name] as string | undefined) ?? new RegExp(`${name}: ?(.*)\\r`, "i").exec(text)?.[1] ?? "";
  const code = trailer("grpc-status");
  const message = decodeURIComponent(trailer("grpc-message"));
  if (["2", "13", "14", "15"].includes(code) && !PRESCRIBED.test(message)) return `grpc-status ${code}: ${message}`;
  const isTimeout = status === 504 && text.includes("deadline_exceeded");
  return status >= 200 && (status < 500 || isTimeout || PRESCRIBED.test(text))
    ? undefined
    : `status ${status}: ${text}`;
}

test("requests: no answer is a fault of the server, and each is answered", { timeout: 400_000 }, async () => {
  let session: http2.ClientHttp2Session | undefined;
  const statuses = new Map<number, number>();
  await expectNoFault(request, async ({ version, ...one }) => {
    let response: RawResponse;
    if (version === 1) response = await sendHttp1(service.url, one);
    else {
      // A request may end the session that it was sent on.
      if (session === undefined || session.closed || session.destroyed)
        session = http2.connect(service.url).on("error", () => undefined);
      try {
        response = await sendHttp2(session, one);
      } catch (error) {
        // Whatever has become of it, the next request shows the service.
        session.destroy();
        if (one.path.length > MAX_PATH && RESET.test(String(error))) return undefined;
        await expectAlive(service.url);
        throw error;
      }
    }
    statuses.set(response.status ?? 0, (statuses.get(response.status ?? 0) ?? 0) + 1);
    return faultOf(response);
  }).finally(() => session?.destroy());
  // Otherwise nothing is shown.
  for (const status of [200, 400, 404]) expect(statuses.get(status)).toBeGreaterThan(INPUTS / 100);
});

const LINGER_MS = 10;

/** Sends bytes on a connection of their own. Returns what came until it closed, or some time later. */
async function exchange(bytes: Buffer, cuts: readonly number[]): Promise<Buffer> {
  const { hostname, port } = new URL(service.url);
  const socket = net.connect({ host: hostname, port: Number(port), noDelay: true });
  const received: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => received.push(chunk));
  await within(10_000, "the service accepts a connection", once(socket, "connect"));
  socket.on("error", () => undefined);
  const closed = new Promise((resolve) => void socket.once("close", resolve));
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  for (const [index, from] of at.slice(0, -1).entries()) {
    if (!socket.destroyed) socket.write(bytes.subarray(from, at[index + 1]));
    await new Promise(setImmediate);
  }
  await Promise.race([closed, pause(LINGER_MS)]);
  socket.destroy();
  return Buffer.concat(received);
}
const cuts = fc.array(fc.nat(), { maxLength: 3 });

const stream = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(1, 3, 5) }, fc.constantFrom(0, 2, 101, 2 ** 31 - 1));
const bytes = fc.uint8Array({ maxLength: 40 }).map((list) => Buffer.from(list));
const anyFrame = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(anyCall, stream, edits(1), fc.boolean()).map(([call, on, ofHeaders, ends]) => {
      const { path, headers, body } = requestForms.gRPC(call);
      const block = edited(requestHeaders(path, headers as Record<string, string>), ofHeaders);
      const data = frame(Type.data, ends ? 1 : 0, on, body ?? framed(Buffer.alloc(0)));
      return Buffer.concat([frame(Type.headers, 4, on, block), data]);
    }),
  },
  fc
    .tuple(fc.nat(255), fc.nat(255), stream, bytes)
    .map(([type, flags, on, payload]) => frame(type, flags, on, payload)),
  fc.tuple(fc.nat(9), stream, bytes).map(([type, on, payload]) => frame(type, 0, on, payload)),
  // Rapid resets (CVE-2023-44487), and a header block without an end (CVE-2024-27316).
  fc
    .integer({ min: 5, max: 60 })
    .map((count) =>
      Buffer.concat(
        Array.from({ length: count }, (_, index) => [
          frame(Type.headers, 5, 201 + 2 * index, requestHeaders("/livez", { ":method": "GET" })),
          frame(Type.reset, 0, 201 + 2 * index, Buffer.of(0, 0, 0, 8)),
        ]).flat(),
      ),
    ),
  fc
    .tuple(stream, fc.integer({ min: 5, max: 60 }))
    .map(([on, count]) =>
      Buffer.concat([
        frame(Type.headers, 0, on),
        ...Array<Buffer>(count).fill(frame(Type.continuation, 0, on, "\0\0\0\0")),
      ]),
    ),
);

const http2Bytes = fc.record({
  // Without a dynamic table every status can be read.
  bytes: fc
    .tuple(
      fc.array(anyFrame, { minLength: 1, maxLength: 8 }),
      fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, edits(2)),
    )
    .map(([frames, list]) => edited(Buffer.concat([PREFACE, settings({ 1: 0 }), ...frames]), list)),
  cuts,
});

/** Whether a header block begins with a status above 499: 500 is in the static table of HPACK, others are literals. */
function isFault(block: Buffer): boolean {
  let at = 0;
  // Updates of the table's size come first.
  while (((block[at] ?? 0) & 0xe0) === 0x20) at++;
  const [first = 0, length, digit] = block.subarray(at);
  const isStatus = (first & 0x80) === 0 && (first & 0x0f) >= 8 && (first & 0x0f) <= 14;
  return first === 0x8e || (isStatus && length === 3 && digit === "5".charCodeAt(0));
}

test("frames of HTTP/2: every status is below 500", { timeout: 400_000 }, async () => {
  await expectNoFault(http2Bytes, async ({ bytes: input, cuts: at }) => {
    const output = await exchange(input, at);
    for (let from = 0; from + 9 <= output.length; from += 9 + output.readUIntBE(from, 3)) {
      const payload = output.subarray(from + 9, from + 9 + output.readUIntBE(from, 3));
      if (output[from + 3] === Type.headers && isFault(payload)) return payload.toString("hex");
    }
    return undefined;
  });
});
