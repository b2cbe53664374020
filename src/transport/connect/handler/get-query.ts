/**
 * What is wrong with the query of a Connect GET; undefined if nothing is. connect-es takes a missing message for an
 * empty one, and does not say what is missing.
 */
export function queryProblem(url: string): string | undefined {
  const { search, searchParams } = new URL(url);
  const missing = ["encoding", "message"].filter((name) => !searchParams.has(name));
  if (missing.length > 0) {
    const names = missing.join(" and ");
    return `a GET must have the query parameters encoding (json or proto) and message, but lacks ${names}; or use POST`;
  }
  return isUtf8(search) ? undefined : "the query must be percent-encoded UTF-8, but has other bytes";
}

/** The parser of URLs replaces what is not UTF-8. */
function isUtf8(search: string): boolean {
  try {
    decodeURIComponent(search.replaceAll(/%(?![\da-f]{2})/gi, "%25"));
    return true;
  } catch {
    return false;
  }
}
