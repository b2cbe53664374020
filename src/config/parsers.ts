/** Texts of settings -> values. Each gives undefined where the text is not what it takes. */
import { isIP } from "node:net";

export type Parser<T> = (text: string) => T | undefined;

export const wholeNumber =
  (min: number, max: number): Parser<number> =>
  (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  };

export const oneOf =
  <T extends string>(values: readonly T[]): Parser<T> =>
  (text) =>
    values.find((value) => value === text);

export const trueOrFalse: Parser<boolean> = (text) => (text === "true" ? true : text === "false" ? false : undefined);

export const nonEmpty: Parser<string> = (text) => (text === "" ? undefined : text);

export const hostName: Parser<string> = (text) => (/^[\w.:-]+$/.test(text) ? text : undefined);

export const httpUrl: Parser<URL> = (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) ? url : undefined;
};

export const databaseUrl: Parser<URL> = (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^postgres(?:ql)?:$/.test(url.protocol) && url.host !== "" ? url : undefined;
};

/** Names with commas between them, each once. */
export const names: Parser<readonly string[]> = (text) => {
  const list = text.split(",").map((name) => name.trim());
  return list.includes("") ? undefined : [...new Set(list)];
};

/** Addresses, and networks with the length of their prefix. */
export const addresses: Parser<readonly string[]> = (text) => {
  const list = names(text);
  return list?.every(isNetwork) === true ? list : undefined;
};

function isNetwork(text: string): boolean {
  const [address = "", prefix, ...more] = text.split("/");
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return prefix === undefined || wholeNumber(0, version === 4 ? 32 : 128)(prefix) !== undefined;
}

/** Origins as a browser sends them: scheme, host and port, and nothing behind. */
export const origins: Parser<"any" | "none" | readonly string[]> = (text) => {
  if (text === "any" || text === "none") return text;
  const list = names(text);
  return list?.every((origin) => httpUrl(origin)?.origin === origin) === true ? list : undefined;
};
