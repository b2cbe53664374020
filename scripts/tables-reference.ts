/** The lists of docs/tables.md, made of the language's schema: each field with its form and meaning. */
import { z } from "zod";
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

type Schema = z.core.JSONSchema.JSONSchema;

const anyOne = (words: readonly string[]): string => [...new Set(words)].join(", ").replace(/, ([^,]*)$/, " or $1");

const code = (value: unknown): string => `\`${String(value)}\``;

/** Of `path or list of paths`: `paths or lists of paths`. */
const plural = (form: string): string =>
  form.replaceAll(/(?<=^| or )(list|\w+(?=$| or ))/g, (one) =>
    one === "text" ? one : `${one.replace(/ry$/, "rie")}s`,
  );

/** The form of a value, such as `list of names`. */
function formOf({
  title,
  type,
  const: only,
  enum: values,
  anyOf,
  items,
  additionalProperties,
  ...rest
}: Schema): string {
  if (title !== undefined) return title;
  if (anyOf !== undefined) return anyOne(anyOf.filter((one) => one.type !== "null").map((one) => formOf(one)));
  if (only !== undefined) return code(only);
  if (values !== undefined) return anyOne(values.map(code));
  if (type === "array") return `list of ${plural(formOf(items as Schema))}`;
  if (type === "integer") return `${rest.minimum} to ${rest.maximum}`;
  if (type === "object")
    return typeof additionalProperties === "object" ? `map of ${plural(formOf(additionalProperties))}` : "map";
  return type === "boolean" ? "boolean" : "text";
}

const listOf = (form: z.ZodObject): string => {
  const { properties = {}, required = [] } = z.toJSONSchema(form, { io: "input" });
  return Object.entries(properties)
    .map(([field, schema]) => {
      const { description } = schema as Schema;
      if (description === undefined) throw new Error(`the field ${field} has no description`);
      const kind = formOf(schema as Schema);
      return `- \`${field}\`, ${kind}${required.includes(field) ? ", required" : ""}: ${description}`;
    })
    .join("\n");
};

/** The page with the lists as they are now, each the first of its section. */
export const withTables = (page: string): string =>
  Object.entries(forms).reduce((text, [heading, form]) => {
    const section = new RegExp(`(\\n##+ ${heading}\\n(?:(?!\\n#|\\n- ).)*?\\n)(?:- [^\\n]*\\n)+`, "s");
    if (!section.test(text)) throw new Error(`docs/tables.md has no list under ${heading}`);
    return text.replace(section, (_all, before: string) => `${before}${listOf(form)}\n`);
  }, page);
