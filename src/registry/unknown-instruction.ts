import { notFound, type RegistryError } from "../domain/errors.js";
import type { View } from "../store/port.js";

/** The "not-found" for an instruction that was archived, or that is not known. */
export function unknownInstruction(
  view: View,
  registrar: string | undefined,
  label: string,
  contractId: string,
): RegistryError {
  const of = registrar === undefined ? "" : ` of registrar ${registrar}`;
  const about = { contractId, registrar };
  return view.wasArchived(contractId, registrar)
    ? notFound(`${label} ${contractId}${of} has been archived`, { code: "instruction-archived", about })
    : notFound(`${label} ${contractId}${of} is not known here: it does not exist or has been archived`, {
        code: "instruction-unknown",
        about,
      });
}
