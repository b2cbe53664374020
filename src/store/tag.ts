import type { LookupHash } from "./lookup-hash.js";

/**
 * The public name of a lookup: the first 8 hexadecimal digits of its hash, the same on every replica. It says nothing of
 * the lookup to those who do not know it. Two lookups may share a tag: an answer is then dropped without need.
 */
export type Tag = string;

const TAG_LENGTH = 8;

export const tagOf = (hash: LookupHash): Tag => hash.slice(0, TAG_LENGTH);
