/** Requests to try, as commands to paste into a shell. */

/** A curl command for the instruments of a registrar, from the service at a URL without a trailing slash. */
export const instrumentsCommand = (url: string, registrar: string): string =>
  `curl '${registryUrl(url, registrar)}/metadata/v1/instruments'`;

/** The base URL of the operations of a registrar, for a word in single quotes. */
export function registryUrl(url: string, registrar: string): string {
  // A party id may contain any character: encode what a URL and single quotes of a shell do not allow.
  const party = encodeURI(registrar).replaceAll("'", "%27").replaceAll(/[?#]/g, encodeURIComponent);
  return `${url}/api/token-standard/v0/registrars/${party}/registry`;
}
