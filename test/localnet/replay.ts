/**
 * What two Canton 3.5.10 participants on two synchronizers, and the service, have answered to offledger-localnet: call by call. A
 * call that was not recorded is refused. `npx tsx scripts/real-participant/localnet.ts --record …` writes the recording.
 */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { brotliDecompressSync } from "node:zlib";
import { strToU8, zipSync } from "fflate";
import { onTestFinished } from "vitest";
import type { Exchange } from "../../scripts/real-participant/recorder.js";
import type { JsonValue } from "../../src/util/json.js";
import { temporaryFile } from "../fixtures/files.js";

type Section = "first" | "accepted" | "again" | "moves" | "simple";
export type { Exchange };

const recorded = brotliDecompressSync(readFileSync(join(import.meta.dirname, "localnet.json.br"))).toString();
export const recording = JSON.parse(recorded) as Readonly<Record<Section, readonly Exchange[]>>;

/** The id of a party, or a package, as recorded. */
export function recordedId(pattern: RegExp): string {
  const [, id] = pattern.exec(recorded) ?? [];
  if (id === undefined) throw new Error(`nothing recorded matches ${String(pattern)}`);
  return id;
}

/** What each run has of its own. */
const OWN = new Set(["commandId", "offeredAt", "requestedAt", "executeBefore"]);
const comparable = (body: JsonValue): JsonValue =>
  JSON.parse(JSON.stringify(body, (name, value: unknown) => (OWN.has(name) ? "" : value))) as JsonValue;

/** Answers the calls in their order. `left` has those that were not made, `refused` those that were not expected. */
export async function replay(exchanges: readonly Exchange[]) {
  const left = [...exchanges];
  const refused: string[] = [];
  const answer = async (to: string, request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const isJson = text !== "" && request.headers["content-type"] === "application/json";
    const body = isJson ? comparable(JSON.parse(text) as JsonValue) : null;
    const [next] = left;
    const isNext =
      next !== undefined &&
      next.to === to &&
      next.method === request.method &&
      next.path === request.url &&
      isDeepStrictEqual(comparable(next.body), body);
    if (isNext) left.shift();
    else refused.push(`${to}: ${request.method} ${request.url} ${JSON.stringify(body)}`);
    response.writeHead(isNext ? next.status : 400, { "content-type": "application/json" });
    response.end(JSON.stringify(isNext ? next.answer : { code: "NOT_RECORDED", cause: "not recorded" }));
  };
  const listen = async (to: string): Promise<string> => {
    const server = createServer((request, response) => void answer(to, request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  return {
    app: await listen("app"),
    user: await listen("user"),
    registry: await listen("registry"),
    left,
    refused,
  };
}

/** The path of a DAR with this main package. */
export async function dar(name: string, version: string, packageId: string): Promise<string> {
  const main = `${name}-${version}-${packageId}`;
  const long = `Main-Dalf: ${main}/${main}.dalf`;
  const lines = ["Manifest-Version: 1.0", `Name: ${name}-${version}`, long.slice(0, 70), ` ${long.slice(70)}`, ""];
  const path = await temporaryFile("token.dar", "");
  await writeFile(path, zipSync({ "META-INF/MANIFEST.MF": strToU8(lines.join("\r\n")) }));
  return path;
}
