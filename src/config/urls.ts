/** Settings that are URLs, or the origins of web pages. */
import { type DatabaseUrl, readDatabaseUrl } from "../util/urls.js";
import { listOf, type Parser, Problem } from "./setting.js";

const RAW_CHARACTER = new Problem(
  "has a user, password or path with a character that must be percent-encoded: %25 for %, %40 for @, %23 for #, %2F for /, %3F for ?",
);
const UNUSABLE = new Problem(
  "is not understood: it must be postgresql://USER:PASSWORD@HOST:PORT/DATABASE with one host, " +
    "or postgresql://USER:PASSWORD@/DATABASE?host=DIRECTORY for a socket; USER and what follows it are optional",
);

/**
 * Whether an @ stands elsewhere than once before the host. A user or password with a raw /, ? or # would end there: its rest
 * would be taken for a path, and be shown.
 */
function isAmbiguous(text: string): boolean {
  const [, authority = "", rest = ""] = /^[^:]*:\/\/([^/\\?#]*)(.*)$/s.exec(text) ?? [];
  return authority.indexOf("@") !== authority.lastIndexOf("@") || rest.includes("@");
}

export const httpUrl: Parser<URL> = (given) => {
  if (!/^https?:\/\/[^/\\]/i.test(given)) return undefined;
  if (isAmbiguous(given)) return RAW_CHARACTER;
  if (!URL.canParse(given)) return undefined;
  const url = new URL(given);
  return isDecodable(url.username) && isDecodable(url.password) ? url : RAW_CHARACTER;
};

/** Published for everybody: fetch sends no user and password of a URL, and its error would show them. */
export const anonymousUrl: Parser<URL> = (given) => {
  const url = httpUrl(given);
  return url instanceof URL && url.username + url.password !== "" ? undefined : url;
};

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

export const postgresUrl: Parser<DatabaseUrl> = (given) => {
  if (!/^postgres(?:ql)?:\/\//i.test(given)) return undefined;
  // A fragment has no meaning here, and the driver would cut a password in the query.
  if (isAmbiguous(given) || given.includes("#")) return RAW_CHARACTER;
  try {
    return readDatabaseUrl(given) ?? UNUSABLE;
  } catch {
    return RAW_CHARACTER;
  }
};

/** Pages have none of these schemes. */
const NO_PAGES = /^(?:file|ftp|wss?):/;
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/(?:[\w-]+(?:\.[\w-]+)*|\[[\da-f:]+\])(?::\d{1,5})?$/i;

/**
 * An origin as browsers send it: scheme, host and port. `URL` knows those of http and https alone; extensions and packaged apps
 * have schemes of their own, and capitals in their hosts.
 */
function isOrigin(text: string): boolean {
  if (!ORIGIN.test(text) || NO_PAGES.test(text)) return false;
  if (/^https?:/i.test(text)) return URL.canParse(text) && new URL(text).origin === text;
  return /^[^A-Z]*:\/\//.test(text);
}

const originList = listOf(isOrigin);

/** `any`, `none`, or a list of origins. */
export const origins: Parser<"any" | "none" | readonly string[]> = (given) =>
  given === "any" || given === "none" ? given : originList(given);
