/** The details of errors, which are bounded when they are made: all but the causes of a refusal fit the headers of gRPC. */
import { create, toBinary } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import {
  CauseSchema,
  type Refusal as RefusalMessage,
  RefusalSchema,
} from "../../gen/offledger/refusal/v1/refusal_pb.js";
import type { Cause } from "../domain/errors.js";
import { causeMessage } from "../service/messages.js";

/** One wrong field of a request. */
export interface Violation {
  /** Its path in names of the proto files, as google.rpc prescribes; see proto/google/rpc. */
  readonly field: string;
  readonly description: string;
}

const DOMAIN = "offledger";
const MAX_VIOLATIONS = 20;
/** Of the field, and of the description. */
const MAX_VIOLATION_TEXT_BYTES = 256;
/** Together with the metadata they fit MAX_DETAILS_BYTES of rpc/errors.ts. */
const MAX_VIOLATIONS_BYTES = 1_024;
/** All fields of a cause take about 1,300 bytes with parties of 100 and contract ids of 138 characters. */
const MAX_METADATA_BYTES = 1_792;
const OMITTED = "omitted";
const MAX_OMITTED_BYTES = 256;
/** Tags and lengths around two strings. */
const FRAMING_BYTES = 10;

type Detail = ConnectError["details"][number];
/** What is undefined is left out. */
export type Metadata = Readonly<Record<string, string | undefined>>;

/** The reason of an error, with what is known of its cause. */
export function errorInfo(reason: string, metadata: Metadata): Detail {
  return { desc: ErrorInfoSchema, value: { reason, domain: DOMAIN, metadata: boundedMetadata(metadata) } };
}

export function boundedViolations(violations: readonly Violation[]): Violation[] {
  const kept: Violation[] = [];
  let bytes = 0;
  for (const violation of violations.slice(0, MAX_VIOLATIONS)) {
    const field = cut(violation.field, MAX_VIOLATION_TEXT_BYTES);
    const description = cut(violation.description, MAX_VIOLATION_TEXT_BYTES);
    bytes += FRAMING_BYTES + Buffer.byteLength(field) + Buffer.byteLength(description);
    if (bytes > MAX_VIOLATIONS_BYTES) break;
    kept.push({ field, description });
  }
  return kept;
}

/**
 * The values that fit, without names that google.rpc does not allow. The longest are left out first, and `omitted` names
 * them.
 */
function boundedMetadata(metadata: Metadata): Record<string, string> {
  const valid = Object.entries(metadata).filter(
    // A registry module may be plain JavaScript.
    (entry): entry is [string, string] => /^[a-zA-Z0-9_-]{1,64}$/.test(entry[0]) && typeof entry[1] === "string",
  );
  const sized = valid.map(([name, value]) => ({ name, bytes: FRAMING_BYTES + name.length + Buffer.byteLength(value) }));
  let bytes = 0;
  const omitted = new Set<string>();
  for (const one of sized.toSorted((left, right) => left.bytes - right.bytes)) {
    bytes += one.bytes;
    if (bytes > MAX_METADATA_BYTES) omitted.add(one.name);
  }
  const kept = valid.filter(([name]) => !omitted.has(name)).map(([name, value]) => [name, value.toWellFormed()]);
  if (omitted.size > 0) kept.push([OMITTED, cut([...omitted].join(", "), MAX_OMITTED_BYTES)]);
  return Object.fromEntries(kept) as Record<string, string>;
}

/** The fields of a cause for google.rpc.ErrorInfo, which every gRPC library decodes. */
export function metadataOf(cause: Cause): Metadata {
  const { claims, synchronizers, maximum, code: _code, message: _message, field: _field, ...texts } = cause;
  return {
    ...texts,
    claims: claims?.map(({ property, value }) => `${property} = ${value}`).join(", "),
    synchronizers: synchronizers?.join(", "),
    maximum: maximum?.toString(),
  };
}

/** The bounds of Connect, whose errors are in the body; rpc/errors.ts has those of gRPC. */
const MAX_CAUSES = 100;
const MAX_CAUSES_BYTES = 64 * 1024;
/** A cause has about 700 bytes at most, unless a registry module makes it. */
const MAX_CAUSE_BYTES = 2_048;
const CAUSE_FRAMING_BYTES = 3;
/** Tag and value of the number of omitted causes. */
const OMITTED_COUNT_BYTES = 6;

/** The first causes, without their messages: the error has them. */
export function causesDetail(all: readonly Cause[]): Detail {
  const causes = all.slice(0, MAX_CAUSES).map((cause) => create(CauseSchema, { ...causeMessage(cause), message: "" }));
  const refusal = create(RefusalSchema, { causes, omitted: all.length - causes.length });
  return { desc: RefusalSchema, value: fitRefusal(refusal, MAX_CAUSES_BYTES) };
}

/** The same with the causes that fit, in their order. One that does not fit leaves its room to the following ones. */
export function fitRefusal({ causes, omitted }: RefusalMessage, maxBytes: number): RefusalMessage {
  let room = maxBytes - OMITTED_COUNT_BYTES;
  const kept = causes.filter((cause) => {
    const size = CAUSE_FRAMING_BYTES + toBinary(CauseSchema, cause).length;
    if (size > room || size > MAX_CAUSE_BYTES) return false;
    room -= size;
    return true;
  });
  return create(RefusalSchema, { causes: kept, omitted: omitted + causes.length - kept.length });
}

/** The text, cut to a size in UTF-8. Lone surrogates, which protobuf cannot encode, become U+FFFD. */
export function cut(text: string, maxBytes: number, sizeOf = utf8Bytes): string {
  // No part is smaller than one byte for each of its units.
  const wellFormed = text.slice(0, maxBytes + 1).toWellFormed();
  if (text.length <= maxBytes && sizeOf(wellFormed) <= maxBytes) return wellFormed;
  let bytes = sizeOf(ELLIPSIS);
  let end = 0;
  for (const character of wellFormed) {
    bytes += sizeOf(character);
    if (bytes > maxBytes) break;
    end += character.length;
  }
  return wellFormed.slice(0, end) + ELLIPSIS;
}

const ELLIPSIS = "…";
const utf8Bytes = (text: string): number => Buffer.byteLength(text);
