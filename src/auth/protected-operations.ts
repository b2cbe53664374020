import { SettingError } from "../config/setting-error.js";
import type { ServiceBinding } from "../service/service-binding.js";

const VARIABLE = "OFFLEDGER_AUTH_OPERATIONS";
const TAKES = "full names of operations or services";

/** Whoever asks whether the service is well brings no token. */
const HEALTH = "offledger.health.v1.HealthService";
/** The page at /docs shows the same document, and has to be open to be read by a browser. */
const OPEN_API = "offledger.operator.v0.OperatorService/GetOpenApiSpec";

/**
 * The full names of the rpcs that need a token: those of the list, which may
 * name services whole, or without one all that tell of a registry. Throws
 * SettingError for a name that is not served.
 */
export function protectedOperations(
  bindings: readonly ServiceBinding[],
  chosen: readonly string[] | undefined,
): ReadonlySet<string> {
  const all = bindings.flatMap(({ service }) => service.methods.map(({ name }) => `${service.typeName}/${name}`));
  if (chosen === undefined) return new Set(all.filter((name) => name !== OPEN_API && !isHealth(name)));
  return new Set(chosen.flatMap((name) => named(name, all)));
}

function named(name: string, all: readonly string[]): string[] {
  if (isHealth(name)) throw new SettingError(VARIABLE, TAKES, `${HEALTH} is always open, so that probes need no token`);
  const found = all.filter((one) => one === name || one.startsWith(`${name}/`));
  if (found.length > 0) return found;
  throw new SettingError(VARIABLE, TAKES, `there is no "${name}"; an operation is named like ${OPEN_API}`);
}

const isHealth = (name: string): boolean => name === HEALTH || name.startsWith(`${HEALTH}/`);
