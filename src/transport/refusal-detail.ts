// The detail offledger.refusal.v1.Refusal of errors over Connect, gRPC and gRPC-Web. It is bounded: see error-details.ts.
import { create, toBinary } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { CauseSchema, RefusalSchema } from "../../gen/offledger/refusal/v1/refusal_pb.js";
import type { Cause } from "../domain/cause.js";
import { causeMessage } from "../service/cause.js";

/** Such an error has no violations of fields, which may take as much. */
const MAX_BYTES = 896;
/** Tag and length of a cause. */
const FRAMING_BYTES = 3;

/** The causes that fit, without their messages: the error has them. */
export function refusalDetail(causes: readonly Cause[]): ConnectError["details"][number] {
  const kept = [];
  let bytes = 0;
  for (const cause of causes) {
    const message = create(CauseSchema, { ...causeMessage(cause), message: "" });
    bytes += FRAMING_BYTES + toBinary(CauseSchema, message).length;
    if (bytes > MAX_BYTES) break;
    kept.push(message);
  }
  return { desc: RefusalSchema, value: { causes: kept, omitted: causes.length - kept.length } };
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
