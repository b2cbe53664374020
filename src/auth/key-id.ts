/** Base64url of `{"alg":"RS256","kid":"…"}` and a few more members. A longer header is left to jose. */
const MAX_HEADER_LENGTH = 1_024;

/** The `kid` in the header of a token (RFC 7515), which nothing has verified; undefined where it has none. */
export function keyIdOf(token: string): string | undefined {
  const end = token.indexOf(".");
  if (end <= 0 || end > MAX_HEADER_LENGTH) return undefined;
  try {
    const header: unknown = JSON.parse(Buffer.from(token.slice(0, end), "base64url").toString());
    const keyId = typeof header === "object" && header !== null && "kid" in header ? header.kid : undefined;
    return typeof keyId === "string" ? keyId : undefined;
  } catch {
    return undefined;
  }
}
