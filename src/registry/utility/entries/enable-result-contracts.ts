import { ofGroup, otherGroups } from "../selection/group.js";
import { indexKeys } from "../templates/index-keys.js";
import { registrarService } from "../templates/services.js";
import type { ContextEntry } from "./context-entry.js";

/**
 * Whether the service of the group asks for result contracts. Left out if it does not say or does not exist: the packages
 * read that as true, so a value would change what happens on the ledger.
 */
export const enableResultContractsEntry: ContextEntry = {
  value(_builder, selector) {
    const { context, view, registrar } = selector;
    const all = view.byKey(registrarService, indexKeys.service(registrar));
    const services = ofGroup(all, selector.group);
    // The service is only read, not disclosed, so any synchronizer will do.
    const chosen = selector.newest(services) ?? services[0];
    context.recorder?.search({
      needed: {
        name: `the RegistrarService of registrar ${registrar}`,
        registrar,
        template: registrarService.qualifiedName,
      },
      candidates: services,
      ...(services !== all && otherGroups(all, selector.group)),
      chosen,
      required: false,
    });
    const enabled = chosen?.fields.enableResultContracts;
    return enabled === undefined ? undefined : { tag: "AV_Bool", value: enabled };
  },
};
