import { indexKeys } from "../templates/index-keys.js";
import { registrarService } from "../templates/services.js";
import type { ContextEntry } from "./context-entry.js";

/** Whether the registrar's service asks for result contracts; left out if the service does not say. */
export const enableResultContractsEntry: ContextEntry = {
  *prefetch({ registrar }) {
    yield { template: registrarService, indexKey: indexKeys.service(registrar) };
  },
  value(_builder, selector) {
    const { context, view, registrar } = selector;
    const services = view.byKey(registrarService, indexKeys.service(registrar));
    // The service is only read, not disclosed, so any synchronizer will do.
    const chosen = selector.newest(services) ?? services[0];
    context.recorder?.search({
      needed: {
        name: `the RegistrarService of registrar ${registrar}`,
        registrar,
        template: registrarService.qualifiedName,
      },
      candidates: services,
      chosen,
      required: false,
    });
    const enabled = chosen?.fields.enableResultContracts;
    return enabled === undefined ? undefined : { tag: "AV_Bool", value: enabled };
  },
};
