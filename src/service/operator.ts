import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import type { StructSchema } from "@bufbuild/protobuf/wkt";
import { OperatorService } from "../../gen/offledger/operator/v0/operator_service_pb.js";
import type { Engine } from "../registry/engine.js";
import { struct } from "./answers.js";
import { offer, type Offered } from "./handlers.js";

/** What a client can learn of the service. `openApi` is the document of its paths. */
export function operators(engine: Engine, openApi: JsonObject): Offered[] {
  const document: MessageInitShape<typeof StructSchema> = struct(openApi);
  return [
    offer(OperatorService, {
      getOperator: async () => ({ partyId: await engine.askUtility((utility, scene) => utility.operator(scene)) }),
      async getAllPackages() {
        const census = await engine.ask((_registry, { view }) => view.census());
        const packages = new Map(
          census.map(({ kind, packageId }) => [
            `${kind.packageName} ${packageId}`,
            { name: kind.packageName, id: packageId },
          ]),
        );
        return { packages: [...packages].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one) };
      },
      getOpenApiSpec: async () => document,
    }),
  ];
}
