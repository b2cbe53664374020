import type { Contract } from "../../../domain/contract.js";
import type { Template } from "../../../domain/template.js";
import { registrarHash } from "../../lookup-hash.js";
import type { TemplateCount, View } from "../../port.js";
import type { Version } from "./fetch.js";
import { EMPTY_RESULT, type Lookup, type LookupResult } from "./lookups.js";

/** Results of lookups, all of one version. */
export interface LookupSource {
  readonly version: Version;
  byId(contractId: string): LookupResult | undefined;
  byIndexKey(indexKey: string): LookupResult | undefined;
  get(lookup: Lookup): LookupResult | undefined;
}

/** What a run returns that has missed a lookup. */
export const INCOMPLETE = Symbol("incomplete");

/** Ends a run that does not count any more. */
class LookupMiss extends Error {
  constructor() {
    super("a lookup has not been fetched");
    this.name = "LookupMiss";
  }
}

/** The view of one run. It notes the lookups that the source lacks. */
export class LookupView implements View {
  readonly offset: number;
  readonly asOf: number | undefined;
  readonly #source: LookupSource;
  readonly #endsAtMiss: boolean;
  readonly #missing: Lookup[] = [];
  #hasEnded = false;

  /** By default a contract that the source lacks is not found, and the run goes on. `endsAtMiss`: it ends the run. */
  constructor(source: LookupSource, endsAtMiss = false) {
    this.#source = source;
    this.#endsAtMiss = endsAtMiss;
    this.offset = source.version.offset;
    this.asOf = source.version.asOf;
  }

  /** What `use` returns or throws, once. If it has missed a lookup, neither counts: INCOMPLETE. */
  run<T>(use: (view: View) => T): T | typeof INCOMPLETE {
    try {
      const value = use(this);
      return this.#missing.length === 0 ? value : INCOMPLETE;
    } catch (error) {
      if (this.#missing.length === 0) throw error;
      return INCOMPLETE;
    } finally {
      this.#hasEnded = true;
    }
  }

  /** The lookups that were missed, some perhaps several times. */
  get missing(): readonly Lookup[] {
    return this.#missing;
  }

  get generation(): string {
    return String(this.#source.version.generation);
  }

  byId<F>(template: Template<F>, contractId: string): Contract<F> | undefined {
    const [contract] = (this.#open().byId(contractId) ?? this.#miss({ by: "id", contractId })).contracts;
    // The fields of a contract are those of its template.
    return contract?.template === template ? (contract as Contract<F>) : undefined;
  }

  byKey<F>(template: Template<F>, key: string): readonly Contract<F>[] {
    const { contracts } = this.#open().byIndexKey(key) ?? this.#miss({ by: "indexKey", indexKey: key });
    // Two templates rarely share a key: return the list itself where possible.
    for (const contract of contracts) {
      if (contract.template !== template) return contracts.filter((one) => one.template === template) as Contract<F>[];
    }
    return contracts as readonly Contract<F>[];
  }

  all<F>(template: Template<F>): readonly Contract<F>[] {
    const [result] = this.#complete([{ by: "template", template }]);
    return (result?.contracts ?? []) as readonly Contract<F>[];
  }

  wasArchived(contractId: string, registrar?: string): boolean {
    const [result = EMPTY_RESULT] = this.#complete([{ by: "id", contractId }]);
    return result.wasArchived && (registrar === undefined || result.archivedRegistrar === registrarHash(registrar));
  }

  templateCounts(): readonly TemplateCount[] {
    const [result] = this.#complete([{ by: "templateCounts" }]);
    return result?.templateCounts ?? [];
  }

  sums(names: readonly string[]): readonly bigint[] {
    return this.#complete(names.map((sum) => ({ by: "sum", sum }))).map(({ amount }) => amount);
  }

  /** Of results that must not be computed with, or are large: ends the run if anything is missing. */
  #complete(lookups: readonly Lookup[]): readonly LookupResult[] {
    const source = this.#open();
    const results = lookups.map((lookup) => source.get(lookup) ?? this.#miss(lookup));
    if (this.#missing.length > 0) throw new LookupMiss();
    return results;
  }

  #miss(lookup: Lookup): LookupResult {
    this.#missing.push(lookup);
    if (this.#endsAtMiss) throw new LookupMiss();
    return EMPTY_RESULT;
  }

  #open(): LookupSource {
    if (this.#hasEnded) throw new Error("a view of the store was used after its read had ended");
    return this.#source;
  }
}
