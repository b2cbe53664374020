import type { Message } from "@bufbuild/protobuf";

/** The fields of requests that name a registrar. */
interface RegistrarFields {
  readonly registrarParty?: unknown;
  readonly registrar?: unknown;
  readonly instrumentId?: { readonly admin?: unknown } | undefined;
}

/** The registrar that a request names. Undefined if it names none: the response may rest on contracts of all registrars. */
export function registrarOf(request: Message): string | undefined {
  const { registrarParty, registrar, instrumentId } = request as Message & RegistrarFields;
  const named = registrarParty ?? registrar ?? instrumentId?.admin;
  return typeof named === "string" ? named : undefined;
}
