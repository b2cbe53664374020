import { anyRegistrarHash, registrarHash, type Tag, tagOf } from "../../store/lookup-hash.js";

/** The tags of which a change must have one; undefined for all changes. */
export type Filter = ReadonlySet<Tag> | undefined;

export function createFilter(registrars: readonly string[], tags: readonly Tag[]): Filter {
  if (registrars.length === 0 && tags.length === 0) return undefined;
  const ofRegistrars = registrars.length === 0 ? [] : [anyRegistrarHash, ...registrars.map(registrarHash)].map(tagOf);
  return new Set([...ofRegistrars, ...tags]);
}

export function matches(filter: Filter, tags: ReadonlySet<Tag>): boolean {
  if (filter === undefined) return true;
  const [few, many] = filter.size < tags.size ? [filter, tags] : [tags, filter];
  for (const tag of few) if (many.has(tag)) return true;
  return false;
}
