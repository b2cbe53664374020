/** The warnings of the Registry Utility on some contracts, and how it answers requests. */
import type { JsonObject } from "../../../src/util/json.js";
import { scanWarnings } from "../../../src/registry/check/scan.js";
import { MemoryStore } from "../../../src/state/memory-store.js";
import type { StoreReader } from "../../../src/state/port.js";
import { explainerOn, NOW } from "../../explain/explaining.js";
import { storeOf, utilityWith } from "../../fixtures/in-memory.js";
import type { Call } from "../../fixtures/protocols.js";

/** Of the refused operations. */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_argument: 400,
  not_found: 404,
  aborted: 409,
  unavailable: 503,
};

/** By contexts file, the registry and its explainer, which compiles its services once and reads `state.store`. */
const explainers = new Map<string, ReturnType<typeof explaining>>();
function explaining(contexts: JsonObject) {
  const registry = utilityWith(contexts);
  const state = { store: new MemoryStore() };
  const reader: StoreReader = { read: (use) => state.store.read(use), ids: (template) => state.store.ids(template) };
  return { registry, state, explain: explainerOn(reader, registry, NOW) };
}

/** `contexts` is the content of the operator's contexts file. */
export async function checked(elements: readonly JsonObject[], contexts?: JsonObject | null) {
  const key = JSON.stringify(contexts ?? {});
  const made = explainers.get(key) ?? explaining(contexts ?? {});
  explainers.set(key, made);
  const { registry, state, explain } = made;
  const store = (state.store = await storeOf(elements, registry));
  const { found } = await scanWarnings(store, registry.checks ?? [], { credentialDays: 30, now: () => NOW });
  /** Of a refusal; undefined for an answer. */
  const statusOf = async ({ method, request }: Call): Promise<number | undefined> => {
    const { succeeds, status } = await explain(`${method.parent.typeName}/${method.name}`, request as JsonObject);
    return succeeds ? undefined : (STATUSES[status] ?? 0);
  };
  return { warnings: found.warnings(), statusOf };
}
