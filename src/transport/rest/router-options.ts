/** Longest path parameter. Longer than any URL that Node.js accepts, so that the rules on fields decide. */
const MAX_PARAM_LENGTH = 64 * 1024;

/** How paths are matched. Clients join a base URL with a trailing slash and a path with a leading one. */
export const ROUTER_OPTIONS = {
  maxParamLength: MAX_PARAM_LENGTH,
  ignoreDuplicateSlashes: true,
  ignoreTrailingSlash: true,
} as const;
