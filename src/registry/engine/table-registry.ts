/** A registry whose rules are a file: OFFLEDGER_REGISTRY=token.yaml. */
import { notFound, RegistryError } from "../../domain/errors.js";
import { decimalText } from "../sdk/json-reader.js";
import type {
  Choice,
  ChoiceQuery,
  ContextAnswer,
  FactoryAnswer,
  Instrument,
  Registry,
  RequestContext,
  SupportedApis,
} from "../sdk/registry.js";
import { hasUnreadable } from "../../store/port.js";
import { checkContext, runChecks } from "../check/scan.js";
import { neededContract, onOneSynchronizer, requireSynchronizer, unknownInstruction } from "../needed.js";
import { type ChoiceAnswer, tableChecks } from "./checks.js";
import { TableAnswer } from "./answer.js";
import { candidatesOf, choose, type Table, templateOf, unreadable, validNow } from "./candidates.js";
import type { Operation, RegistryFile } from "./definition.js";
import { allocationSubject, settlementSubject, type Subject, subjectOf, transferSubject } from "./subject.js";
import { tableLookup } from "./lookup.js";
import { lookupKey, supplyOf, tableTemplates } from "./templates.js";

export interface TableOptions {
  /** The ids of a registrar's instruments in the instruments file, where the registry file leaves them to it. */
  readonly instrumentsOf?: (registrar: string) => readonly string[];
}

/** What its requests and answers have in common with those of modules, `checkedRegistry` checks. */
export function tableRegistry(file: RegistryFile, { instrumentsOf = () => [] }: TableOptions = {}): Registry {
  const table: Table = { file, templates: tableTemplates(file) };
  const templates = [...table.templates.values()];
  const listedIds = (registrar: string): readonly string[] =>
    file.instruments === "file" ? instrumentsOf(registrar) : Array.isArray(file.instruments) ? file.instruments : [];
  const choiceTemplates = (choice: Choice) =>
    Object.entries(file.templates)
      .filter(([, { choices }]) => choices === choice.split("/", 1)[0])
      .flatMap(([name]) => table.templates.get(name) ?? []);

  const instruments = (context: RequestContext, registrar: string): readonly Instrument[] => {
    requireServed(table, context, registrar);
    const { instruments: listed } = file;
    if (listed === "file" || Array.isArray(listed)) return listedIds(registrar).map((id) => ({ id, otherIds: [] }));
    const contracts = candidatesOf(table, context, { template: listed.template }, registrar, []);
    const found = validNow(table, context, listed.template, contracts).flatMap(({ fields }) => fields.listed);
    // Newest first: an instrument that several contracts list counts once.
    return [...new Map(found.toReversed().map((instrument) => [instrument.id, instrument])).values()];
  };

  /** On the synchronizer of the first factory on which all of the answer can be. */
  const factory = (context: RequestContext, subject: Subject, write: (answer: TableAnswer) => void): FactoryAnswer => {
    const terms = Object.values(file.factory.find ?? {}).map((term) =>
      term === "instrument" ? (subject.instruments[0] ?? "") : (subject.roles[term]?.[0] ?? subject.registrar),
    );
    const candidates = candidatesOf(table, context, file.factory, subject.registrar, terms);
    const chosen = choose(table, context, file.factory, candidates);
    if (chosen === undefined) throw notServed(table, subject.registrar);
    const needed = neededContract(`the factory of registrar ${subject.registrar}`, { registrar: subject.registrar });
    const inOrder = [chosen, ...validNow(table, context, file.factory.template, candidates)];
    return onOneSynchronizer(
      inOrder,
      () => needed,
      context.recorder,
      (candidate, synchronizer) => {
        const answer = new TableAnswer(table, context, subject, synchronizer);
        write(answer);
        answer.disclose(candidate);
        return { factoryId: candidate.contractId, ...answer.build() };
      },
      { candidates },
    );
  };

  const answerChoice = (context: RequestContext, choice: Choice, query: ChoiceQuery) =>
    choiceContext(table, context, choice, choiceTemplates(choice), query);
  const answerOn: ChoiceAnswer = (context, choice, { contractId, fields: { registrar } }) =>
    answerChoice(context, choice, { registrar, contractId });
  const checks = tableChecks(table, answerOn);
  return {
    name: file.name,
    templates,
    checks,
    lookup: tableLookup(table, answerOn, listedIds),
    supportedApis: supportedApis(file),
    instruments,
    transferFactory(context, query) {
      const subject = transferSubject(query);
      let transferKind: "self" | "direct" | "offer" = subject.isSelf ? "self" : "offer";
      const answer = factory(context, subject, (run) => {
        if (!subject.isSelf && file.direct !== undefined) transferKind = run.has(file.direct) ? "direct" : "offer";
        run.write("transfer-factory");
      });
      return { ...answer, transferKind, instrumentId: subject.instruments[0] };
    },
    allocationFactory: (context, query) =>
      factory(context, allocationSubject(query), (run) => run.write("allocation-factory")),
    settlementFactory: (context, query) =>
      factory(context, settlementSubject(query), (run) => run.write("settlement-factory")),
    choiceContext: answerChoice,
    inventory(view, options) {
      const context = checkContext(view, options.now, options.credentialDays);
      const parties = view.all(templateOf(table, file.factory)).flatMap(({ fields }) => fields.registrar ?? []);
      return {
        registrars: [...new Set(parties)].map((party) => ({
          party,
          instruments: instruments(context, party).map(({ id }) => ({ source: party, id, scheme: file.name })),
        })),
        counts: view.templateCounts().map(({ template, count }) => ({ qualifiedName: template.qualifiedName, count })),
        ...runChecks(view, checks, options),
      };
    },
    ...(Object.values(file.templates).some(({ supply }) => supply !== undefined) && {
      totalSupply: ({ view }: RequestContext, registrar: string, listed: readonly Instrument[]) => {
        const sums = view.sums(listed.map(({ id }) => supplyOf(registrar, id)));
        const { asOf } = view;
        return sums.map((sum) => (asOf === undefined ? undefined : { total: decimalText(sum), asOf }));
      },
    }),
  };
}

