/** Versions of Daml packages: numbers separated by points. */
export const VERSION = /^\d{1,15}(?:\.\d{1,15}){0,9}$/;

/** Negative if `a` is older than `b`, 0 if they are equal. Missing numbers count as 0. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a.split(".").map(Number), b.split(".").map(Number)];
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Published packages of the Registry Utility, of which a participant may not say the version. */
const PUBLISHED: Readonly<Record<string, string>> = {
  // utility-registry-app-v0
  "98cdf68988bc8987227e90905458779957b3687d6a067b2314e7a4c9fe9f33fa": "0.1.0",
  "7a75ef6e69f69395a4e60919e228528bb8f3881150ccfde3f31bcc73864b18ab": "0.7.0",
  // utility-registry-v0
  "3b25e7327b493bbe063e89d34fdacbfcc491007e5eabefea3a2919044a28f452": "0.1.0",
  a236e8e22a3b5f199e37d5554e82bafd2df688f901de02b00be3964bdfa8c1ab: "0.6.0",
  // utility-registry-holding-v0
  a83fb2d68f6f220f10da4e92146ff919ca9228fd467441e4c870b904ae9d516f: "0.0.1",
  "3d443920585d7e53514839bc2ef4feff5df87adbd047a64b8e266e4b72c85418": "0.0.2",
  "8107899ac4723ce986bf7d27416534e576e54b92161e46150a595fb78ff3d3a1": "0.2.1",
  // utility-credential-v0
  aa472491115b521b2855f869999b432c57f39fcb41ef68c659d12431f9d8ddd6: "0.0.2",
  "77df4e7b980c12de438d7b052141a762215fae790d81f71179c8fb534beb68f7": "0.0.3",
  "5a29ead611a0abd5f5b3fc3caf7d0f67c0ff802032ab6d392824aa9060e56d70": "0.1.0",
  // splice-amulet
  c208d7ead1e4e9b610fc2054d0bf00716144ad444011bce0b02dcd6cd0cb8a23: "0.1.16",
  "6c5802f86709a0ad4784af81f0bab40f3070b2f58128d8843da1e1784c147802": "0.1.17",
};

/** The versions of package ids: those of the contexts file, else of the participant, else published ones. */
export class PackageVersions {
  readonly #configured: ReadonlyMap<string, string>;
  #learnt: ReadonlyMap<string, string> = new Map();

  /** `configured` is `packages` of the contexts file. */
  constructor(configured: ReadonlyMap<string, string> = new Map()) {
    this.#configured = configured;
  }

  /** The participant's versions, in place of those that it gave before. */
  learn(versions: ReadonlyMap<string, string>): void {
    this.#learnt = versions;
  }

  /** Undefined if the version is not known: such a package counts as current. */
  versionOf(packageId: string): string | undefined {
    return (
      this.#configured.get(packageId) ??
      this.#learnt.get(packageId) ??
      (Object.hasOwn(PUBLISHED, packageId) ? PUBLISHED[packageId] : undefined)
    );
  }

  /** Whether the package is known to be older than a version. */
  isOlder(packageId: string, version: string): boolean {
    const known = this.versionOf(packageId);
    return known !== undefined && compareVersions(known, version) < 0;
  }
}
