/** Which encodings a client accepts, by Accept-Encoding or grpc-accept-encoding. */
import { boundedMemoize } from "../../util/bounded-memoize.js";

/** The only encoding of responses. */
export const GZIP = "gzip";

// Clients send few different values.
const acceptsIn = boundedMemoize(parse);

/**
 * Whether a client accepts gzip and does not prefer the identity, by quality values (RFC 9110, 12.5.3). gRPC sends a list
 * without them. A client without the header gets the identity.
 */
export function acceptsGzip(header: string | readonly string[] | undefined): boolean {
  if (header === undefined) return false;
  return acceptsIn(typeof header === "string" ? header : header.join());
}

function parse(header: string): boolean {
  const qualities = new Map(header.split(",").map(parseItem));
  const gzip = qualities.get(GZIP) ?? qualities.get("x-gzip") ?? qualities.get("*") ?? 0;
  return gzip > 0 && gzip >= (qualities.get("identity") ?? 0);
}

/** `q=` with at most three decimals. An item whose quality is malformed is not accepted. */
function parseItem(item: string): [coding: string, quality: number] {
  const [coding = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
  if (quality === undefined) return [coding, 1];
  return [coding, /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(quality) ? Number(quality) : 0];
}
