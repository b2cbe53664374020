/** The file of a token, `token.yaml`, and what a kind of token is. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parse } from "yaml";
import { z } from "zod";
import { SetUpError } from "./error.js";
import type { Command, JsonObject } from "./participant.js";
import { simpleToken } from "./tokens/simple-token.js";
import { testTokenV2 } from "./tokens/test-token-v2.js";

/** A party by its whole id, or by its hint: `alice` is the party whose id begins with `alice::`. */
const partyName = z.string().min(1);
const hint = z.string().regex(/^[\w-]{1,185}$/, "must be letters, digits, - and _");
const AMOUNT = /^\d{1,28}(\.\d{1,10})?$/;
const amount = z.string().regex(AMOUNT, 'must be a decimal such as "100.0"');

const tokenFile = z.strictObject({
  /** Of the packages that come with this one, or the path of a module. */
  token: z.string().min(1).default("test-token-v2"),
  /** The hint of the issuer's party. */
  issuer: hint.default("issuer"),
  /** Further parties to allocate, by hint, each with the name of its participant. */
  parties: z.record(hint, z.string()).default({}),
  instruments: z
    .array(
      z.strictObject({
        id: z.string().min(1),
        name: z.string().optional(),
        symbol: z.string().optional(),
        decimals: z.int().min(0).max(10).default(10),
        balances: z.record(partyName, amount).default({}),
      }),
    )
    .min(1),
});

export type TokenFile = z.infer<typeof tokenFile>;
export type InstrumentOfFile = TokenFile["instruments"][number];

/** What a kind of token consists of. A module exports one as its default. */
export interface TokenKind {
  /** What OFFLEDGER_REGISTRY is to be. */
  readonly registry: string;
  /** The contracts without which it cannot be used; each is created where the issuer has none. */
  readonly contracts: (issuer: string, instruments: readonly InstrumentOfFile[]) => readonly OwnContract[];
  /** How new holdings come to a party. */
  readonly mint: MintByOffer | MintByTransfer;
}

/** The issuer offers them by a choice of the token's own. */
interface MintByOffer {
  /** `contractId` is of the first of `contracts`. */
  readonly offer: (issuer: string, contractId: string, mint: Mint) => Command;
  /** The end of the template id of what that creates, which is a transfer instruction: `:TokenTransferOffer`. */
  readonly offerTemplate: string;
}

/** The issuer makes holdings of its own, and transfers them. */
interface MintByTransfer {
  readonly hold: (issuer: string, mint: Mint) => Command;
}

export interface OwnContract {
  readonly templateId: string;
  readonly argument: JsonObject;
  /** What it is, for people. */
  readonly name: string;
}

export interface Mint {
  readonly receiver: string;
  readonly instrument: string;
  readonly amount: string;
}

/** Throws SetUpError unless the text is an amount above zero. */
export function checkAmount(text: string): string {
  if (AMOUNT.test(text) && /[1-9]/.test(text)) return text;
  throw new SetUpError(`the amount ${text} must be a decimal above zero, such as 100.0`);
}

/** Throws SetUpError. */
export async function readToken(path: string): Promise<TokenFile> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch {
    throw new SetUpError(`${path} cannot be read: it is the file of the token, see docs/localnet.md`);
  }
  return tokenOf(text, path);
}

export function tokenOf(text: string, path: string): TokenFile {
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    throw new SetUpError(`${path} is not YAML: ${String(error)}`);
  }
  const { data, error } = tokenFile.safeParse(content ?? {});
  if (data !== undefined) return data;
  const problems = error.issues.map(({ path: at, message }) => `${at.join(".") || "the file"}: ${message}`);
  throw new SetUpError(`${path}: ${problems.join("; ")}`);
}

const KINDS: Readonly<Record<string, TokenKind>> = { "test-token-v2": testTokenV2, "simple-token": simpleToken };

/** By its name, or from a module with a path. Throws SetUpError. */
export async function kindOf(name: string): Promise<TokenKind> {
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  if (kind !== undefined) return kind;
  if (!/[./]/.test(name))
    throw new SetUpError(
      `token ${name} is not known: there are ${Object.keys(KINDS).join(", ")}, or the path of a module`,
    );
  try {
    const { default: own } = (await import(pathToFileURL(resolve(name)).href)) as { readonly default: TokenKind };
    if (typeof own.contracts === "function" && typeof own.mint === "object") return own;
  } catch (error) {
    throw new SetUpError(`the module ${name} of the token cannot be loaded: ${String(error)}`);
  }
  throw new SetUpError(`the module ${name} must export a TokenKind as its default`);
}
