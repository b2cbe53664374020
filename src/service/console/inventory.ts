import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetInventoryResponseSchema } from "../../../gen/offledger/console/v1/console_pb.js";
import type { QueryExecutor } from "../../registry/executor.js";
import type { Registry, RequestContext } from "../../registry/sdk/registry.js";
import type { PackageVersion } from "../explain/contract-message.js";
import type { ConsoleData } from "./console-data.js";
import { type ListedRegistrar, registrarMessages } from "./registrars.js";
import { warningMessage } from "./warning-message.js";

const MAX_WARNINGS = 1_000;

export async function getInventory(
  executor: QueryExecutor,
  { warnings, countsContracts, source, version }: ConsoleData,
  packageVersion: PackageVersion,
): Promise<MessageInitShape<typeof GetInventoryResponseSchema>> {
  const { value } = await executor.execute((registry, context) => ({
    registrars: listRegistrars(registry, context),
    templateCounts: countsContracts ? context.view.templateCounts() : [],
  }));
  const found = warnings();
  const shown = found?.warnings.slice(0, MAX_WARNINGS) ?? [];
  const { messages, omitted } = registrarMessages(value.registrars, packageVersion);
  return {
    registrars: messages,
    templates: value.templateCounts.map(({ template, packageId, count }) => ({
      template: template.qualifiedName,
      packageId,
      count: BigInt(count),
    })),
    warnings: shown.map(warningMessage),
    checked: found !== undefined,
    omitted: omitted + (found?.total ?? 0) - shown.length,
    source,
    version,
  };
}

/** Of a registry without a lookup: what its inventory has, without its checks. */
function listRegistrars(registry: Registry, { view, now }: RequestContext): readonly ListedRegistrar[] {
  if (registry.lookup !== undefined) return registry.lookup.registrars(view);
  return registry.inventory(view, { now, credentialDays: 0, maxContracts: 0 }).registrars;
}
