/** Accept-Encoding by RFC 9110, and `Vary`. */
import { describe, expect, test } from "vitest";
import { acceptsGzip } from "../../../src/transport/compress.js";
import { varyByEncoding } from "../../../src/transport/compress.js";

describe("gzip is accepted by", () => {
  test.each([
    "gzip",
    "GZIP",
    "x-gzip",
    "gzip, deflate, br, zstd",
    "gzip, compress, deflate, br",
    "deflate,gzip;q=1.0,*;q=0.5",
    "br;q=1.0, gzip;q=0.8, *;q=0.1",
    "gzip ; q=0.001",
    "gzip;Q=0.5",
    "identity;q=0.5, gzip;q=0.5",
    "identity;q=0, gzip;q=0.1",
    "*",
    "*;q=0.3",
    "br,*",
    "identity,deflate,gzip",
    ",, gzip,",
  ])("%s", (header) => expect(acceptsGzip(header)).toBe(true));

  test("several headers together", () => expect(acceptsGzip(["br", "gzip"])).toBe(true));
});

describe("gzip is not accepted by", () => {
  test.each([
    "",
    "identity",
    "br, deflate",
    "gzip;q=0",
    "gzip;q=0.000",
    "gzip;q=0, *",
    "*;q=0",
    "gzip;q=0, x-gzip",
    "identity, gzip;q=0.5",
    "gzip;q=2",
    "gzip;q=0.1234",
    "gzip;q=-1",
    "gzip;q=",
    "gzip;q=high",
    "notgzip",
    "gzip2",
  ])("%j", (header) => expect(acceptsGzip(header)).toBe(false));

  test("a client that sends no header", () => expect(acceptsGzip(undefined)).toBe(false));
});

test.each([
  [undefined, "accept-encoding"],
  ["Origin", "Origin, accept-encoding"],
  ["Origin, accept-encoding", "Origin, accept-encoding"],
  [["Origin", "Accept"], "Origin, Accept, accept-encoding"],
  ["*", "*"],
])("Vary of %j becomes %j", (present, expected) => expect(varyByEncoding(present)).toBe(expected));
