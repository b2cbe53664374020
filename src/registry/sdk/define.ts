import type { Contract } from "../../domain/contract.js";
import { decimalText } from "../../domain/decimal.js";
import { refuse } from "../../domain/errors.js";
import type { Template } from "../../domain/template.js";
import type { ContextDefinition, ContextLine, RequestSubject } from "../engine/choice-context.js";
import { allOf, validNow } from "../engine/entries.js";
import { allocationSubject, settlementSubject, transferSubject } from "../engine/request-subject.js";
import { answerChoice, answerWithFactory } from "../engine/operations.js";
import { groupOf, tableSelector } from "../engine/table.js";
import { supplyOf, type TableFields } from "../engine/templates.js";
import { targetSynchronizerOf, transferArguments } from "../factory-arguments.js";
import { neededContract } from "../needed.js";
import { backgroundContext } from "../background.js";
import { tokenStandardApis } from "./apis.js";
import type {
  AnyValue,
  ApiVersion,
  Choice,
  FactoryQuery,
  Instrument,
  Registry,
  RequestContext,
  TransferKind,
} from "./registry.js";
import { type ContextRequest, contextRequest } from "./request.js";
import type { ContractFields, ModuleTemplate } from "./template.js";

/** An operation of the token standard: a factory, or a choice. */
export type Operation = "transfer-factory" | "allocation-factory" | "settlement-factory" | Choice;

/** The factories of a registrar that are valid now, newest first. */
export type Factories<P> = readonly [Contract<ContractFields<P>>, ...Contract<ContractFields<P>>[]];

/**
 * The rules of a token, in two functions. Every other member of Registry may be given too, in place of its default: methods
 * are synchronous, free of side effects, and see one state.
 */
export interface RegistryDefinition<P> extends Partial<Omit<Registry, "name" | "templates" | "instruments">> {
  readonly name: string;
  /** The template of the factory of every choice. The registrars that have one are served. */
  readonly factory: ModuleTemplate<P>;
  /** Further templates. Choices are made on contracts of those that name `choices`. */
  readonly templates?: readonly Template[];
  /** Versions of the token standard of which it serves all APIs; default v1. */
  readonly versions?: readonly ApiVersion[];
  /** All instruments of the registrar of the factories, each id once. */
  readonly instruments: (factories: Factories<P>, context: RequestContext) => readonly ListedInstrument[];
  /** The values of a choice context by their keys; those that are undefined are left out. Default: none. */
  readonly context?: (request: ContextRequest, operation: Operation) => Readonly<Record<string, AnyValue | undefined>>;
  /** Whether a transfer is direct; default: the receiver gets an offer. Not called for one to its sender. */
  readonly isDirect?: (request: ContextRequest) => boolean;
}

/** `otherIds` are none if it is absent. */
export type ListedInstrument = Omit<Instrument, "otherIds"> & Partial<Pick<Instrument, "otherIds">>;

/** The registry of a definition: the default export of a module that OFFLEDGER_REGISTRY names. */
export function defineRegistry<P>(definition: RegistryDefinition<P>): Registry {
  const { name, factory: template, templates = [], versions = ["v1"], context: write, isDirect, ...given } = definition;
  const { instruments: list, ...replaced } = given;

  const factoriesOf = (context: RequestContext, registrar: string): Factories<P> => {
    const [first, ...others] = validNow(context, allOf(template, context.view, registrar));
    if (first !== undefined) return [first, ...others];
    throw refuse(
      "registrar-not-served",
      `registrar ${registrar} is not served here: no ${template.qualifiedName} of that party is known`,
      { registrar, template: template.qualifiedName },
    );
  };
  const instruments: Registry["instruments"] = (context, registrar) =>
    list(factoriesOf(context, registrar), context).map((one) => Object.assign({ otherIds: [] }, one));

  const contextOf = (operation: Operation, ...first: readonly ContextLine[]): ContextDefinition => ({
    lines: [
      ...first,
      {
        name: operation,
        keys: [],
        required: !/\/(?:reject|withdraw|cancel)$/.test(operation),
        write(builder, selector, subject, required) {
          if (subject.factory !== undefined) builder.disclose(subject.factory);
          const values = write?.(contextRequest(builder, selector, subject, required), operation) ?? {};
          for (const [key, value] of Object.entries(values)) if (value !== undefined) builder.set([key], value);
        },
      },
    ],
    selector: tableSelector,
  });

  const factory = (context: RequestContext, query: FactoryQuery, subject: RequestSubject, asked: ContextDefinition) => {
    const { registrar } = query;
    return answerWithFactory(context, {
      definition: asked,
      group: groupOf(registrar),
      factories: factoriesOf(context, registrar),
      needed: () => neededContract(`the factory of registrar ${registrar}`, { registrar }),
      targetSynchronizer: targetSynchronizerOf(query),
      subject,
    });
  };

  return {
    name,
    templates: [template, ...templates],
    supportedApis: tokenStandardApis(...versions),
    instruments,
    transferFactory(context, query) {
      const subject = transferSubject(transferArguments(query));
      let transferKind: TransferKind = subject.isSelf === true ? "self" : "offer";
      const decide: ContextLine = {
        name: "direct",
        keys: [],
        required: false,
        write(...request) {
          transferKind = isDirect?.(contextRequest(...request)) === true ? "direct" : "offer";
        },
      };
      const first = subject.isSelf === true || isDirect === undefined ? [] : [decide];
      const found = factory(context, query, subject, contextOf("transfer-factory", ...first));
      return { ...found, transferKind, instrumentId: subject.instruments[0] };
    },
    allocationFactory: (context, query) =>
      factory(context, query, allocationSubject(query), contextOf("allocation-factory")),
    settlementFactory: (context, query) =>
      factory(context, query, settlementSubject(query), contextOf("settlement-factory")),
    choiceContext(context, choice, query) {
      const [kind = ""] = choice.split("/", 1);
      const ofKind = templates.filter((one): one is Template<TableFields> => "choices" in one && one.choices === kind);
      if (ofKind.length === 0) throw refuse("operation-not-supported", `the registry ${name} has no choice ${choice}`);
      const choices = { ...contextOf(choice), label: kind.replaceAll("-", " "), templates: ofKind };
      return answerChoice(
        context,
        choices,
        query,
        ({ fields }) => groupOf(fields.registrar ?? ""),
        () => undefined,
      );
    },
    inventory(view, { now }) {
      const context = backgroundContext(view, now);
      const parties = new Set(validNow(context, view.all(template)).flatMap(({ fields }) => fields.registrar ?? []));
      return {
        registrars: [...parties].map((party) => ({
          party,
          instruments: instruments(context, party).map(({ id }) => ({ source: party, id, scheme: name })),
        })),
        counts: view.templateCounts().map(({ template: { qualifiedName }, count }) => ({ qualifiedName, count })),
      };
    },
    ...([template, ...templates].some((one) => one.supplyContribution !== undefined) && {
      totalSupply({ view }: RequestContext, registrar: string, listed: readonly Instrument[]) {
        const { asOf } = view;
        const sums = view.sums(listed.map(({ id }) => supplyOf(registrar, id)));
        return sums.map((sum) => (asOf === undefined ? undefined : { total: decimalText(sum), asOf }));
      },
    }),
    ...replaced,
  };
}
