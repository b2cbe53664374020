import type { Inventory } from "../../registry/sdk/registry.js";
import { describeWarning, isInformation, warningKinds } from "../../registry/sdk/warnings.js";

/** Maximum number of warnings printed per kind. */
const MAX_PRINTED = 10;

/** The warnings of one kind. */
interface Group {
  readonly kind: string;
  readonly isInformation: boolean;
  readonly sentences: readonly string[];
  /** There may be more than sentences. */
  readonly count: number;
}

/** The registrars with their instruments, the number of contracts of each template, and the warnings. */
export function formatInventory(inventory: Inventory): string[] {
  const { registrars, counts, unchecked } = inventory;
  return [
    ...(registrars.length === 0 ? ["no registrar is served: there is no factory"] : []),
    ...registrars.flatMap(formatRegistrar),
    ...counts.map(({ qualifiedName, count }) => `${String(count).padStart(8)} ${qualifiedName}`),
    ...formatWarnings(inventory),
    ...(unchecked === undefined ? [] : ["", `${unchecked} more contracts are not checked here: see offledger check`]),
  ];
}

function formatRegistrar({ party, instruments }: Inventory["registrars"][number]): string[] {
  return [`registrar ${party}`, ...instruments.map(({ id, scheme }) => `  instrument ${id} (${scheme})`)];
}

/** The warnings by kind. */
function formatWarnings({ warnings, warningCounts }: Inventory): string[] {
  const groups = [...warningKinds, "other" as const].map((kind): Group => {
    const sentences = warnings.flatMap((warning) => {
      if (typeof warning === "string") return kind === "other" ? [warning] : [];
      return warning.kind === kind ? [describeWarning(warning)] : [];
    });
    const counts: Readonly<Record<string, number>> = warningCounts ?? {};
    const isForInformation = kind !== "other" && isInformation(kind);
    return { kind, isInformation: isForInformation, sentences, count: Math.max(sentences.length, counts[kind] ?? 0) };
  });
  return groups.filter(({ count }) => count > 0).flatMap(formatGroup);
}

function formatGroup({ kind, isInformation: isForInformation, sentences, count }: Group): string[] {
  // Sorted, because not every store lists contracts in the same order.
  const printed = sentences
    .toSorted()
    .slice(0, MAX_PRINTED)
    .map((sentence) => `  ${sentence}`);
  const more = count > MAX_PRINTED ? [`  … and ${count - MAX_PRINTED} more`] : [];
  return ["", `${isForInformation ? "information" : "warning"}: ${kind} (${count})`, ...printed, ...more];
}
