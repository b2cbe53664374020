/** Random scripts: the contracts that a ledger begins with, and steps with requests after each. */
import fc from "fast-check";
import type { ContractDraft } from "./contract-drafts.js";
import { credential, preapproval } from "./credential-arbitraries.js";
import { instruction, oneOfEach } from "./instruction-arbitraries.js";
import { configurationOf, factoryOf, reward, right, ruleOf, serviceOf } from "./service-arbitraries.js";
import { instrument, registrar, registrars, synchronizers } from "./names.js";
import type { Step } from "./random-ledger.js";
import { request, type RequestDraft } from "./request-arbitraries.js";

export interface Script {
  readonly first: readonly ContractDraft[];
  readonly steps: readonly { readonly changes: readonly Step[]; readonly requests: readonly RequestDraft[] }[];
}

/** What a registrar needs to be served; each part is missing once in a while. */
const registryOf = (ownRegistrar: string): fc.Arbitrary<ContractDraft[]> => {
  const of = fc.constant(ownRegistrar);
  const parts = [
    factoryOf(of),
    serviceOf(of),
    configurationOf(of, fc.constant("USD")),
    configurationOf(of, fc.constant("EUR")),
    ruleOf(of),
  ].map((part) => fc.option(part, { freq: 15, nil: undefined }));
  return fc.tuple(...parts).map((drawn) => drawn.flatMap((part) => part ?? []));
};

/** The same on the second synchronizer, with a preapproval. */
const secondRegistryOf = (ownRegistrar: string): fc.Arbitrary<ContractDraft[]> =>
  fc.tuple(registryOf(ownRegistrar), preapproval).map(([parts, approval]) =>
    [...parts, approval].map((draft) => {
      const placement = { ...draft.placement, synchronizerId: synchronizers[1] };
      return Object.assign({}, draft, { placement });
    }),
  );

/** A contract of any template but the instructions. */
export const otherContract = fc.oneof(
  { weight: 5, arbitrary: credential },
  { weight: 2, arbitrary: configurationOf(registrar, instrument) },
  { weight: 1, arbitrary: factoryOf(registrar) },
  { weight: 1, arbitrary: ruleOf(registrar) },
  { weight: 1, arbitrary: serviceOf(registrar) },
  { weight: 2, arbitrary: preapproval },
  { weight: 1, arbitrary: reward },
  { weight: 1, arbitrary: right },
);

/** The contracts that a ledger begins with. */
export const first: fc.Arbitrary<ContractDraft[]> = fc
  .tuple(
    registryOf(registrars[0]),
    registryOf(registrars[1]),
    fc.option(secondRegistryOf(registrars[0]), { freq: 2, nil: [] }),
    fc.array(preapproval, { maxLength: 2 }),
    oneOfEach,
    fc.array(credential, { maxLength: 20 }),
    fc.array(otherContract, { maxLength: 8 }),
  )
  .map((parts) => parts.flat());

/** What happens to one contract. */
export const change: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant("create" as const), draft: fc.oneof(instruction, otherContract) }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("archive" as const), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("reassign" as const), which: fc.nat() }) },
);

export const script: fc.Arbitrary<Script> = fc
  .record({
    // An empty ledger, once in a while.
    first: fc.option(first, { freq: 12, nil: [] }),
    steps: fc.array(
      fc.record({
        changes: fc.array(change, { maxLength: 4 }),
        requests: fc.array(request, { minLength: 8, maxLength: 8 }),
      }),
      { minLength: 3, maxLength: 5 },
    ),
  })
  // The error of a failed run has the request and the ledger; the drafts say nothing more.
  .map((drawn) => Object.assign(drawn, { [fc.toStringMethod]: () => "a script" }));