function choiceContext(
  table: Table,
  context: RequestContext,
  choice: Choice,
  templates: readonly ReturnType<typeof templateOf>[],
  { registrar, contractId }: ChoiceQuery,
): ContextAnswer {
  if (templates.length === 0) throw notFound(`the registry ${table.file.name} has no choice ${choice}`);
  const contract = templates
    .map((template) => context.view.byId(template, contractId))
    .find((one) => one !== undefined);
  const admin = contract?.fields.registrar ?? registrar;
  const unparsed = contract === undefined && templates.find((one) => hasUnreadable(context.view, one, contractId));
  if (unparsed) throw unreadable(unparsed, choice, contractId);
  if (contract === undefined || admin === undefined || (registrar !== undefined && admin !== registrar))
    throw unknownInstruction(context.view, registrar, (choice.split("/", 1)[0] ?? "").replaceAll("-", " "), contractId);
  const label = `the ${(choice.split("/", 1)[0] ?? "").replaceAll("-", " ")}`;
  const synchronizerId = requireSynchronizer(contract, { name: label, kind: "instruction", registrar: admin });
  const answer = new TableAnswer(table, context, subjectOf(contract, admin), synchronizerId);
  answer.write(choice);
  return answer.build();
}

function requireServed(table: Table, { view }: RequestContext, registrar: string): void {
  const key = lookupKey([], registrar, []);
  if (view.byKey(templateOf(table, table.file.factory), key).length === 0) throw notServed(table, registrar);
}

function notServed(table: Table, registrar: string): RegistryError {
  const { qualifiedName } = templateOf(table, table.file.factory);
  return notFound(`registrar ${registrar} is not served here: no ${qualifiedName} of that party is known`, {
    code: "registrar-not-served",
    about: { registrar, template: qualifiedName },
  });
}

/** The APIs of the standard for which the file has a factory or templates. */
function supportedApis({ versions = ["v1"], templates, operations = {} }: RegistryFile): SupportedApis {
  const kinds = new Set(Object.values(templates).map(({ choices }) => choices));
  const has = (factory: Operation, kind: string) =>
    operations[factory] !== undefined || [...kinds].some((one) => one === kind);
  const apis: Record<string, number> = { "splice-api-token-metadata-v1": 2 };
  for (const version of versions) {
    if (has("transfer-factory", "transfer-instruction")) apis[`splice-api-token-transfer-instruction-${version}`] = 1;
    if (has("allocation-factory", "allocation")) {
      apis[`splice-api-token-allocation-${version}`] = 1;
      apis[`splice-api-token-allocation-instruction-${version}`] = 1;
    }
  }
  return apis;
}
