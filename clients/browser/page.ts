/** Runs in the browser: gives the program that controls it the checks by name. */
import type { Protocol } from "./calls.js";
import { checks, type Environment } from "./checks.js";

export interface Line {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
}

async function run(check: string, protocol: Protocol, environment: Environment): Promise<Line> {
  try {
    const detail = await checks[check]?.(protocol, environment);
    return { check, ok: detail !== undefined, detail: detail ?? "unknown check" };
  } catch (error) {
    return { check, ok: false, detail: String(error) };
  }
}

Object.assign(globalThis, { names: Object.keys(checks), run });
