/** The entries, disclosures and templates that a table may name: built in, of a module, of the operator's file. */
import type { Template } from "../../../domain/template.js";
import { formatPath, type Path, type Problem } from "../../../util/object-reader.js";
import type { ContextEntry, Disclosure } from "../context.js";
import { builtInDisclosures, builtInEntries } from "../entries.js";
import { templates as builtInTemplates } from "../templates.js";
import type { EntryDefinition } from "./entry-definition.js";
import { MODULE_PATH } from "./contexts-error.js";
import { ownEntry } from "./own-entry.js";
import { ownTemplates, templateName } from "./own-template.js";
import type { ParsedExtension } from "./parse/extension.js";
import type { KnownParts } from "./parse/lines.js";

export interface Parts {
  readonly entries: ReadonlyMap<string, ContextEntry>;
  readonly disclosures: ReadonlyMap<string, Disclosure>;
  readonly templates: readonly Template[];
}

const builtInParts: Parts = {
  entries: new Map(Object.entries(builtInEntries)),
  disclosures: new Map(Object.entries(builtInDisclosures)),
  templates: builtInTemplates,
};

/** The names that lines may use. */
export const namesOf = ({ entries, disclosures }: Parts): KnownParts => ({
  entries: new Set(entries.keys()),
  disclosures: new Set(disclosures.keys()),
});

/** The built-in parts with those of a module. Adds a problem for each name that exists already. */
export function partsWithExtension(extension: ParsedExtension, problems: Problem[]): Parts {
  const { entries, templates, allocations } = extension;
  for (const name of entries.keys()) {
    if (builtInParts.entries.has(name) || builtInParts.disclosures.has(name))
      addProblem(
        problems,
        ["entries", name],
        "must have another name: there is an entry or disclosure of this name already",
      );
  }
  const known = new Set(builtInParts.templates.map(nameOfTemplate));
  for (const [list, added] of Object.entries({ templates, allocations })) {
    for (const [index, template] of added.entries()) {
      const name = nameOfTemplate(template);
      if (known.has(name))
        addProblem(problems, [list, index], `must be another template: there is one of the name ${name}`);
      known.add(name);
    }
  }
  const disclosures = [...entries].filter(
    (entry): entry is [string, ContextEntry & Disclosure] => "disclose" in entry[1],
  );
  return {
    entries: new Map([...builtInParts.entries, ...entries]),
    disclosures: new Map([...builtInParts.disclosures, ...disclosures]),
    templates: [...builtInParts.templates, ...templates, ...allocations],
  };
}

const addProblem = (problems: Problem[], path: Path, reason: string): void => {
  const full = [MODULE_PATH, ...path];
  problems.push({ path: full, reason: `${formatPath(full)} ${reason}` });
};

/** The parts with the entries of the operator's file. Adds a problem for each template that is known already. */
export function partsWithEntries(parts: Parts, definitions: readonly EntryDefinition[], problems: Problem[]): Parts {
  const known = new Set(parts.templates.map(nameOfTemplate));
  for (const definition of definitions) {
    if (!known.has(templateName(definition))) continue;
    const path = ["entries", definition.name, "template"];
    const reason =
      "must be a template that the registry does not read already: extend the registry with a module instead";
    problems.push({ path, reason: `${formatPath(path)} ${reason}` });
  }
  const templates = ownTemplates(definitions);
  const entries = definitions.flatMap((definition) => {
    const template = templates.get(templateName(definition));
    return template === undefined ? [] : [[definition.name, ownEntry(definition, template)] as const];
  });
  return {
    entries: new Map([...parts.entries, ...entries]),
    disclosures: new Map([...parts.disclosures, ...entries]),
    templates: [...parts.templates, ...templates.values()],
  };
}

const nameOfTemplate = ({ packageName, qualifiedName }: Template): string => `${packageName}#${qualifiedName}`;
