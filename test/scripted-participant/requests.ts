/** Reads the JSON of requests by the published documents. */
import { z } from "zod";
import type { JsonValue } from "../../src/util/json.js";
import { refusal } from "./errors.js";
import type {
  ActiveContractsRequest,
  EventsRequest,
  UpdateByIdRequest,
  UpdateByOffsetRequest,
  UpdatesRequest,
} from "./messages.js";

/** What a participant says of a value of another type. */
const expecting = (type: string) => ({
  error: ({ input }: { readonly input: unknown }) =>
    input === undefined
      ? "Missing required field"
      : `Got value '${JSON.stringify(input)}' with wrong type, expecting ${type}`,
});

export const text = z.string(expecting("string"));
export const flag = z.boolean(expecting("'true' or 'false'"));
export const list = <T extends z.ZodType>(item: T) => z.array(item, expecting("array"));
export const object = <S extends z.ZodRawShape>(shape: S) => z.object(shape, expecting("object"));
export const anyObject = z.record(z.string(), z.json(), expecting("object"));

/** A JSON number, or its text. */
export const long = z
  .union([z.string().min(1), z.number()], {
    error: ({ input }) => (input === undefined ? "Missing required field" : "Long"),
  })
  .transform(Number)
  .refine(Number.isSafeInteger, "Long");

/** A field that may be absent or null. */
export const maybe = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);

const withBlob = { includeCreatedEventBlob: maybe(flag) };
const identifierFilter = object({
  TemplateFilter: object({ value: object({ templateId: text, ...withBlob }) }).optional(),
  WildcardFilter: object({ value: object(withBlob) }).optional(),
  InterfaceFilter: object({
    value: object({ interfaceId: text, includeInterfaceView: maybe(flag), ...withBlob }),
  }).optional(),
  Empty: object({}).optional(),
}).refine((filter) => Object.keys(filter).length > 0, "JSON decoding to CNil should never happen");
const filters = object({ cumulative: maybe(list(object({ identifierFilter: maybe(identifierFilter) }))) });
const eventFormat = object({
  filtersByParty: maybe(z.record(z.string(), filters, expecting("object"))),
  filtersForAnyParty: maybe(filters),
  verbose: maybe(flag),
});
const shapes = ["TRANSACTION_SHAPE_UNSPECIFIED", "TRANSACTION_SHAPE_ACS_DELTA", "TRANSACTION_SHAPE_LEDGER_EFFECTS"];
const updateFormat = object({
  includeTransactions: maybe(object({ eventFormat, transactionShape: z.enum(shapes, "Unrecognized enum value") })),
  includeReassignments: maybe(eventFormat),
});

/** Required by the published document, and 0 by default on the recorded participant. */
const beginning = maybe(long).transform((value) => value ?? 0);

const schemas = {
  activeContracts: object({ activeAtOffset: beginning, eventFormat: maybe(eventFormat) }),
  updates: object({
    beginExclusive: beginning,
    endInclusive: maybe(long),
    updateFormat: maybe(updateFormat),
    descendingOrder: maybe(flag),
  }),
  events: object({ contractId: text, eventFormat: maybe(eventFormat) }),
  updateById: object({ updateId: text, updateFormat }),
  updateByOffset: object({ offset: long, updateFormat }),
};

export function activeContractsRequest(body: JsonValue): ActiveContractsRequest {
  const request = read(schemas.activeContracts, body) as ActiveContractsRequest;
  checkOffset(request.activeAtOffset, "activeAtOffset");
  return request;
}

export function updatesRequest(body: JsonValue): UpdatesRequest {
  const request = read(schemas.updates, body) as UpdatesRequest;
  if (request.descendingOrder === true)
    throw refusal("INVALID_ARGUMENT", "the participant for tests knows no descending order");
  checkOffset(request.beginExclusive, "beginExclusive");
  checkOffset(request.endInclusive ?? 0, "endInclusive");
  return request;
}

export function eventsRequest(body: JsonValue): EventsRequest {
  const request = read(schemas.events, body);
  if (request.eventFormat !== undefined) return request as EventsRequest;
  throw refusal("MISSING_FIELD", "The submitted command is missing a mandatory field: event_format");
}

export function updateByIdRequest(body: JsonValue): UpdateByIdRequest {
  const request = read(schemas.updateById, body) as UpdateByIdRequest;
  const { updateId: id } = request;
  // An id is a hash. Any other form is rejected without a lookup.
  if (!/^[\w#:\-/ ]{1,255}$/.test(id)) throw refusal("INVALID_FIELD", `Invalid field update_id: ${id}`);
  if (!/^1220[0-9a-fA-F]{64}$/.test(id)) throw refusal("INVALID_ARGUMENT", `Failed to parse update id: ${id}`);
  return request;
}

export function updateByOffsetRequest(body: JsonValue): UpdateByOffsetRequest {
  const request = read(schemas.updateByOffset, body) as UpdateByOffsetRequest;
  if (request.offset > 0) return request;
  throw refusal("NON_POSITIVE_OFFSET", `Offset ${request.offset} in offset is not a positive integer`);
}

function checkOffset(offset: number, where: string): void {
  if (offset < 0) throw refusal("NEGATIVE_OFFSET", `Offset ${offset} in ${where} is a negative integer`);
}

export class DecodingError extends Error {
  override readonly name = "DecodingError";

  /** All that is wrong, each with the path of its field. */
  constructor(...problems: readonly (readonly [where: string, problem: string])[]) {
    const listed = problems.map(([where, problem]) => (where === "" ? problem : `${problem} at '${where}'`));
    super(`Invalid value for: body (${listed.join(", ")})`);
  }
}

export function read<S extends z.ZodType>(schema: S, body: JsonValue): z.infer<S> {
  const { data, error } = schema.safeParse(body);
  if (error === undefined) return data;
  throw new DecodingError(...error.issues.map(({ path, message }) => [pathOf(path), message] as const));
}

const pathOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((before, part) => {
    if (typeof part === "number") return `${before}[${part}]`;
    return before === "" ? String(part) : `${before}.${String(part)}`;
  }, "");

export function parse(body: string): JsonValue {
  try {
    // JSON.parse returns JSON values only.
    return JSON.parse(body) as JsonValue;
  } catch {
    throw new DecodingError(["", "exhausted input"]);
  }
}
