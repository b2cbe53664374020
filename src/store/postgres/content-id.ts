import type { Template } from "../../domain/template.js";

/** To be raised where a release reads other facts, keys or shares from the same contracts: then a new snapshot is taken. */
const READING = 1;

/** Says which contracts a store has and how they are read, so that processes that differ in it do not share one. */
export function contentId(templates: readonly Template[], counting: boolean): string {
  const names = templates
    .map(({ packageName, qualifiedName }) => `${packageName}#${qualifiedName}`)
    .toSorted((a, b) => (a < b ? -1 : 1));
  return JSON.stringify({ reading: READING, counting, kinds: names });
}
