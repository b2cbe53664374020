/** What the registry and its instruments say that they support. */
import { objectOf, textOf } from "./json.js";
import { infoOf, instrumentsIn, pageOf } from "./metadata.js";
import type { Registry } from "./registry.js";

/** The names that the documents have in supportedApis: `splice-api-token-transfer-instruction-v1`. */
export const apiName = (api: string): string => `splice-api-token-${api.replace(/^token-/, "")}`;

/** Who lists each API: the registry, or instruments by their ids. */
export const listedApis = (registry: Registry): Promise<ReadonlyMap<string, readonly string[]>> =>
  registry.once("listed", async () => {
    const by = new Map<string, string[]>();
    const add = (who: string, apis: unknown) => {
      for (const name of Object.keys(objectOf(apis as never))) by.set(name, [...(by.get(name) ?? []), who]);
    };
    const info = await infoOf(registry);
    if (info.status === 200) add("the registry", objectOf(info.json)["supportedApis"]);
    const page = await pageOf(registry);
    if (page.status === 200) for (const one of instrumentsIn(page)) add(textOf(one["id"]), one["supportedApis"]);
    return by;
  });
