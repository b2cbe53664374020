import type { z } from "zod";
import type { Template } from "../../domain/template.js";
import { check, formatMistake } from "../../util/operator-file.js";
import { fullNames } from "../engine/file.js";
import { type TemplateDefinition, templateForm } from "../engine/grammar.js";
import { type TableFields, type TableTemplate, tableTemplates } from "../engine/templates.js";
import { readFields } from "../fields.js";

/** What is kept of a contract: what the paths of its template name, and what its schema makes of the payload. */
export interface ContractFields<P = unknown> extends TableFields {
  readonly payload: P;
}

/** A template that `defineTemplate` has made. */
export interface ModuleTemplate<P = unknown> extends Omit<TableTemplate, keyof Template>, Template<ContractFields<P>> {
  /** The beginning of the names of the choices that are made on its contracts; undefined if none are. */
  readonly choices: string | undefined;
}

/** A template in the words of a registry file: paths into the payload say who its parties are, and when it counts. */
export interface ModuleTemplateDefinition<P> extends Omit<TemplateDefinition, "name" | "package" | "newest"> {
  readonly package: string;
  /** `Module:Entity`. */
  readonly name: string;
  /** Paths by which contracts are looked up, beside the registrar: a list for each look-up. */
  readonly find?: readonly (readonly string[])[];
  /**
   * What the rules read besides, as a schema of zod. A contract that does not match is logged and left out. A database stores
   * the result as JSON: give no bigint, date or class.
   */
  readonly payload?: z.ZodType<P>;
  /** Changes with `payload`, any text: a database is then filled again. Changes of the paths are found. */
  readonly revision?: string;
}

/** Throws an Error that names every mistake of the definition. */
export function defineTemplate<P = undefined>(given: ModuleTemplateDefinition<P>): ModuleTemplate<P> {
  const { package: packageName, find = [], payload: schema, revision = "", ...paths } = given;
  const { value: definition, mistakes } = check(templateForm, paths);
  if (definition === undefined)
    throw new Error(`template ${given.name} is wrong: ${mistakes.map(formatMistake).join("; ")}`);
  const entries = find.map((terms, index) => {
    const found = Object.fromEntries(terms.map((path) => [path, "registrar"]));
    return [String(index), { template: "it", find: found }] as const;
  });
  const template = tableTemplates({
    templates: fullNames({ it: definition }, { package: packageName }),
    // All of a registrar are found, too.
    factory: { template: "it" },
    entries: Object.fromEntries(entries),
  }).get("it");
  if (template === undefined) throw new Error("a table has a template for each of its definitions");
  return {
    ...template,
    choices: definition.choices,
    revision: `${template.revision}${revision}`,
    parse(payload) {
      const parsed = template.parse(payload);
      if (parsed === undefined) return undefined;
      // Without a schema there is nothing to read.
      const read = schema === undefined ? (undefined as P) : readFields(schema, payload, "");
      return { ...parsed, fields: { ...parsed.fields, payload: read } };
    },
  };
}
