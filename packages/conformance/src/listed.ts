/** What the registry and its instruments say that they support. */
import { type Json, type JsonObject, objectOf, textOf } from "./json.js";
import { Skipped } from "./check.js";
import { infoOf, instrumentsOf } from "./metadata.js";
import type { Registry } from "./registry.js";

/** The names that the documents have in supportedApis: `splice-api-token-transfer-instruction-v1`. */
export const apiName = (api: string): string => `splice-api-token-${api.replace(/^token-/, "")}`;

function noneIfSkipped(error: unknown): readonly JsonObject[] {
  if (error instanceof Skipped) return [];
  throw error;
}

/** Who lists each API: the registry, or instruments by their ids. */
export const listedApis = (registry: Registry): Promise<ReadonlyMap<string, readonly string[]>> =>
  registry.once("listed", async () => {
    const by = new Map<string, string[]>();
    const add = (who: string, apis: Json | undefined) => {
      for (const name of Object.keys(objectOf(apis))) by.set(name, [...(by.get(name) ?? []), who]);
    };
    const info = await infoOf(registry);
    if (info.status === 200) add("the registry", objectOf(info.json)["supportedApis"]);
    for (const one of await instrumentsOf(registry).catch(noneIfSkipped)) add(textOf(one["id"]), one["supportedApis"]);
    return by;
  });
