/** The file of a token, `token.yaml`, and what a kind of token is. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parse } from "yaml";
import { z } from "zod";
import type { Command, Created, JsonObject } from "./participant.js";
import { testTokenV2 } from "./tokens/test-token-v2.js";

/** A party by its whole id, or by its hint: `alice` is the party whose id begins with `alice::`. */
const partyName = z.string().min(1);
const amount = z.string().regex(/^\d{1,28}(\.\d{1,10})?$/, 'must be a decimal such as "100.0"');

const tokenFile = z.strictObject({
  /** Of the packages that come with this one, or the path of a module. */
  token: z.string().min(1).default("test-token-v2"),
  /** The hint of the issuer's party. */
  issuer: z
    .string()
    .regex(/^[\w-]{1,185}$/, "must be letters, digits, - and _")
    .default("issuer"),
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
  /** The name of its package, whose DAR is given. */
  readonly packageName: string;
  /** What OFFLEDGER_REGISTRY is to be. */
  readonly registry: string;
  /** The contracts without which it cannot be used; each is created where the issuer has none. */
  readonly contracts: (issuer: string, instruments: readonly InstrumentOfFile[]) => readonly OwnContract[];
  /** The command that offers new holdings to a party, exercised by the issuer. `contractId` is of the first of `contracts`. */
  readonly offerMint: (issuer: string, contractId: string, mint: Mint) => Command;
  /** The offer among what that has created; its receiver accepts it with the registry's answer. */
  readonly offerIn: (created: readonly Created[]) => string | undefined;
}

interface OwnContract {
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

/** What is wrong with what the user has given; its message says what to do. */
export class SetUpError extends Error {
  override readonly name = "SetUpError";
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

const KINDS: Readonly<Record<string, TokenKind>> = { "test-token-v2": testTokenV2 };

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
    if (typeof own.offerMint === "function") return own;
  } catch (error) {
    throw new SetUpError(`the module ${name} of the token cannot be loaded: ${String(error)}`);
  }
  throw new SetUpError(`the module ${name} must export a TokenKind as its default`);
}
