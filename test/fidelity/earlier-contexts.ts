/** What deployed registries gave before release 0.12, and the operator's settings that bring it back. */
import type { JsonObject } from "../../src/domain/json.js";
import type { ServeOptions } from "../fixtures/run-service.js";

/** Names of transfers' entries without a prefix beside the prefixed ones: a documentation example of 0.12 has them too. */
const BARE_NAMES: JsonObject = {
  operations: ["transfer-factory/offer", "transfer-factory/direct", "transfer-instruction/accept"],
  keys: "both",
};

export const WITH_BARE_NAMES: ServeOptions = { contexts: { changes: [BARE_NAMES] } };

/** Also the reward entries that release 0.12 dropped. */
export const WITH_ALL: ServeOptions = { contexts: { changes: [{ rewards: true }, BARE_NAMES] } };

/** Whether a key names an entry that release 0.12 dropped. */
export const isDropped = (key: string): boolean =>
  /^(?:utility\.digitalasset\.com\/)?(?:app-reward-configuration|featured-app-right)$/.test(key);

export const isBare = (key: string): boolean => !key.includes("/");
