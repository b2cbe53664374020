/** The tables of docs/tables.md, made of the language's schema. */
import type { z } from "zod";
import {
  changeForm,
  entryForm,
  extensionForm,
  lineForm,
  registryFile,
  rowForm,
  templateForm,
} from "../src/registry/engine/grammar.js";

/** By the heading under which each stands. */
const forms: Readonly<Record<string, z.ZodObject>> = {
  "A registry file": registryFile,
  Templates: templateForm,
  Entries: entryForm,
  Operations: rowForm,
  Lines: lineForm,
  "Files that extend": extensionForm,
  Changes: changeForm,
};

const tableOf = (form: z.ZodObject): string =>
  [
    "| field | meaning |",
    "|---|---|",
    ...Object.entries(form.shape).map(([field, { description }]) => {
      if (description === undefined) throw new Error(`the field ${field} has no description`);
      return `| \`${field}\` | ${description} |`;
    }),
  ].join("\n");

/** The page with the tables as they are now, each the first of its section. */
export const withTables = (page: string): string =>
  Object.entries(forms).reduce((text, [heading, form]) => {
    const section = new RegExp(
      `(\\n##+ ${heading}\\n(?:(?!\\n#).)*?\\n)\\| field \\| meaning \\|\\n(?:\\|[^\\n]*\\n)*`,
      "s",
    );
    if (!section.test(text)) throw new Error(`docs/tables.md has no table under ${heading}`);
    return text.replace(section, (_all, before: string) => `${before}${tableOf(form)}\n`);
  }, page);
