/**
 * Whether a client has the content with this entity tag: RFC 9110, section 13.1.2. Weak comparison: tags name what an
 * answer says, not its bytes.
 */
export function matchesEtag(ifNoneMatch: string | readonly string[] | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = opaqueTag(etag);
  return String(ifNoneMatch)
    .split(",")
    .some((item) => {
      const one = item.trim();
      return one === "*" || opaqueTag(one) === opaque;
    });
}

const opaqueTag = (etag: string): string => (etag.startsWith("W/") ? etag.slice(2) : etag);
