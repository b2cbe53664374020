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
  {
    id: "party-forms",
    severity: "habit",
    says: "a registrar in the path is found escaped and as it is",
    quote: "Some clients escape the colons of a party, others send them as they are",
    place: "RFC 3986, 3.3: both are the same path",
    help: "Decode the segment of the path before it is compared",
    async run(registry: Registry) {
      const { base } = registry;
      if (!/::|%3A%3A/i.test(base)) throw new Skipped("the URL has no registrar");
      const other = base.includes("::") ? base.replaceAll("::", "%3A%3A") : base.replaceAll(/%3A%3A/gi, "::");
      const [own, swapped] = [await registry.sendTo(base + INFO), await registry.sendTo(other + INFO)];
      if (own.status === 200 && swapped.status !== 200)
        throw new Violation(`in this form the status is ${swapped.status}, in the other 200`, swapped);
    },
  },
  {
    id: "body-forms",
    severity: "habit",
    says: "a choice context is answered without a body, with {}, and with a charset",
    quote: "Generated clients send what is optional or leave it out, and name a charset",
    place: "GetChoiceContextRequest has no required field",
    help: "Read an absent body as {}, and ignore parameters of the content type",
    async run(registry: Registry) {
      const { offer } = registry.known;
      if (offer === undefined) throw new Skipped("give --offer");
      const operation = registry.operation("transfer-instruction-v1", "getTransferInstructionAcceptContext");
      const ids = { transferInstructionId: offer };
      const usual = await registry.call(operation, { ids, body: { meta: {} } });
      if (usual.status !== 200) throw new Skipped(`the context is ${usual.status}`);
      for (const [what, form] of [
        ["without a body", { isEmpty: true }],
        ["with {}", {}],
        ["with a charset", { headers: { "content-type": "application/json; charset=utf-8" } }],
      ] as const) {
        const exchange = await registry.call(operation, { ids, ...form });
        if (exchange.status !== 200)
          throw new Violation(`${what} the status is ${exchange.status}, otherwise 200`, exchange);
      }
    },
  },
];
