/** The operations of the token standard, from what the rules of a file or a module say of a token. */
import type { Contract } from "../../domain/contract.js";
import { decimalText } from "../../domain/decimal.js";
import { refuse } from "../../domain/errors.js";
import { backgroundContext } from "../background.js";
import { targetSynchronizerOf } from "../factory-arguments.js";
import { neededContract } from "../needed.js";
import type { Factory } from "../operation-names.js";
import { tokenStandardApis } from "../sdk/apis.js";
import type {
  ApiVersion,
  Choice,
  FactoryQuery,
  FactoryResult,
  Registry,
  RequestContext,
  TransferKind,
} from "../sdk/registry.js";
import type { ContextLine, LineArguments, RequestSubject } from "./choice-context.js";
import { answerChoice, answerWithFactory, type ChoiceDefinition, type FactoryRequest } from "./operations.js";
import { factorySubject } from "./choice-context.js";
import { groupOf } from "./table.js";
import { supplyOf, type TableFields } from "./templates.js";

export interface TokenRules extends Pick<Registry, "name" | "templates" | "instruments"> {
  /** Of the token standard; v1 if it is absent. */
  readonly versions: readonly ApiVersion[] | undefined;
  /** The factories of the registrars that are served. */
  readonly allFactories: (context: RequestContext) => readonly Contract<TableFields>[];
  /** Those that may answer, in the order in which they are tried. Throws "not-found" for a registrar that is not served. */
  readonly factories: (
    context: RequestContext,
    registrar: string,
    subject: RequestSubject,
    operation: Factory,
  ) => Pick<FactoryRequest, "factories" | "considered">;
  readonly lines: (operation: Factory) => readonly ContextLine[];
  readonly choices: ReadonlyMap<Choice, ChoiceDefinition>;
  /** Whether a transfer, which is not one to its sender, is direct; absent if none is. */
  readonly isDirect?: ((...line: LineArguments) => boolean) | undefined;
}

const NO_PREAPPROVALS = "This registry knows no preapprovals: every transfer to another party is an offer.";

export function standardRegistry(rules: TokenRules): Registry {
  const { name, templates, instruments, choices, isDirect } = rules;

  const factory = (
    context: RequestContext,
    query: FactoryQuery,
    operation: Factory,
    about: RequestSubject = factorySubject(operation, query),
    first: readonly ContextLine[] = [],
  ): FactoryResult => {
    const subject = { ...about, meta: query.meta };
    const { registrar } = query;
    return answerWithFactory(context, {
      definition: { lines: [...first, ...rules.lines(operation)] },
      group: groupOf(registrar),
      ...rules.factories(context, registrar, subject, operation),
      needed: () => neededContract(`the factory of registrar ${registrar}`, { registrar }),
      targetSynchronizer: targetSynchronizerOf(query),
      subject,
    });
  };

  return {
    name,
    templates,
    supportedApis: tokenStandardApis(...(rules.versions ?? ["v1"])),
    instruments,
    transferFactory(context, query) {
      const subject = factorySubject("transfer-factory", query);
      let transferKind: TransferKind = subject.isSelf === true ? "self" : "offer";
      const decide: ContextLine = {
        name: "direct",
        keys: [],
        required: false,
        write(...line) {
          transferKind = isDirect?.(...line) === true ? "direct" : "offer";
        },
      };
      const first = subject.isSelf === true || isDirect === undefined ? [] : [decide];
      if (subject.isSelf !== true && isDirect === undefined) context.recorder?.remark(NO_PREAPPROVALS);
      const found = factory(context, query, "transfer-factory", subject, first);
      return { ...found, transferKind, instrumentId: subject.instruments[0] };
    },
    allocationFactory: (context, query) => factory(context, query, "allocation-factory"),
    settlementFactory: (context, query) => factory(context, query, "settlement-factory"),
    choiceContext(context, choice, query) {
      const definition = choices.get(choice);
      if (definition === undefined || definition.templates.length === 0)
        throw refuse("operation-not-supported", `the registry ${name} has no choice ${choice}`);
      return answerChoice(
        context,
        definition,
        query,
        ({ fields }) => groupOf(fields.registrar ?? query.registrar ?? ""),
        () => undefined,
      );
    },
    inventory(view, { now }) {
      const context = backgroundContext(view, now);
      const parties = new Set(rules.allFactories(context).flatMap(({ fields }) => fields.registrar ?? []));
      return {
        registrars: [...parties].map((party) => ({
          party,
          instruments: instruments(context, party).map(({ id }) => ({ source: party, id, scheme: name })),
        })),
        counts: view.templateCounts().map(({ template: { qualifiedName }, count }) => ({ qualifiedName, count })),
      };
    },
    ...(templates.some((one) => one.supplyContribution !== undefined) &&
      ({
        totalSupply: ({ view }, registrar, listed) => {
          const { asOf } = view;
          const sums = view.sums(listed.map(({ id }) => supplyOf(registrar, id)));
          return sums.map((sum) => (asOf === undefined ? undefined : { total: decimalText(sum), asOf }));
        },
      } satisfies Partial<Registry>)),
  };
}
