import type { Contract } from "../../domain/contract.js";
import type { Template } from "../../domain/template.js";
import type { ContextLine } from "../engine/choice-context.js";
import { allOf, validNow } from "../engine/entries.js";
import { standardRegistry } from "../engine/standard-registry.js";
import { standardChoices } from "../engine/table.js";
import type { TableFields } from "../engine/templates.js";
import { notServed } from "../needed.js";
import { type Factory, isExit } from "../operation-names.js";
import type { AnyValue, ApiVersion, Choice, Instrument, Registry, RequestContext } from "./registry.js";
import { type ContextRequest, contextRequest } from "./request.js";
import type { ContractFields, ModuleTemplate } from "./template.js";

/** An operation of the token standard: a factory, or a choice. */
export type Operation = Factory | Choice;

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
  const { name, factory: template, templates = [], versions, context: write, isDirect, ...given } = definition;
  const { instruments: list, ...replaced } = given;

  const factoriesOf = (context: RequestContext, registrar: string): Factories<P> => {
    const [first, ...others] = validNow(context, allOf(template, context.view, registrar));
    if (first !== undefined) return [first, ...others];
    throw notServed(registrar, template);
  };
  const linesOf = (operation: Operation): readonly ContextLine[] => [
    {
      name: operation,
      keys: [],
      required: !isExit(operation),
      write(...line) {
        const [builder, , { factory }] = line;
        if (factory !== undefined) builder.disclose(factory);
        const values = write?.(contextRequest(...line), operation) ?? {};
        for (const [key, value] of Object.entries(values)) if (value !== undefined) builder.set([key], value);
      },
    },
  ];
  const ofKind = (kind: string) =>
    templates.filter((one): one is Template<TableFields> => "choices" in one && one.choices === kind);

  return {
    ...standardRegistry({
      name,
      templates: [template, ...templates],
      versions,
      instruments: (context, registrar) =>
        list(factoriesOf(context, registrar), context).map((one) => Object.assign({ otherIds: [] }, one)),
      allFactories: (context) => validNow(context, context.view.all(template)),
      factories: (context, registrar) => ({ factories: factoriesOf(context, registrar) }),
      lines: linesOf,
      choices: standardChoices(ofKind, linesOf),
      isDirect: isDirect && ((...line) => isDirect(contextRequest(...line))),
    }),
    ...replaced,
  };
}
