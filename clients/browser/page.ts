/** Runs in the browser: gives the program that controls it the checks by name. */
import { protocols } from "./calls.js";
import { checks, type Environment } from "./checks.js";

export interface Line {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** Performs a check by all protocols at the same time. */
async function run(name: string, environment: Environment): Promise<Line[]> {
  return Promise.all(
    protocols.map(async (protocol): Promise<Line> => {
      const check = `${name} (${protocol})`;
      try {
        const detail = await checks[name]?.(protocol, environment);
        return { check, ok: detail !== undefined, detail: detail ?? "unknown check" };
      } catch (error) {
        return { check, ok: false, detail: String(error) };
      }
    }),
  );
}

Object.assign(globalThis, { names: Object.keys(checks), run });
