import type { Contract } from "../../domain/contract.js";
import type { Account } from "../account.js";
import type { EntryArguments, EntryPart, RequestSubject } from "../engine/choice-context.js";
import { allOf, validNow } from "../engine/entries.js";
import { lookupKey, type Named } from "../engine/templates.js";
import type { Needed } from "../needed.js";
import type { AnyValue, RequestContext } from "./registry.js";
import type { ContractFields, ModuleTemplate } from "./template.js";

/** What a function of a module adds to: one answer, whose contracts are all on one synchronizer. */
export interface ContextRequest extends Pick<RequestSubject, "instruments" | "contract"> {
  /** The contracts at one offset, and the time. */
  readonly context: RequestContext;
  readonly registrar: string;
  /**
   * Parties by role: `sender` and `receiver` of a transfer or of the leg of an allocation (of version 2 its authorizer is the
   * sender), `holder` whose holdings are minted or burned, `provider`, `executor`, and those that a template names. Never those
   * of special accounts.
   */
  readonly parties: Named<string>;
  /** Accounts of version 2: `own` are those of the parties who act. */
  readonly accounts: Named<Account>;
  /** Contract ids by what they are of: `locked` holdings, input `holdings`, `allocations`, and those that a template names. */
  readonly contractIds: Named<string>;
  /**
   * The newest contract of the registrar that is valid now and on the synchronizer of the answer. `by`: the values at the
   * paths of one of the template's look-ups. Without one it returns undefined, and the answer is refused as a whole, with all
   * that is missing; if it is `optional`, or the choice only ends something, it is refused only for a contract in reassignment.
   */
  readonly find: <P>(
    template: ModuleTemplate<P>,
    by?: Values,
    options?: FindOptions,
  ) => Contract<ContractFields<P>> | undefined;
  /** As `find`, by its contract id. */
  readonly findById: <P>(
    template: ModuleTemplate<P>,
    contractId: string,
    options?: FindOptions,
  ) => Contract<ContractFields<P>> | undefined;
  /** The contract id as a value. The contract is then disclosed. */
  readonly reference: (contract: Contract) => AnyValue;
  /** Discloses a contract, which must be on the synchronizer of the answer. */
  readonly disclose: (contract: Contract) => void;
}

type Values = Readonly<Record<string, string>>;

export interface FindOptions {
  readonly optional?: boolean;
}

/** An entry of a choice context: its value, or undefined, which leaves it out. Pure and synchronous. */
export type ContextFunction = (request: ContextRequest) => AnyValue | undefined;

/** As a part of a table. */
export const moduleEntry = (write: ContextFunction): EntryPart => ({
  value: (...line) => write(contextRequest(...line)),
  disclose: (...line) => void write(contextRequest(...line)),
});

export function contextRequest(...[builder, selector, subject, isRequired]: EntryArguments): ContextRequest {
  const { context, registrar } = selector;
  const { instruments, roles: parties, accounts = {}, refs: contractIds = {} } = subject;
  const select = <P>(
    template: ModuleTemplate<P>,
    found: readonly Contract<ContractFields<P>>[],
    { optional = false }: FindOptions,
    needed: Pick<Needed, "name" | "contractId">,
  ) => {
    const { qualifiedName, kind = "contract" } = template;
    if (optional && found.length === 0)
      selector.noteNegative({
        templates: [template],
        contractId: needed.contractId,
        entry: qualifiedName,
        mayBeAhead: needed.contractId !== undefined && subject.hasOwnRefs === true,
      });
    return selector.selectOfGroup(found, isRequired && !optional, {
      ...needed,
      kind,
      registrar,
      template: qualifiedName,
    });
  };
  return {
    context,
    registrar,
    instruments,
    parties,
    accounts,
    contractIds,
    contract: subject.contract,
    find(template, by = {}, options = {}) {
      const [paths, values] = [Object.keys(by), Object.values(by)];
      const key = lookupKey(paths, template.hasRegistrar ? registrar : "", values);
      const all = paths.length === 0 ? allOf(template, context.view, registrar) : context.view.byKey(template, key);
      const of = values.length === 0 ? `of registrar ${registrar}` : `for ${values.join(", ")}`;
      return select(template, validNow(context, all), options, { name: `the ${template.qualifiedName} ${of}` });
    },
    findById(template, contractId, options = {}) {
      const found = context.view.byId(template, contractId);
      const name = `the ${template.qualifiedName} ${contractId}`;
      return select(template, found === undefined ? [] : [found], options, { name, contractId });
    },
    reference: (contract) => builder.reference(contract),
    disclose: (contract) => builder.disclose(contract),
  };
}
