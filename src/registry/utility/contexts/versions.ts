/** Versions of Daml packages: numbers separated by points. */
const VERSION = /^\d{1,15}(?:\.\d{1,15}){0,9}$/;

export const isVersion = (text: string): boolean => VERSION.test(text);

/** Negative if `a` is older than `b`, 0 if they are equal. Missing numbers count as 0. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a.split(".").map(Number), b.split(".").map(Number)];
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
