import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import type { StructSchema } from "@bufbuild/protobuf/wkt";
import { OperatorService } from "../../gen/offledger/operator/v0/operator_service_pb.js";
import type { QueryExecutor } from "../registry/executor.js";
import { struct } from "./messages.js";
import { bind, type ServiceBinding } from "./service-binding.js";

/** The operator, the packages and the OpenAPI document. */
export function operators(executor: QueryExecutor, openApi: JsonObject): ServiceBinding[] {
  const document: MessageInitShape<typeof StructSchema> = struct(openApi);
  return [
    bind(OperatorService, {
      getOperator: async () => ({
        partyId: await executor.executeUtility((utility, context) => utility.operator(context)),
      }),
      async getAllPackages() {
        const templateCounts = await executor.execute((_registry, { view }) => view.templateCounts());
        const packages = new Map(
          templateCounts.map(({ template, packageId }) => [
            `${template.packageName} ${packageId}`,
            { name: template.packageName, id: packageId },
          ]),
        );
        return { packages: [...packages].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry) };
      },
      getOpenApiSpec: async () => document,
    }),
  ];
}
