/** A registry whose rules are a file: OFFLEDGER_REGISTRY=token.yaml. */
import { refuse } from "../../domain/errors.js";
import { targetSynchronizerOf, transferArguments } from "../factory-arguments.js";
import { neededContract } from "../needed.js";
import { backgroundContext } from "../background.js";
import { tokenStandardApis } from "../sdk/apis.js";
import { decimalText } from "../../domain/decimal.js";
import type {
  Choice,
  ChoiceQuery,
  FactoryResult,
  FactoryQuery,
  Instrument,
  Registry,
  RequestContext,
  TransferKind,
} from "../sdk/registry.js";
import type { Factory } from "../operation-names.js";
import type { ContextLine, RequestSubject } from "./choice-context.js";
import { resolve } from "./file.js";
import type { Table } from "./table-types.js";
import type { RegistryFile } from "./grammar.js";
import { tableChecks } from "./problems.js";
import { allOf, validNow } from "./entries.js";
import { allocationSubject, settlementSubject, transferSubject } from "./request-subject.js";
import { tableLookup } from "./lookup.js";
import { answerChoice, answerWithFactory } from "./operations.js";
import { compileTable, groupOf, tableSelector } from "./table.js";
import { supplyOf } from "./templates.js";

export interface TableOptions {
  /** The ids of a registrar's instruments in the instruments file, where the registry file leaves them to it. */
  readonly instrumentsOf?: (registrar: string) => readonly string[];
}

/** What its requests and answers have in common with those of modules, `checkedRegistry` checks. */
export function tableRegistry(given: RegistryFile | Table, { instrumentsOf = () => [] }: TableOptions = {}): Registry {
  const table = compileTable("rows" in given ? given : resolve(given).table);
  const { factoryTemplate } = table;
  const { file, templates } = table.table;
  const listedIds = (registrar: string): readonly string[] =>
    file.instruments === "file" ? instrumentsOf(registrar) : Array.isArray(file.instruments) ? file.instruments : [];

  const requireServed = ({ view }: RequestContext, registrar: string): void => {
    if (allOf(factoryTemplate, view, registrar).length > 0) return;
    const { qualifiedName } = factoryTemplate;
    throw refuse(
      "registrar-not-served",
      `registrar ${registrar} is not served here: no ${qualifiedName} of that party is known`,
      { registrar, template: qualifiedName },
    );
  };

  const instruments = (context: RequestContext, registrar: string): readonly Instrument[] => {
    requireServed(context, registrar);
    const { instruments: listed } = file;
    if (listed === undefined || listed === "file" || Array.isArray(listed))
      return listedIds(registrar).map((id) => ({ id, otherIds: [] }));
    const template = table.templates.get(listed.template);
    const contracts = template === undefined ? [] : allOf(template, context.view, registrar);
    const found = validNow(context, contracts).flatMap(({ fields }) => fields.listed ?? []);
    // Newest first: an instrument that several contracts list counts once.
    return [...new Map(found.toReversed().map((instrument) => [instrument.id, instrument])).values()];
  };

  /** On the synchronizer of the first factory on which all of the answer can be. */
  const factory = (
    context: RequestContext,
    query: FactoryQuery,
    operation: Factory,
    about: RequestSubject,
    first: readonly ContextLine[] = [],
  ): FactoryResult => {
    const subject = { ...about, meta: query.meta };
    const { registrar } = query;
    const terms = Object.values(file.factory.find ?? {}).map((term) =>
      term === "instrument" ? (subject.instruments[0] ?? "") : (subject.roles[term]?.[0] ?? registrar),
    );
    const candidates = table.factory.candidates(context.view, registrar, terms);
    const factories = table.factory.inOrder(context, candidates);
    if (factories.length === 0) requireServed(context, registrar);
    const { lines } =
      operation === "transfer-factory" ? table.transfer : (table.contexts.get(operation) ?? table.transfer);
    return answerWithFactory(context, {
      definition: { lines: [...first, ...lines], selector: tableSelector },
      group: groupOf(registrar),
      factories,
      needed: () => neededContract(`the factory of registrar ${registrar}`, { registrar }),
      targetSynchronizer: targetSynchronizerOf(query),
      considered: { candidates },
      subject,
    });
  };

  const answer = (context: RequestContext, choice: Choice, query: ChoiceQuery) => {
    const definition = table.choices.get(choice);
    if (definition === undefined || definition.templates.length === 0)
      throw refuse("operation-not-supported", `the registry ${file.name} has no choice ${choice}`);
    return answerChoice(
      context,
      definition,
      query,
      ({ fields }) => groupOf(fields.registrar ?? query.registrar ?? ""),
      () => undefined,
    );
  };
  const checks = tableChecks(table, (context, registrar) => instruments(context, registrar).map(({ id }) => id));
  return {
    name: file.name,
    templates: [...table.templates.values()],
    checks,
    lookup: tableLookup(table, listedIds),
    ...(table.dependsOnVersions && { learnPackages: (versions) => table.parts.versions.learn(versions) }),
    supportedApis: tokenStandardApis(...(file.versions ?? ["v1"])),
    instruments,
    transferFactory(context, query) {
      const subject = transferSubject(transferArguments(query));
      let transferKind: TransferKind = subject.isSelf === true ? "self" : "offer";
      const decide: ContextLine = {
        name: "direct",
        keys: [],
        required: false,
        write(_builder, one) {
          transferKind = table.kindOf(one, subject);
        },
      };
      const first = subject.isSelf === true || file.direct === undefined ? [] : [decide];
      const found = factory(context, query, "transfer-factory", subject, first);
      return { ...found, transferKind, instrumentId: subject.instruments[0] };
    },
    allocationFactory: (context, query) => factory(context, query, "allocation-factory", allocationSubject(query)),
    settlementFactory: (context, query) => factory(context, query, "settlement-factory", settlementSubject(query)),
    choiceContext: answer,
    inventory(view, options) {
      const context = backgroundContext(view, options.now);
      const parties = view.all(factoryTemplate).flatMap(({ fields }) => fields.registrar ?? []);
      return {
        registrars: [...new Set(parties)].map((party) => ({
          party,
          instruments: instruments(context, party).map(({ id }) => ({ source: party, id, scheme: file.name })),
        })),
        counts: view.templateCounts().map(({ template, count }) => ({ qualifiedName: template.qualifiedName, count })),
      };
    },
    ...(Object.values(templates).some(({ supply }) => supply !== undefined) && {
      totalSupply: ({ view }: RequestContext, registrar: string, listed: readonly Instrument[]) => {
        const sums = view.sums(listed.map(({ id }) => supplyOf(registrar, id)));
        const { asOf } = view;
        return sums.map((sum) => (asOf === undefined ? undefined : { total: decimalText(sum), asOf }));
      },
    }),
  };
}
