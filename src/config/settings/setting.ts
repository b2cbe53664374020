/** What a setting is, and the forms that many share. */
import { type Parser, wholeNumber } from "../parsers.js";

export interface Setting<T> {
  readonly variable: string;
  readonly flag: string;
  /** What it takes, for messages and help. */
  readonly takes: string;
  readonly about: string;
  /** What holds where it is not set. */
  readonly fallback: T;
  /** How help and README name the default where the value does not say it. */
  readonly fallbackName?: string;
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
  takes: string,
  about: string,
  parse: Parser<T>,
  more: { readonly fallbackName?: string; readonly isSecret?: boolean } = {},
): Setting<T | undefined> {
  return { ...named(flag), takes, about, fallback: undefined, parse, ...more };
}

export function seconds(flag: string, fallback: number, about: string): Setting<number> {
  return {
    ...named(flag),
    takes: `a whole number from 1 to ${DAY_SECONDS}`,
    about: `${about}, in seconds`,
    fallback,
    parse: wholeNumber(1, DAY_SECONDS),
  };
}

/** A whole number with bounds. `about` says its unit. */
export function number(flag: string, least: number, most: number, fallback: number, about: string): Setting<number> {
  return {
    ...named(flag),
    takes: `a whole number from ${least} to ${most}`,
    about,
    fallback,
    parse: wholeNumber(least, most),
  };
}
