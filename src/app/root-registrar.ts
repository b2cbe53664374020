/** The registrar of `/registry/…`. */
import type { Config } from "../config/config.js";
import type { Source } from "../ingest/source.js";
import type { Registry } from "../registry/sdk/registry.js";
import { NotReady } from "../state/port.js";
import { rejection } from "../transport/errors.js";

/** How long what was found holds, in milliseconds: looking for it reads all registrars. */
const HOLDS_MS = 1_000;

/**
 * Undefined without `/registry/…`. Where it is that of the user, it is the only registrar among the parties that are read: it may
 * come after the start, so each request asks for it. Throws ConnectError while there is none, or more than one.
 */
export function rootRegistrarOf(
  { rootRegistrar }: Config,
  registry: Pick<Registry, "inventory">,
  source: Pick<Source, "reader" | "parties">,
  now: () => number,
  clock: () => number,
): (() => string) | undefined {
  if (rootRegistrar === undefined) return undefined;
  if (rootRegistrar !== "user") return () => rootRegistrar;
  let found: readonly string[] = [];
  let foundAt = -Infinity;
  return () => {
    if (clock() - foundAt >= HOLDS_MS) {
      found = registrarsIn(registry, source, now());
      foundAt = clock();
    }
    const [only, second] = found;
    if (only !== undefined && second === undefined) return only;
    const why =
      only === undefined ? "no registrar is read" : `${found.length} registrars are read: ${found.join(", ")}`;
    throw rejection("NOT_FOUND", `/registry/… needs one registrar, but ${why}; name it in the path`);
  };
}

function registrarsIn(
  registry: Pick<Registry, "inventory">,
  { reader, parties }: Pick<Source, "reader" | "parties">,
  now: number,
): readonly string[] {
  const readAs = parties() ?? "any";
  try {
    const { registrars } = reader.read((view) => registry.inventory(view, { now, credentialDays: 0 }));
    return registrars.map(({ party }) => party).filter((party) => readAs === "any" || readAs.includes(party));
  } catch (error) {
    if (error instanceof NotReady) throw rejection("NOT_READY", error.message);
    throw error;
  }
}
