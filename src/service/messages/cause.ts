import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CauseSchema } from "../../../gen/offledger/refusal/v1/refusal_pb.js";
import type { Cause } from "../../domain/errors.js";

/** The message for a cause. Strings are made fit for protobuf, which cannot encode lone surrogates. */
export function causeMessage(cause: Cause): MessageInitShape<typeof CauseSchema> {
  return {
    code: cause.code,
    message: cause.message.toWellFormed(),
    registrar: text(cause.registrar),
    instrument: text(cause.instrument),
    party: text(cause.party),
    issuer: text(cause.issuer),
    claims: (cause.claims ?? []).map(({ property, value }) => ({ property: text(property), value: text(value) })),
    contractId: text(cause.contractId),
    template: text(cause.template),
    synchronizers: (cause.synchronizers ?? []).map(text),
    field: text(cause.field),
    limit: text(cause.limit),
    maximum: cause.maximum ?? 0,
  };
}

const text = (value: string | undefined): string => value?.toWellFormed() ?? "";
