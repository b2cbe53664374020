import { integer, type Parser } from "../parsers.js";

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

const DAY_SECONDS = 86_400;

/** Derives the variable from the flag: `log-level` is `OFFLEDGER_LOG_LEVEL`. */
export function setting<T>(flag: string, properties: Omit<Setting<T>, "variable" | "flag">): Setting<T> {
  return { variable: `OFFLEDGER_${flag.toUpperCase().replaceAll("-", "_")}`, flag, ...properties };
}

/** A setting without a default. */
export function optional<T>(
  flag: string,
  properties: Omit<Setting<T | undefined>, "variable" | "flag" | "default" | "parse"> & { readonly parse: Parser<T> },
): Setting<T | undefined> {
  return setting<T | undefined>(flag, { ...properties, default: undefined });
}

/** An integer from `min` to `max`. The description names its unit. */
export function count(
  flag: string,
  { min, max, default: defaultValue }: { readonly min: number; readonly max: number; readonly default: number },
  description: string,
): Setting<number> {
  return setting(flag, {
    accepts: `an integer from ${min} to ${max}`,
    description,
    default: defaultValue,
    parse: integer(min, max),
  });
}

/** A duration of 1 second to 1 day, in seconds. */
export function seconds(flag: string, defaultValue: number, description: string): Setting<number> {
  return count(flag, { min: 1, max: DAY_SECONDS, default: defaultValue }, `${description}, in seconds`);
}
