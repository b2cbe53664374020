/** Checksums of parts, compared with those that zlib computes of the whole. */
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { combineChecksums, shiftOf, updateChecksum } from "../../../src/transport/compression/crc32.js";

/** Short ones are computed in JavaScript, longer ones by zlib. */
const part = fc.oneof(
  fc.uint8Array({ maxLength: 8 }),
  fc.uint8Array({ minLength: 80, maxLength: 110 }),
  fc.uint8Array({ maxLength: 3_000 }),
);

test("a checksum is continued over parts in a larger buffer", () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), fc.nat({ max: 20 }), (parts, before) => {
      let checksum = 0;
      for (const bytes of parts) {
        const buffer = Buffer.concat([Buffer.alloc(before, 7), bytes, Buffer.alloc(9, 3)]);
        checksum = updateChecksum(checksum, buffer, before, before + bytes.length);
      }
      expect(checksum >>> 0).toBe(crc32(Buffer.concat(parts)));
    }),
  );
});

test("checksums of parts combine to that of the whole", () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      let checksum = 0;
      for (const bytes of parts) checksum = combineChecksums(checksum, crc32(bytes) | 0, shiftOf(bytes.length));
      expect(checksum >>> 0).toBe(crc32(Buffer.concat(parts)));
    }),
  );
});

test.each([1, 255, 65_535, 65_536, 5_000_001])("a part may have %d bytes", (length) => {
  const [first, second] = [Buffer.from("first"), Buffer.alloc(length, "second")];
  const combined = combineChecksums(crc32(first) | 0, crc32(second) | 0, shiftOf(length));
  expect(combined >>> 0).toBe(crc32(Buffer.concat([first, second])));
});
