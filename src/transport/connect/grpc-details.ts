// The details of an error as gRPC and gRPC-Web send them: in a header, where there is less room than in a body.
import { create, toBinary } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { type Refusal, RefusalSchema } from "../../../gen/offledger/refusal/v1/refusal_pb.js";
import { fitRefusal } from "../errors.js";

/**
 * In google.rpc.Status. They leave 1 KiB to the message: see grpc-status.ts. ErrorInfo, RetryInfo and BadRequest together
 * never have more: see errors.ts.
 */
const MAX_DETAILS_BYTES = 3_184;
/** Tags and lengths of a detail, its type and its value, and the prefix of the type. */
const OVERHEAD_BYTES = 10 + "type.googleapis.com/".length;

interface EncodedDetail {
  readonly type: string;
  readonly value: Uint8Array;
}

interface GrpcDetails {
  readonly details: EncodedDetail[];
  /** What they take in google.rpc.Status. */
  readonly bytes: number;
}

/** The details of an error; of its causes, those that fit. */
export function grpcDetails(error: ConnectError): GrpcDetails {
  const details = error.details.map(encode);
  const bytes = sizeOf(details);
  const [refusal] = error.findDetails(RefusalSchema);
  if (bytes <= MAX_DETAILS_BYTES || refusal === undefined) return { details, bytes };
  const others = details.filter(({ type }) => type !== RefusalSchema.typeName);
  const room = MAX_DETAILS_BYTES - sizeOf([...others, encodeRefusal(create(RefusalSchema))]);
  const fitting = [...others, encodeRefusal(fitRefusal(refusal, room))];
  return { details: fitting, bytes: sizeOf(fitting) };
}

const encodeRefusal = (value: Refusal): EncodedDetail => encode({ desc: RefusalSchema, value });

function encode(detail: ConnectError["details"][number]): EncodedDetail {
  if ("type" in detail) return detail;
  const { desc, value } = detail;
  return { type: desc.typeName, value: toBinary(desc, create(desc, value)) };
}

const sizeOf = (details: readonly EncodedDetail[]): number =>
  details.reduce((sum, { type, value }) => sum + OVERHEAD_BYTES + type.length + value.length, 0);
