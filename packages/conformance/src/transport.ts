/** Checks of what browsers and named clients need. */
import { type Check, Skipped, Violation } from "./check.js";
import type { Registry } from "./registry.js";

const INFO = "/registry/metadata/v1/info";

export const transportChecks: readonly Check[] = [
  {
    id: "json-type",
    severity: "must",
    says: "answers are application/json",
    quote: "'200': content: application/json",
    place: "each document, responses",
    help: "Send content-type: application/json",
    async run(registry: Registry) {
      const exchange = await registry.send("GET", INFO, { accept: "application/json" });
      if (exchange.status === 0) throw new Violation(`there is no answer: ${exchange.text}`, exchange);
      if (exchange.status !== 200) throw new Skipped(`info is ${exchange.status}`);
      const type = exchange.headers.get("content-type") ?? "nothing";
      if (!/^application\/json\b/.test(type)) throw new Violation(`the content type is ${type}`, exchange);
    },
  },
  {
    id: "preflight",
    severity: "habit",
    says: "a browser may ask: the preflight of a POST allows its content type",
    quote: "Wallets in browsers send a preflight before each POST of JSON",
    place: "the Fetch standard, CORS",
    help: "Answer OPTIONS with access-control-allow-origin and access-control-allow-headers: content-type",
    async run(registry: Registry) {
      const origin = "https://wallet.example";
      const exchange = await registry.send("OPTIONS", "/registry/transfer-instruction/v1/transfer-factory", {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
      });
      if (exchange.status === 0) throw new Violation(`there is no answer: ${exchange.text}`, exchange);
      const [allowed, headers] = ["origin", "headers"].map(
        (name) => exchange.headers.get(`access-control-allow-${name}`) ?? "",
      );
      if (allowed !== "*" && allowed !== origin) throw new Violation("the preflight allows no origin", exchange);
      if (!/(?:^|[\s,])(?:\*|content-type)(?:$|[\s,])/i.test(headers ?? ""))
        throw new Violation(`the preflight allows the headers "${headers}", not content-type`, exchange);
    },
  },
];
