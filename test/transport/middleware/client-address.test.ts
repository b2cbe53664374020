/** How clients are identified, compared with 128-bit arithmetic. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clientKey } from "../../../src/transport/hooks.js";

const GROUP = 16n;
const group = fc.integer({ min: 0, max: 0xffff });
/** Many zeros, for the short forms. */
const groups = fc.array(fc.oneof(fc.constant(0), group), { minLength: 8, maxLength: 8 });
const ipv4 = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 });

const numberOf = (parts: readonly number[]): bigint => parts.reduce((sum, part) => (sum << GROUP) | BigInt(part), 0n);

/** Writes an IPv6 address in one of its forms. */
function format(parts: readonly number[], { upper, padded, dotted, short }: Format): string {
  const texts = parts.map((part) => (padded ? part.toString(16).padStart(4, "0") : part.toString(16)));
  const [high = 0, low = 0] = parts.slice(6);
  const last = dotted ? [`${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`] : texts.slice(6);
  const all = [...texts.slice(0, 6), ...last];
  // Any run of zeros may be left out, except in the dotted part.
  const from = parts.findIndex((part, at) => at < (dotted ? 6 : 8) && part === 0 && at >= short);
  let to = from;
  while (from !== -1 && to < (dotted ? 6 : 8) && parts[to] === 0) to++;
  const text = from === -1 ? all.join(":") : `${all.slice(0, from).join(":")}::${all.slice(to).join(":")}`;
  return upper ? text.toUpperCase() : text;
}

interface Format {
  readonly upper: boolean;
  readonly padded: boolean;
  readonly dotted: boolean;
  /** Leave out the first run of zeros from this group on; 8 leaves out none. */
  readonly short: number;
}

const formats: fc.Arbitrary<Format> = fc.record({
  upper: fc.boolean(),
  padded: fc.boolean(),
  dotted: fc.boolean(),
  short: fc.integer({ min: 0, max: 8 }),
});

/** IPv4-mapped addresses identify the IPv4 client. */
const isMapped = (parts: readonly number[]): boolean => numberOf(parts) >> 32n === 0xffffn;

describe("an IPv6 address", () => {
  test("is identified by its first 64 bits, in any form", () => {
    fc.assert(
      fc.property(groups, groups, formats, formats, fc.boolean(), (one, other, first, second, isSame) => {
        const two = isSame ? [...one.slice(0, 4), ...other.slice(4)] : other;
        fc.pre(!isMapped(one) && !isMapped(two));
        const areSame = numberOf(one) >> 64n === numberOf(two) >> 64n;
        expect(clientKey(format(one, first)) === clientKey(format(two, second))).toBe(areSame);
      }),
      { numRuns: 2_000 },
    );
  });

  test("that is IPv4-mapped is the IPv4 address", () => {
    fc.assert(
      fc.property(ipv4, formats, (bytes, how) => {
        const [a = 0, b = 0, c = 0, d = 0] = bytes;
        const parts = [0, 0, 0, 0, 0, 0xffff, a * 256 + b, c * 256 + d];
        expect(clientKey(format(parts, how))).toBe(bytes.join("."));
      }),
    );
  });

  test.each([
    ["2001:0DB8:0000:0007:ffff:ffff:ffff:ffff", "2001:db8:0:7"],
    ["::1", "0:0:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    ["[2001:db8:0:7::1]:4711", "2001:db8:0:7"],
    ["192.0.2.1:4711", "192.0.2.1"],
  ])("%s is %s", (address, client) => {
    expect(clientKey(address)).toBe(client);
  });
});

test("all malformed addresses are one client", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.constantFrom("unknown", "_hidden", "1.2.3", "1.2.3.4.5", "::g")), (given) => {
      fc.pre(!/^[\d.:[\]a-f]+$/i.test(given) || given === "1.2.3" || given === "1.2.3.4.5" || given === "::g");
      expect(clientKey(given)).toBe("unknown");
    }),
  );
  expect(clientKey("x".repeat(10_000))).toBe("unknown");
});
