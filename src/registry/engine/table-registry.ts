/** A registry whose rules are a file: OFFLEDGER_REGISTRY=token.yaml. */
import type { Instrument, OperationRequest, Registry, RequestContext } from "../sdk/registry.js";
import { refuse } from "../../domain/errors.js";
import type { View } from "../../state/port.js";
import { formatMistake } from "../../util/operator-file.js";
import { notServed } from "../needed.js";
import { CHOICES, FACTORIES } from "../operation-names.js";
import { apisOfInterfaces } from "../sdk/apis.js";
import type { RequestSubject } from "./choice-context.js";
import { allOf, validNow } from "./entries.js";
import { resolve } from "./file.js";
import type { RegistryFile } from "./grammar.js";
import { tableChecks, tableLookup } from "./lookup.js";
import { factorySubject } from "./choice-context.js";
import { standardRegistry } from "./standard-registry.js";
import { allFactories, compileTable, factoryTemplates } from "./table.js";
import type { Table } from "./table-types.js";
import { tallyGroup } from "./templates.js";

/**
 * What its requests and answers have in common with those of modules, `checkedRegistry` checks. `named`: the ids of the
 * instruments of the instruments file by registrar, where the registry file leaves them to it.
 */
export function tableRegistry(
  given: RegistryFile | Table,
  named: ReadonlyMap<string, readonly string[]> = new Map(),
): Registry {
  const table = compileTable("rows" in given ? given : tableOf(given), named.size > 0);
  const instrumentsOf = (registrar: string): readonly string[] => named.get(registrar) ?? [];
  const { choices } = table;
  const { file } = table.table;
  const listedIds = (view: View, registrar: string): readonly string[] => {
    if (Array.isArray(file.instruments)) return file.instruments;
    const ids = typeof file.instruments === "string" ? instrumentsOf(registrar) : [];
    return file.instruments === "seen" && ids.length === 0 ? view.tallied(tallyGroup("instruments", registrar)) : ids;
  };

  const requireServed = ({ view }: RequestContext, registrar: string): void => {
    const templates = factoryTemplates(table);
    const [first] = templates;
    if (first !== undefined && templates.every((one) => allOf(one, view, registrar).length === 0))
      throw notServed(registrar, first, templates.map(({ qualifiedName }) => qualifiedName).join(" or "));
  };

  const instruments = (context: RequestContext, registrar: string): readonly Instrument[] => {
    requireServed(context, registrar);
    const { instruments: listed } = file;
    if (listed === undefined || typeof listed === "string" || Array.isArray(listed))
      return listedIds(context.view, registrar).map((id) => ({ id, otherIds: [] }));
    const template = table.templates.get(listed.template);
    const contracts = template === undefined ? [] : allOf(template, context.view, registrar);
    const found = validNow(context, contracts).flatMap(({ fields }) => fields.listed ?? []);
    // Newest first: an instrument that several contracts list counts once.
    return [...new Map(found.toReversed().map((instrument) => [instrument.id, instrument])).values()];
  };

  const refsOf = (view: View, { operation, query }: OperationRequest): RequestSubject["refs"] => {
    const factory = FACTORIES.find((one) => one === operation);
    if (factory !== undefined && "choiceArguments" in query) return factorySubject(factory, query).refs;
    const choice = CHOICES.find((one) => one === operation);
    if (choice === undefined || !("contractId" in query)) return undefined;
    const found = choices.get(choice)?.templates.map((template) => view.byId(template, query.contractId));
    return found?.find((one) => one !== undefined)?.fields.refs;
  };

  const standard = standardRegistry({
    name: file.name,
    templates: [...table.templates.values()],
    versions: file.versions === "seen" ? ["v1", "v2"] : file.versions,
    instruments,
    allFactories: ({ view }) => allFactories(table, view),
    factories(context, registrar, subject, operation) {
      const factory = table.factories.get(operation);
      if (factory === undefined)
        throw refuse("operation-not-supported", `the registry ${file.name} has no ${operation}`);
      const terms = Object.values(factory.definition.find ?? {}).map((term) =>
        term === "instrument" ? (subject.instruments[0] ?? "") : (subject.roles[term]?.[0] ?? registrar),
      );
      const candidates = factory.entry.candidates(context.view, registrar, terms);
      const factories = factory.entry.inOrder(context, candidates);
      if (factories.length === 0) requireServed(context, registrar);
      return { factories, considered: { candidates } };
    },
    lines: (operation) => table.lines[operation],
    choices,
    isDirect:
      file.direct === undefined
        ? undefined
        : (_builder, ...request) => table.kindOf(request[0], request[1]) === "direct",
  });
  return {
    ...standard,
    // What no contract names yet may be what is issued next.
    ...(file.instruments === "seen" && {
      servesUnlisted: (registrar: string) => instrumentsOf(registrar).length === 0,
    }),
    ...(file.versions === "seen" && {
      supportedApisOf: ({ view }: RequestContext, registrar: string) =>
        apisOfInterfaces(view.tallied(tallyGroup("interfaces", registrar))),
    }),
    checks: tableChecks(table, (context, registrar) => instruments(context, registrar).map(({ id }) => id)),
    lookup: tableLookup(table, listedIds),
    readById: {
      templates: [...table.templates.values()].filter(({ isReadById = false }) => isReadById),
      contractIds(view, request) {
        const entries = table.readById.get(request.operation) ?? [];
        const refs = entries.length === 0 ? undefined : refsOf(view, request);
        return [...new Set(entries.flatMap((entry) => entry.idsToRead(view, refs)))];
      },
    },
    ...(table.dependsOnVersions && { learnPackages: (versions) => table.parts.versions.learn(versions) }),
  };
}

function tableOf(file: RegistryFile): Table {
  const { value, mistakes } = resolve(file);
  if (value === undefined) throw new Error(mistakes.map(formatMistake).join("\n"));
  return value;
}
