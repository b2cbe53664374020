/**
 * The files of the service that a request passes, by V8's coverage: those of which a function ran after the start. Call it
 * after `npm run build`: `npx tsx scripts/files-per-request.ts`.
 */
import { Session } from "node:inspector/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { successfulCalls } from "../test/fixtures/calls/index.js";
import { type Form, requestForms, sendForm } from "../test/fixtures/requests-in-forms.js";
import { until } from "../test/fixtures/wait.js";

const CALL = "v1 transfer instruction, accept";
const FORMS: readonly Form[] = ["REST", "Connect JSON with a deadline", "gRPC with a deadline"];
const base = "http://127.0.0.1:18080";
const code = pathToFileURL(fileURLToPath(new URL("../dist/src/", import.meta.url))).href;

const call = successfulCalls[CALL];
if (call === undefined) throw new Error(`there is no call ${CALL}`);

/** The files that ran while `request` was served. */
async function filesOf(session: Session, request: () => Promise<unknown>): Promise<string[]> {
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
await until("the service is ready", async () => (await fetch(`${base}/readyz`).catch(() => undefined))?.ok === true);
const session = new Session();
session.connect();
await session.post("Profiler.enable");
for (const form of FORMS) {
  // Before the coverage: the client, which is in this process, uses files of the service.
  const request = requestForms[form](call);
  const files = await filesOf(session, () => sendForm(base, form, request));
  process.stdout.write(`${form}: ${files.length} files\n${files.map((file) => `  ${file}\n`).join("")}`);
}
process.kill(process.pid, "SIGINT");
