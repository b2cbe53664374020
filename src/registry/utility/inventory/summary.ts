import type { View } from "../../../store/port.js";
import type { Template } from "../../../domain/template.js";
import type { Inventory } from "../../sdk/registry.js";
import { instrumentConfiguration } from "../templates/instruments.js";
import { allocationFactory } from "../templates/services.js";

/** The registrars with their instruments, the operators, and how many contracts of each template there are. */
export function summarize(
  view: View,
  templates: readonly Template[],
): Pick<Inventory, "registrars" | "counts" | "operators"> {
  const configurations = view.all(instrumentConfiguration);
  const factories = view.all(allocationFactory);
  const served = [...new Set(factories.map(({ fields }) => fields.registrar))].toSorted();
  const templateCounts = view.templateCounts();
  const counts = templates.map((template) => ({
    qualifiedName: template.qualifiedName,
    count: templateCounts.filter((row) => row.template === template).reduce((sum, row) => sum + row.count, 0),
  }));
  return {
    registrars: served.map((party) => ({
      party,
      instruments: configurations
        .filter(({ fields }) => fields.registrar === party)
        .map(({ fields }) => fields.defaultIdentifier)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    })),
    counts: counts.filter(({ count }) => count > 0),
    operators: [
      ...new Set([...factories, ...configurations].flatMap(({ fields }) => fields.operator ?? [])),
    ].toSorted(),
  };
}
