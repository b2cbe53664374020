/**
 * The files of the service that a transfer factory request passes, by V8's coverage: those of which a function ran after
 * the start. Call it after `npm run build`: `npx tsx scripts/files-per-request.ts`.
 */
import { Session } from "node:inspector/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { JsonObject } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { registrar, transfer } from "../demo/requests.js";
import { TransferInstructionService } from "../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { until } from "../test/fixtures/wait.js";

const base = "http://127.0.0.1:18080";
const code = pathToFileURL(fileURLToPath(new URL("../dist/src/", import.meta.url))).href;

const arguments_ = transfer("ACME-EUR") as { readonly choiceArguments: JsonObject };
const path = `/api/token-standard/v0/registrars/${registrar}/registry/transfer-instruction/v1/transfer-factory`;

async function rest(): Promise<void> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(base + path, { method: "POST", headers, body: JSON.stringify(arguments_) });
  if (!response.ok) throw new Error(`REST: ${response.status} ${await response.text()}`);
  await response.text();
}

async function grpc(): Promise<void> {
  const client = createClient(TransferInstructionService, createGrpcTransport({ baseUrl: base }));
  await client.getTransferFactory({ registrarParty: registrar, ...arguments_ });
}

/** The files that ran while `request` was served. */
async function filesOf(session: Session, request: () => Promise<void>): Promise<string[]> {
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await request();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  await session.post("Profiler.stopPreciseCoverage");
  return result
    .filter(({ url, functions }) => url.startsWith(code) && functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
    .map(({ url }) => url.slice(code.length).replace(/\.js$/, ".ts"))
    .toSorted();
}

process.argv.splice(2, process.argv.length, "serve", "--port", "18080", "--host", "127.0.0.1", "--log-level", "error");
await import(`${code}main.js`);
await until("the service to be ready", async () => (await fetch(`${base}/readyz`).catch(() => undefined))?.ok === true);
const session = new Session();
session.connect();
await session.post("Profiler.enable");
for (const [name, request] of Object.entries({ rest, grpc })) {
  const files = await filesOf(session, request);
  process.stdout.write(`${name}: ${files.length} files\n${files.map((file) => `  ${file}\n`).join("")}`);
}
process.kill(process.pid, "SIGINT");
