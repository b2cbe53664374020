import { formatValue } from "../domain/errors.js";

/** A content type in lower case without parameters, for example `application/json`; empty if the header is absent. */
export function mediaTypeOf(contentType = ""): string {
  const [mediaType = ""] = contentType.split(";", 1);
  return mediaType.trim().toLowerCase();
}

/** What is wrong with the charset of a JSON body; undefined if it is UTF-8, which JSON is without the parameter. */
export function charsetProblem(contentType = ""): string | undefined {
  const [, charset = "utf-8"] = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(contentType) ?? [];
  return /^utf-?8$/i.test(charset)
    ? undefined
    : `the charset of the body must be utf-8, but is ${formatValue(charset)}`;
}
