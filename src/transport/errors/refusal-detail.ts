// The detail offledger.refusal.v1.Refusal of errors over Connect, gRPC and gRPC-Web, and the metadata of ErrorInfo. The
// bounds here are those of Connect, whose errors are in the body; grpc-details.ts has those of gRPC.
import { create, toBinary } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { CauseSchema, type Refusal, RefusalSchema } from "../../../gen/offledger/refusal/v1/refusal_pb.js";
import type { Cause } from "../../domain/cause.js";
import { causeMessage } from "../../service/messages/cause.js";

const MAX_CAUSES = 100;
const MAX_BYTES = 64 * 1024;
/** A cause has about 700 bytes at most, unless a registry module makes it. */
const MAX_CAUSE_BYTES = 2_048;
/** Tag and length of a cause. */
const FRAMING_BYTES = 3;
/** Tag and value of the number of omitted causes. */
const OMITTED_BYTES = 6;

/** The first causes, without their messages: the error has them. */
export function refusalDetail(causes: readonly Cause[]): ConnectError["details"][number] {
  const first = causes
    .slice(0, MAX_CAUSES)
    .map((cause) => create(CauseSchema, { ...causeMessage(cause), message: "" }));
  const refusal = create(RefusalSchema, { causes: first, omitted: causes.length - first.length });
  return { desc: RefusalSchema, value: fitRefusal(refusal, MAX_BYTES) };
}

/** The same with the causes that fit, in their order. One that does not fit leaves its room to the following ones. */
export function fitRefusal({ causes, omitted }: Refusal, maxBytes: number): Refusal {
  let room = maxBytes - OMITTED_BYTES;
  const kept = causes.filter((cause) => {
    const size = FRAMING_BYTES + toBinary(CauseSchema, cause).length;
    if (size > room || size > MAX_CAUSE_BYTES) return false;
    room -= size;
    return true;
  });
  return create(RefusalSchema, { causes: kept, omitted: omitted + causes.length - kept.length });
}

/** The fields of a cause for google.rpc.ErrorInfo, which every gRPC library decodes. */
export function metadataOf(cause: Cause | undefined): Record<string, string> {
  if (cause === undefined) return {};
  const { registrar, instrument, party, issuer, claims, contractId, template, synchronizers, limit, maximum } = cause;
  const fields = {
    party,
    issuer,
    claims: claims?.map(({ property, value }) => `${property} = ${value}`).join(", "),
    contractId,
    template,
    synchronizers: synchronizers?.join(", "),
    instrument,
    registrar,
    limit,
    maximum: maximum?.toString(),
  };
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
