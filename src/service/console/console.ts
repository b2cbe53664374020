import { ConsoleService } from "../../../gen/offledger/console/v1/console_service_pb.js";
import type { QueryExecutor } from "../../registry/executor.js";
import type { PartySearcher } from "../../registry/party-search.js";
import type { PackageVersion } from "../explain/contract-message.js";
import { bind, type ServiceBinding } from "../service-binding.js";
import type { ConsoleData } from "./console-data.js";
import { getContract } from "./contract.js";
import { freshnessMessage } from "./freshness.js";
import { getInventory } from "./inventory.js";
import { partyMessage } from "./party.js";
import { refusalsMessage } from "./refusals.js";
import { requestsMessage } from "./requests.js";

export interface ConsoleOptions {
  readonly executor: QueryExecutor;
  readonly data: ConsoleData;
  readonly parties: PartySearcher;
  readonly packageVersion: PackageVersion;
}

/** What the console shows to operators. */
export function consoleService({ executor, data, parties, packageVersion }: ConsoleOptions): ServiceBinding {
  return bind(ConsoleService, {
    getInventory: () => getInventory(executor, data, packageVersion),
    getFreshness: () => freshnessMessage(data.notReadyReason(), data.freshness()),
    getRequests: async () => requestsMessage(await data.requests()),
    listRefusals: ({ code }) => refusalsMessage(data.refusals(), code),
    getParty: async ({ party }) => partyMessage(await parties.search(party), packageVersion),
    getContract: ({ contractId }) => getContract(executor, contractId, packageVersion),
  });
}
