/** What a setting is, and the kinds of settings with what they accept. */
import { isIP } from "node:net";

/** Why a text is not accepted, where "must be" does not say it. It never shows the text. */
export class Problem {
  constructor(/** Follows the name of the setting. */ readonly reason: string) {}
}

/** Reads a text without surrounding white space; undefined for one that is not accepted. */
export type Parser<T> = (text: string) => T | Problem | undefined;

export interface Setting<T> {
  readonly variable: string;
  /** The command line flag, without the leading `--`. */
  readonly flag: string;
  /** The accepted values; follows "must be" in messages. */
  readonly accepts: string;
  readonly description: string;
  readonly default: T;
  /** Names the default in documentation when the value itself does not. */
  readonly defaultLabel?: string;
  readonly parse: Parser<T>;
  /** The value may contain a password: messages must not show it. */
  readonly isSecret?: boolean;
}

/** The value of a setting cannot be used, such as a file that does not exist. The message names the variable. */
export class SettingError extends Error {
  /** `accepts` follows "must be"; `reason` says what is wrong with the value. */
  constructor(variable: string, accepts: string, reason: string) {
    super(`${variable} must be ${accepts}: ${reason}`);
    this.name = "SettingError";
  }
}

/** Derives the variable from the flag: `log-level` is `OFFLEDGER_LOG_LEVEL`. */
export function setting<T>(flag: string, properties: Omit<Setting<T>, "variable" | "flag">): Setting<T> {
  return { variable: `OFFLEDGER_${flag.toUpperCase().replaceAll("-", "_")}`, flag, ...properties };
}

type Labels = Pick<Setting<unknown>, "accepts" | "description" | "defaultLabel" | "isSecret">;

/** A setting without a default. */
export const optional = <T>(flag: string, parse: Parser<T>, labels: Labels): Setting<T | undefined> =>
  setting<T | undefined>(flag, { ...labels, parse, default: undefined });

/** A text without a default. */
export const text = (flag: string, accepts: string, description: string): Setting<string | undefined> =>
  optional(flag, nonEmpty, { accepts, description });

export const oneOf = <T extends string>(flag: string, values: readonly T[], value: T, description: string) =>
  setting<T>(flag, {
    accepts: `one of ${values.join(", ")}`,
    description,
    default: value,
    parse: (given) => values.find((one) => one === given),
  });

export const boolean = (flag: string, value: boolean, description: string): Setting<boolean> =>
  setting(flag, {
    accepts: "true or false",
    description,
    default: value,
    parse: (given) => (given === "true" ? true : given === "false" ? false : undefined),
  });

export const host = (flag: string, description: string): Setting<string> =>
  setting(flag, {
    accepts: "an address or host name",
    description,
    default: "127.0.0.1",
    parse: (given) => (/^[\w.:-]+$/.test(given) ? given : undefined),
  });

interface Range {
  readonly min: number;
  readonly max: number;
}

/** An integer in a range. The description names its unit. */
export const count = (flag: string, range: Range & { readonly default: number }, description: string) =>
  setting(flag, { accepts: inRange(range), description, default: range.default, parse: integer(range) });

/** A duration of 1 second to 1 day, in seconds. */
export const seconds = (flag: string, value: number, description: string): Setting<number> =>
  count(flag, { min: 1, max: 86_400, default: value }, `${description}, in seconds`);

const inRange = ({ min, max }: Range): string => `an integer from ${min} to ${max}`;

/** Decimal digits only, at most nine of them. */
export const integer =
  ({ min, max }: Range) =>
  (given: string): number | undefined => {
    const value = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  };

export const nonEmpty: Parser<string> = (given) => (given === "" ? undefined : given);

/** A comma-separated list without empty items; duplicates are removed. */
export const list = (given: string): readonly string[] | undefined => {
  const items = given.split(",").map((item) => item.trim());
  return items.includes("") ? undefined : [...new Set(items)];
};

export const listOf =
  (isItem: (item: string) => boolean): Parser<readonly string[]> =>
  (given) => {
    const items = list(given);
    return items?.every(isItem) === true ? items : undefined;
  };

/** Daml's `hint::fingerprint`. The participant would refuse another text only when it is asked. */
const isParty = (given: string): boolean => /^[^\s,]+?::[^\s,]+$/.test(given);

const party: Parser<string> = (given) => (isParty(given) ? given : undefined);
/** As whom a service reads: the text stands for those that its user of the participant may read as. */
export const partyOrUser: Parser<string> = (given) => (given === "user" ? given : party(given));
export const parties = listOf(isParty);
export const partiesOrUser: Parser<readonly string[] | "user"> = (given) => (given === "user" ? given : parties(given));

/** IP addresses and networks in CIDR notation. */
export const networks = listOf((item) => {
  const [address = "", prefix, ...more] = item.split("/");
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return prefix === undefined || integer({ min: 0, max: version === 4 ? 32 : 128 })(prefix) !== undefined;
});

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const parsePort = integer({ min: 0, max: 65_535 });

/** A port at 127.0.0.1, or an address, in brackets where it is one of IPv6, with a port. */
export const listenAddress: Parser<ListenAddress> = (given) => {
  const [, bracketed, address = bracketed ?? "127.0.0.1", digits = ""] =
    /^(?:(?:\[([\da-fA-F:.]+)\]|([\w.-]+)):)?(\d+)$/.exec(given) ?? [];
  const port = parsePort(digits);
  return port === undefined ? undefined : { host: address, port };
};
