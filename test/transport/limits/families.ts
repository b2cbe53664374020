import { honestRequests } from "./attacks/requests.js";

export const FAMILIES = ["connections", "slow headers", "slow bodies", "unread responses", "resets", "floods"] as const;
export type FamilyName = (typeof FAMILIES)[number];

const [transferFactory] = honestRequests;
if (transferFactory === undefined) throw new Error("there is no request");
/** To the demo registry. */
export const TRANSFER_FACTORY = transferFactory;
