/** Converts an event format into a filter of contracts. */
import type { Contract } from "./entries.js";
import { refusal } from "./errors.js";
import { DecodingError } from "./json-decoding.js";
import type { EventFormat, Filters, IdentifierFilter } from "./messages.js";

export interface Sight {
  readonly witnesses: string[];
  readonly withBlob: boolean;
}

/** Returns how a contract is shown; undefined if it is not. `seenBy` defaults to its stakeholders. */
export type Filter = (contract: Contract, seenBy?: readonly string[]) => Sight | undefined;

/** Returns whether a matching contract is shown with its blob; undefined if it does not match. */
type Match = (contract: Contract) => boolean | undefined;

/**
 * A contract is shown if a requested party sees it and one of that party's filters matches. Throws a Refusal if the
 * format is invalid or has an interface filter, which is not supported.
 */
export function filterOf(format: EventFormat, packageNames?: ReadonlySet<string>): Filter {
  const byParty = Object.entries(format.filtersByParty ?? {}).map(
    ([party, filters]) => [party, matchesOf(filters, packageNames)] as const,
  );
  const anyParty = format.filtersForAnyParty === undefined ? [] : matchesOf(format.filtersForAnyParty, packageNames);
  const malformed = byParty.find(([party]) => !/^[\w:\- ]+$/.test(party));
  if (malformed !== undefined) {
    throw refusal("INVALID_ARGUMENT", `non expected character in Daml-LF Party "${malformed[0]}"`);
  }
  if (byParty.length === 0 && format.filtersForAnyParty === undefined) {
    throw refusal("INVALID_ARGUMENT", "filtersByParty and filtersForAnyParty cannot be empty simultaneously");
  }
  return (contract, seenBy = [...contract.signatories, ...contract.observers]) => {
    const found = [
      ...byParty.filter(([party]) => seenBy.includes(party)),
      ...seenBy.map((party) => [party, anyParty] as const),
    ].flatMap(([party, matches]) => {
      const matched = matches.map((match) => match(contract)).filter((blob) => blob !== undefined);
      return matched.length === 0 ? [] : [{ party, withBlob: matched.includes(true) }];
    });
    if (found.length === 0) return undefined;
    return {
      witnesses: [...new Set(found.map(({ party }) => party))],
      withBlob: found.some(({ withBlob }) => withBlob),
    };
  };
}

function matchesOf({ cumulative = [] }: Filters, packageNames: ReadonlySet<string> | undefined): Match[] {
  if (cumulative.length === 0) return [() => false];
  return cumulative.map(({ identifierFilter }) => matchOf(identifierFilter ?? { Empty: {} }, packageNames));
}

function matchOf(filter: IdentifierFilter, packageNames: ReadonlySet<string> | undefined): Match {
  if ("Empty" in filter) return () => false;
  if ("WildcardFilter" in filter) return () => filter.WildcardFilter.value.includeCreatedEventBlob ?? false;
  if ("InterfaceFilter" in filter) {
    throw refusal("INVALID_ARGUMENT", "the scripted participant does not support interface filters");
  }
  const { templateId, includeCreatedEventBlob = false } = filter.TemplateFilter.value;
  const [, hash, packageReference = "", entity = ""] = /^(#?)([^:]+):([\w.]+:\w+)$/.exec(templateId) ?? [];
  if (entity === "") {
    throw new DecodingError(["templateId", malformedTemplate(templateId)]);
  }
  if (hash === "#" && packageNames?.has(packageReference) === false) {
    throw refusal(
      "PACKAGE_NAMES_NOT_FOUND",
      `The following package names do not match upgradable packages uploaded on this participant: [${packageReference}].`,
    );
  }
  return (contract) => {
    const [packageId, ...own] = contract.templateId.split(":");
    const isOf = (hash === "#" ? contract.packageName : packageId) === packageReference && own.join(":") === entity;
    return isOf ? includeCreatedEventBlob : undefined;
  };
}

export const malformedTemplate = (id: string): string =>
  `Invalid identifier format (${id}) not matching the expected format (<package>:<moduleName>:<entityName>)`;
