/** Parsers of setting texts. Each returns undefined for a text that it does not accept. */
import { isIP } from "node:net";

export type Parser<T> = (text: string) => T | undefined;

/** Decimal digits only, at most nine of them. */
export const integer =
  (min: number, max: number): Parser<number> =>
  (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  };

export const oneOf =
  <T extends string>(values: readonly T[]): Parser<T> =>
  (text) =>
    values.find((value) => value === text);

export const boolean: Parser<boolean> = (text) => (text === "true" ? true : text === "false" ? false : undefined);

export const nonEmpty: Parser<string> = (text) => (text === "" ? undefined : text);

export const hostName: Parser<string> = (text) => (/^[\w.:-]+$/.test(text) ? text : undefined);

export const httpUrl: Parser<URL> = (text) => {
  const url = parseUrl(text);
  return url !== undefined && /^https?:$/.test(url.protocol) ? url : undefined;
};

export const postgresUrl: Parser<URL> = (text) => {
  const url = parseUrl(text);
  return url !== undefined && /^postgres(?:ql)?:$/.test(url.protocol) && url.host !== "" ? url : undefined;
};

const parseUrl = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);

/** A comma-separated list without empty items; duplicates are removed. */
export const list: Parser<readonly string[]> = (text) => {
  const items = text.split(",").map((item) => item.trim());
  return items.includes("") ? undefined : [...new Set(items)];
};

/** Daml's `hint::fingerprint`. The participant would refuse another text only when it is asked. */
export const party: Parser<string> = (text) => (/^[^\s,]+?::[^\s,]+$/.test(text) ? text : undefined);

export const parties: Parser<readonly string[]> = (text) => {
  const items = list(text);
  return items?.every((item) => party(item) !== undefined) === true ? items : undefined;
};

/** A list of IP addresses and of networks in CIDR notation. */
export const networks: Parser<readonly string[]> = (text) => {
  const items = list(text);
  return items?.every(isNetwork) === true ? items : undefined;
};

function isNetwork(text: string): boolean {
  const [address = "", prefix, ...more] = text.split("/");
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return prefix === undefined || integer(0, version === 4 ? 32 : 128)(prefix) !== undefined;
}

/** `any`, `none`, or a list of origins as browsers send them: scheme, host and port only. */
export const origins: Parser<"any" | "none" | readonly string[]> = (text) => {
  if (text === "any" || text === "none") return text;
  const items = list(text);
  return items?.every((origin) => httpUrl(origin)?.origin === origin) === true ? items : undefined;
};

/** Asymmetric only: with a shared secret, a service that can verify a token can also create one. */
const ASYMMETRIC = /^(?:RS|PS|ES)(?:256|384|512)$|^EdDSA$|^Ed25519$/;

export const algorithms: Parser<readonly string[]> = (text) => {
  const items = list(text);
  return items?.every((item) => ASYMMETRIC.test(item)) === true ? items : undefined;
};
