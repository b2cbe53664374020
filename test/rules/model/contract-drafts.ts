/** Random contracts in general: where they are, of which release, and which optional fields they have. */
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../../src/domain/json.js";
import type { Template } from "../../fixtures/elements.js";
import { synchronizers } from "./names.js";

/** A contract before it has an id. */
export interface ContractDraft {
  readonly template: Template;
  readonly payload: JsonObject;
  readonly placement: Placement;
  /** The holding that an instruction locks: created with it. Its contract id is written into the payload. */
  readonly locks: LockedHolding | undefined;
}

export interface Placement {
  /** From 0 to 4: the five releases of the specification, each with its own packages. */
  readonly release: number;
  readonly createdAt: string;
  /** Undefined: in reassignment. */
  readonly synchronizerId: string | undefined;
  /** Before the number of the contract in its id: the order of ids is not that of creation. */
  readonly idPrefix: string;
  /** Whether its package has another name than that of the Registry Utility. */
  readonly isLookalike: boolean;
}

export interface LockedHolding {
  /** Where it is: with its instruction, elsewhere, or nowhere. */
  readonly place: "same" | "other" | "moving" | "gone";
  readonly isLocked: boolean;
}

export const often = <T>(value: T, other: fc.Arbitrary<T>, weight: number): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: other });

/** Few times, of which some are equal: the second and the third are one instant. */
const createdAt = fc.constantFrom(
  "2026-01-05T09:00:00.000000Z",
  "2026-02-05T09:00:00.5Z",
  "2026-02-05T09:00:00.500000Z",
  "2026-02-05T09:00:00.500001Z",
);
const [syncA, syncB] = synchronizers;
const placement: fc.Arbitrary<Placement> = fc.record({
  release: fc.nat({ max: 4 }),
  createdAt,
  synchronizerId: fc.oneof(
    { weight: 14, arbitrary: fc.constant<string | undefined>(syncA) },
    { weight: 2, arbitrary: fc.constant(syncB) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  ),
  idPrefix: fc.constantFrom("00a", "00b", "00c"),
  isLookalike: often(false, fc.constant(true), 40),
});

export const lockedHolding: fc.Arbitrary<LockedHolding> = fc.record({
  place: often("same", fc.constantFrom("other", "moving", "gone"), 10),
  isLocked: often(true, fc.constant(false), 20),
});

/** An optional field at the end of a payload: absent before the release that brought it, and then absent, null or set. */
export const trailing = (
  { release }: Placement,
  since: number,
  name: string,
  value: JsonValue | undefined,
): JsonObject => (release < since || value === undefined ? {} : { [name]: value });

export const optional = <T extends JsonValue>(value: fc.Arbitrary<T>): fc.Arbitrary<JsonValue | undefined> =>
  fc.oneof(
    { weight: 2, arbitrary: value },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );

export function draft<T>(
  template: Template,
  fields: fc.Arbitrary<T>,
  payload: (fields: T, placement: Placement) => JsonObject,
  locks: fc.Arbitrary<LockedHolding | undefined> = fc.constant(undefined),
): fc.Arbitrary<ContractDraft> {
  return fc.record({ fields, placement, locks }).map((drawn) => ({
    template,
    payload: payload(drawn.fields, drawn.placement),
    placement: drawn.placement,
    locks: drawn.locks,
  }));
}
