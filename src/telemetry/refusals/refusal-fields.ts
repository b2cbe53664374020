import { boundedCode, refusalCode, type Refusal } from "./refusal.js";

/** Longer than any party or contract id of Canton. */
const MAX_LENGTH = 256;
const MAX_LISTED = 10;

/**
 * What the log says of a refusal: the first cause without its message; of several causes their number and their codes,
 * each code once. Lengths are bounded.
 */
export function refusalFields(refusal: Refusal): object {
  const { causes } = refusal;
  const [first] = causes;
  const { registrar, instrument, party, issuer, claims, contractId, template, synchronizers } = first ?? {};
  return {
    code: refusalCode(refusal),
    // A logger leaves out what is undefined.
    causes: causes.length > 1 ? causes.length : undefined,
    codes: causes.length > 1 ? codesOf(causes) : undefined,
    registrar: cut(registrar),
    instrument: cut(instrument),
    party: cut(party),
    issuer: cut(issuer),
    claims: listed(claims?.map(({ property, value }) => `${property}=${value}`)),
    contractId: cut(contractId),
    template: cut(template),
    synchronizers: listed(synchronizers),
    field: cut(first?.field),
    limit: cut(first?.limit),
    maximum: first?.maximum,
  };
}

/** A settlement may lack hundreds of credentials: they have one code. */
const codesOf = (causes: Refusal["causes"]): readonly string[] =>
  [...new Set(causes.map(boundedCode))].slice(0, MAX_LISTED);

const cut = (text: string | undefined): string | undefined => text?.slice(0, MAX_LENGTH);
const listed = (texts: readonly string[] | undefined): readonly string[] | undefined =>
  texts?.slice(0, MAX_LISTED).map((text) => text.slice(0, MAX_LENGTH));
