/** Accounts, as version 2 of the token standard (CIP-0112) defines them. */
import { z } from "zod";
import { invalidField } from "../domain/errors.js";
import { nonEmpty, readFields } from "./fields.js";

export interface Account {
  readonly owner: string | undefined;
  readonly provider: string | undefined;
  readonly id: string;
  /** The party of the account: its owner, else its provider; of a special account the instrument's admin. */
  readonly party: string;
  /** Whether it is the source of a mint or the target of a burn, which nobody holds. */
  readonly isSpecial: boolean;
}

/** Accounts without owner and provider: the source of a mint and the target of a burn. */
const SPECIAL_IDS = ["cip-112/mint", "cip-112/burn"];

/** The party that stands for a special account where version 1 of the standard has a party. */
export const NO_OWNER = "cip-112_no-owner::1220000000000000000000000000000000000000000000000000000000000000abcd";

/** Its fields. */
export const accountForm = z.object({
  owner: nonEmpty.nullish(),
  provider: nonEmpty.nullish(),
  id: z.string().nullish(),
});
const metadata = z.object({ values: z.record(z.string(), z.unknown()).nullish() }).nullish();
const text = z.string().nullish();

/** The account of the fields. Throws "invalid" if it has neither owner nor provider and is not special. `path` is that of the fields. */
export const accountOf = (
  { owner, provider, id: named }: z.infer<typeof accountForm>,
  admin: string,
  path: string,
): Account => accountWith(owner, provider, named ?? "", admin, below(path, "owner"));

/**
 * The account in a field that is a party in version 1 of the standard and an account in version 2. In version 1 the `meta`
 * beside it may say provider and id of the account, for every owner. Throws as `accountOf`. `path` is that of the object
 * that has the fields.
 */
export function accountIn(
  fields: Readonly<Record<string, unknown>>,
  name: string,
  admin: string,
  path: string,
): Account {
  const [at, inMeta] = [below(path, name), below(path, "meta")];
  if (typeof fields[name] !== "string") return accountOf(readFields(accountForm, fields[name], at), admin, at);
  const given = readFields(nonEmpty, fields[name], at);
  const owner = given === NO_OWNER ? undefined : given;
  const values = readFields(metadata, fields["meta"], inMeta)?.values ?? {};
  const valueOf = (field: string) => {
    const key = `cip-112/${name}.${field}`;
    return readFields(text, values[key], `${inMeta}.values.${key}`);
  };
  // Both are texts, in which "" stands for none.
  const [provider, named] = [valueOf("provider") || undefined, valueOf("id")];
  if (owner !== undefined || provider !== undefined) return accountWith(owner, provider, named ?? "", admin, at);
  // Without an id the party alone names the special account.
  return accountWith(owner, provider, named ?? "cip-112/mint", admin, `${inMeta}.values.cip-112/${name}.id`);
}

const below = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

function accountWith(
  owner: string | null | undefined,
  provider: string | null | undefined,
  named: string,
  admin: string,
  path: string,
): Account {
  const party = owner ?? provider ?? undefined;
  const isSpecial = party === undefined;
  // No spread: V8 gives a literal that begins with one its own hidden class, which costs 5 µs.
  if (!isSpecial || SPECIAL_IDS.includes(named))
    return { owner: owner ?? undefined, provider: provider ?? undefined, id: named, party: party ?? admin, isSpecial };
  throw invalidField(
    path,
    `must name an owner or a provider, because the account's id is not ${SPECIAL_IDS.join(" or ")}, ` +
      `but the id is ${JSON.stringify(named)}`,
  );
}
