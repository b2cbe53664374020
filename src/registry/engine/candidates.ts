/** The contracts of a table: its templates, the candidates of a look-up, and which of them an answer uses. */
import type { Contract } from "../../domain/contract.js";
import { conflict, type RegistryError, unavailable } from "../../domain/errors.js";
import type { RequestContext } from "../sdk/registry.js";
import type { Find, RegistryFile } from "./definition.js";
import { lookupKey, type TableFields, type TableTemplate } from "./templates.js";

/** A registry file with its templates. */
export interface Table {
  readonly file: RegistryFile;
  readonly templates: ReadonlyMap<string, TableTemplate>;
}

export type Found = Contract<TableFields>;

export function templateOf({ templates }: Table, { template }: Find): TableTemplate {
  const found = templates.get(template);
  if (found === undefined) throw new Error(`template ${template} is not defined`);
  return found;
}

/** The contracts with these values, valid or not. */
export function candidatesOf(
  table: Table,
  { view }: RequestContext,
  find: Find,
  registrar: string,
  values: readonly string[],
): readonly Found[] {
  const { registrar: hasRegistrar } = table.file.templates[find.template] ?? {};
  const paths = Object.keys(find.find ?? {});
  return view.byKey(templateOf(table, find), lookupKey(paths, hasRegistrar === undefined ? "" : registrar, values));
}

/**
 * Of the candidates that are valid now the one that ranks highest, or is newest; one on the synchronizer in preference.
 * Throws "conflict" where there must be one only.
 */
export function choose(
  table: Table,
  context: RequestContext,
  { template, unique = false }: Find,
  candidates: readonly Found[],
  synchronizer?: string,
): Found | undefined {
  const valid = validNow(table, context, template, candidates);
  if (unique && valid.length > 1) {
    const ids = valid.map(({ contractId }) => contractId).join(", ");
    throw conflict(`only one ${valid[0]?.template.qualifiedName} may exist, but there are several: ${ids}`);
  }
  const ranked = table.file.templates[template]?.newest === undefined ? valid : valid.toSorted(byRank);
  return (
    ranked.find(({ synchronizerId }) => synchronizer === undefined || synchronizerId === synchronizer) ?? ranked[0]
  );
}

/** Those that have begun and not ended. The answer may change when another begins or one ends. */
export function validNow(
  { file }: Table,
  context: RequestContext,
  template: string,
  candidates: readonly Found[],
): Found[] {
  const margin = (file.templates[template]?.margin ?? 0) * 1_000_000;
  const now = context.now * 1000;
  return candidates.filter(({ fields: { from, until } }) => {
    const end = until === undefined ? undefined : until - margin;
    context.mayChangeAt([from, end].filter((time) => time !== undefined));
    return (from === undefined || from <= now) && (end === undefined || now < end);
  });
}

/** Highest first; what has no value is the highest. Equal ones stay in order, newest first. */
const byRank = (a: Found, b: Found): number => (b.fields.rank ?? Infinity) - (a.fields.rank ?? Infinity) || 0;

/** The "unavailable" for a contract that may be one that could not be parsed. */
export function unreadable({ qualifiedName }: TableTemplate, what: string, contractId?: string): RegistryError {
  const which =
    contractId === undefined ? `a contract of ${qualifiedName}` : `contract ${contractId} of ${qualifiedName}`;
  return unavailable(`${which} (${what}) could not be parsed: what depends on whether it exists cannot be answered`, {
    code: "contract-unreadable",
    about: { template: qualifiedName, contractId },
  });
}
