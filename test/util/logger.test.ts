/** Messages of errors that have none of their own. */
import net from "node:net";
import { expect, test } from "vitest";
import { errorMessage } from "../../src/util/logger.js";

test("a name with two addresses on which nothing listens", async () => {
  const error = await new Promise((resolve) => {
    const addresses = [
      { address: "127.0.0.1", family: 4 },
      { address: "127.0.0.2", family: 4 },
    ];
    const lookup: net.LookupFunction = (_host, _options, done) => done(null, addresses);
    // Port 9 is reserved for a service that hardly any machine runs.
    net.connect({ host: "two.example", port: 9, lookup, autoSelectFamily: true }).on("error", resolve);
  });
  expect(error).toHaveProperty("message", "");
  expect(errorMessage(error)).toBe("connect ECONNREFUSED 127.0.0.1:9; connect ECONNREFUSED 127.0.0.2:9");
});
