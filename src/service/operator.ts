import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import type { StructSchema } from "@bufbuild/protobuf/wkt";
import { OperatorService } from "../../gen/offledger/operator/v0/operator_service_pb.js";
import type { QueryExecutor } from "./executor.js";
import { struct } from "./messages.js";
import type { TemplateCount } from "../state/port.js";
import { bind, type ServiceBinding } from "./service-binding.js";

/** The operator, the packages and the OpenAPI document. */
export function operators(executor: QueryExecutor, openApi: JsonObject): ServiceBinding {
  const document: MessageInitShape<typeof StructSchema> = struct(openApi);
  return bind(OperatorService, {
    getOperator: (_request, recording) =>
      executor.executeUtility((utility, context) => ({ partyId: utility.operator(context) }), recording),
    getAllPackages: (_request, recording) =>
      executor.execute((_registry, { view }) => ({ packages: packagesOf(view.templateCounts()) }), recording),
    getOpenApiSpec: async () => document,
  });
}

/** Each package once, by name and id. */
function packagesOf(counts: readonly TemplateCount[]): { name: string; id: string }[] {
  const packages = new Map(
    counts.map(({ template, packageId }) => [
      `${template.packageName} ${packageId}`,
      { name: template.packageName, id: packageId },
    ]),
  );
  return [...packages].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}
