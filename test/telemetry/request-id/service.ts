/** The service as a process, with the request ids of its log. */
import { tmpdir } from "node:os";
import { main, Program } from "../../fixtures/program.js";

export interface Service {
  readonly program: Program;
  readonly url: string;
  /** The ids of the request lines so far. */
  readonly loggedIds: () => readonly string[];
}

/** Logs every request. It ends with the test. */
export async function startService(more: Readonly<Record<string, string>> = {}): Promise<Service> {
  const env = { OFFLEDGER_PORT: "0", OFFLEDGER_LOG_REQUESTS: "all", ...more };
  const program = new Program(process.execPath, [main, "serve"], { cwd: tmpdir(), env });
  const [, url = ""] = await program.printed(/at (http:\S+)/);
  return {
    program,
    url,
    loggedIds: () =>
      program.err
        .split("\n")
        .filter((line) => line.includes('"msg":"request"'))
        .map((line) => (JSON.parse(line) as { readonly requestId: string }).requestId),
  };
}
