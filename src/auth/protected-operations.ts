import { SettingError } from "../config/setting-error.js";

const VARIABLE = "OFFLEDGER_AUTH_OPERATIONS";
const ACCEPTS = "full names of operations or services";

/** Always open: probes send no token. */
const HEALTH = "offledger.health.v1.HealthService";
/** Open by default: a browser loads the same document at /docs. */
const OPEN_API = "offledger.operator.v0.OperatorService/GetOpenApiSpec";

/**
 * The operations that need a token. `all` are the full names of those that are served; `selected` may name services.
 * Throws SettingError for a name not served.
 */
export function protectedOperations(
  all: readonly string[],
  selected: readonly string[] | undefined,
): ReadonlySet<string> {
  if (selected === undefined) return new Set(all.filter((name) => name !== OPEN_API && !isHealth(name)));
  return new Set(selected.flatMap((name) => expandName(name, all)));
}

function expandName(name: string, all: readonly string[]): string[] {
  if (isHealth(name)) throw new SettingError(VARIABLE, ACCEPTS, `${HEALTH} needs no token, so that probes work`);
  const operations = all.filter((operation) => operation === name || operation.startsWith(`${name}/`));
  if (operations.length > 0) return operations;
  throw new SettingError(VARIABLE, ACCEPTS, `"${name}" is not served; an example of a name is ${OPEN_API}`);
}

const isHealth = (name: string): boolean => name === HEALTH || name.startsWith(`${HEALTH}/`);
