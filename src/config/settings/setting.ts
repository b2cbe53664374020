/** What a setting is, and the forms that many share. */
import { type Parser, wholeNumber } from "../parsers.js";

export interface Setting<T> {
  readonly variable: string;
  readonly flag: string;
  /** What it takes, for messages and help. */
  readonly accepts: string;
  readonly description: string;
  /** What holds where it is not set. */
  readonly default: T;
  /** How help and README name the default where the value does not say it. */
  readonly defaultLabel?: string;
  readonly parse: Parser<T>;
  /** Whether a value may hold a password, and must not be shown. */
  readonly isSecret?: boolean;
}

export const DAY_SECONDS = 86_400;

/** The names of a setting in the environment and among the arguments. */
export function named(flag: string): { readonly variable: string; readonly flag: string } {
  return { variable: `OFFLEDGER_${flag.toUpperCase().replaceAll("-", "_")}`, flag };
}

export function optional<T>(
  flag: string,
  accepts: string,
  description: string,
  parse: Parser<T>,
  more: { readonly defaultLabel?: string; readonly isSecret?: boolean } = {},
): Setting<T | undefined> {
  return { ...named(flag), accepts, description, default: undefined, parse, ...more };
}

export function seconds(flag: string, defaultValue: number, description: string): Setting<number> {
  return {
    ...named(flag),
    accepts: `a whole number from 1 to ${DAY_SECONDS}`,
    description: `${description}, in seconds`,
    default: defaultValue,
    parse: wholeNumber(1, DAY_SECONDS),
  };
}

/** A whole number with bounds. `description` says its unit. */
export function number(
  flag: string,
  min: number,
  max: number,
  defaultValue: number,
  description: string,
): Setting<number> {
  return {
    ...named(flag),
    accepts: `a whole number from ${min} to ${max}`,
    description,
    default: defaultValue,
    parse: wholeNumber(min, max),
  };
}
