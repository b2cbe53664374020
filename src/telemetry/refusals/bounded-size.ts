/** What a reference or a number counts for. */
const UNIT = 8;

/**
 * Roughly how many bytes a message or another plain value takes, but no more than just over `limit`: it stops counting
 * there, so that a large value costs no more than a small one.
 */
export function sizeUpTo(limit: number, value: unknown): number {
  if (typeof value === "string") return UNIT + value.length;
  if (value instanceof Uint8Array) return UNIT + value.length;
  if (typeof value !== "object" || value === null) return UNIT;
  let size = UNIT;
  for (const [name, member] of Object.entries(value)) {
    size += name.length + sizeUpTo(limit - size, member);
    if (size > limit) break;
  }
  return size;
}
