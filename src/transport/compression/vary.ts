const ACCEPT_ENCODING = "Accept-Encoding";

/** `Vary` of a response that may be compressed, together with what hooks have set. */
export function varyByEncoding(header: string | number | readonly string[] | undefined): string {
  if (header === undefined) return ACCEPT_ENCODING;
  const present = typeof header === "object" ? header.join(", ") : String(header);
  const names = new Set(present.split(",").map((name) => name.trim().toLowerCase()));
  return names.has("*") || names.has(ACCEPT_ENCODING.toLowerCase()) ? present : `${present}, ${ACCEPT_ENCODING}`;
}
