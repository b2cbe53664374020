/** Whether a client has the content already: If-None-Match (RFC 9110, 13.1.2), by weak comparison. */
export function isUnmodified(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = withoutWeakness(etag);
  return ifNoneMatch.split(",").some((item) => {
    const one = item.trim();
    return one === "*" || withoutWeakness(one) === opaque;
  });
}

const withoutWeakness = (etag: string): string => etag.replace(/^W\//, "");
