/** Checks of what browsers and named clients need. */
import { type Check, Skipped, Violation } from "./check.js";
import type { Exchange } from "./prober.js";
import type { Registry } from "./registry.js";
import { contextsOf, isFactory } from "./requests.js";

const INFO = "/registry/metadata/v1/info";
const ORIGIN = "https://wallet.example";

function allowsOrigin({ headers }: Exchange): boolean {
  const allowed = headers.get("access-control-allow-origin");
  return allowed === "*" || allowed === ORIGIN;
}

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
    says: "a browser may ask: preflights allow its content type, and reading allows its origin",
    quote: "Wallets in browsers send a preflight before each POST of JSON",
    place: "the Fetch standard, CORS",
    help: "Answer OPTIONS with access-control-allow-origin and access-control-allow-headers: content-type, and GET and POST with the origin",
    async run(registry: Registry) {
      const preflight = await registry.send("OPTIONS", "/registry/transfer-instruction/v1/transfer-factory", {
        origin: ORIGIN,
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
      });
      if (preflight.status === 0) throw new Violation(`there is no answer: ${preflight.text}`, preflight);
      if (preflight.status >= 400) throw new Violation(`the preflight is ${preflight.status}`, preflight);
      if (!allowsOrigin(preflight)) throw new Violation("the preflight allows no origin", preflight);
      const headers = preflight.headers.get("access-control-allow-headers") ?? "";
      if (!/(?:^|[\s,])(?:\*|content-type)(?:$|[\s,])/i.test(headers))
        throw new Violation(`the preflight allows the headers "${headers}", not content-type`, preflight);
      const read = await registry.send("GET", INFO, { origin: ORIGIN });
      if (read.status === 200 && !allowsOrigin(read))
        throw new Violation("the answer to a GET allows no origin, so that a browser does not show it", read);
    },
  },
  {
    id: "authorization",
    severity: "habit",
    says: "a registry that is open to all takes no notice of a token",
    quote: "Wallets send the user's token with each request, whichever registry they ask",
    place: "@canton-network/core-token-standard-service 1.8.0",
    help: "Do not read Authorization where no token is required",
    async run(registry: Registry) {
      const own = await registry.once("open", () => registry.send("GET", INFO, {}));
      if (own.status !== 200 || Object.keys(own.sent.headers).length > 0)
        throw new Skipped("the registry is not open to all");
      const exchange = await registry.send("GET", INFO, { authorization: "Bearer e30.e30.e30" });
      if (exchange.status !== 200) throw new Violation(`with a token the status is ${exchange.status}`, exchange);
    },
  },
  {
    id: "path-forms",
    severity: "habit",
    says: "a slash at the end, or two before the path, are found too",
    quote: "Wallets join the URL that their users have entered and the path as they are",
    place: "RFC 3986, 6.2: what a server may treat alike",
    help: "Let the router ignore a slash at the end and a doubled one",
    async run(registry: Registry) {
      if ((await registry.once("open", () => registry.send("GET", INFO, {}))).status !== 200)
        throw new Skipped("info is not answered");
      for (const path of [`${INFO}/`, `/${INFO}`]) {
        const exchange = await registry.send("GET", path, {});
        const { status } = exchange;
        // A client of a browser's fetch follows a redirect of a GET.
        const isFound = status === 200 || (status >= 301 && status <= 308);
        if (!isFound) throw new Violation(`the status of …${path} is ${status}`, exchange);
      }
    },
  },
  {
    id: "get-with-content-type",
    severity: "habit",
    says: "a GET with a content type is answered",
    quote: "Some generated clients send content-type: application/json with each request",
    place: "RFC 9110, 8.3: a content type without content means nothing",
    help: "Read a body where the method has one",
    async run(registry: Registry) {
      const own = await registry.once("open", () => registry.send("GET", INFO, {}));
      if (own.status !== 200) throw new Skipped("info is not answered");
      const exchange = await registry.send("GET", INFO, { "content-type": "application/json" });
      if (exchange.status !== 200) throw new Violation(`the status is ${exchange.status}`, exchange);
    },
  },
  {
    id: "method",
    severity: "habit",
    says: "a method that a path does not have is refused",
    quote: "Gateways and monitoring tell a wrong method from a missing path by 405",
    place: "RFC 9110, 15.5.6",
    help: "Answer 405 with Allow",
    async run(registry: Registry) {
      if (!registry.known.negative) throw new Skipped("wrong requests are sent with --negative only");
      const exchange = await registry.send("DELETE", INFO, {});
      if (exchange.status < 400 || exchange.status >= 500)
        throw new Violation(`the status of DELETE is ${exchange.status}`, exchange);
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
    says: "a choice context is answered without a body, with {}, with metadata in each form, and with a charset",
    quote:
      "Generated clients send what is optional or leave it out, write metadata flat or under values, and name a charset",
    place: "GetChoiceContextRequest has no required field; Splice.Api.Token.MetadataV1 has values",
    help: "Read an absent body as {}, and metadata in both forms; ignore parameters of the content type",
    async run(registry: Registry) {
      const usual = (await contextsOf(registry)).find(({ operation: one }) => !isFactory(one));
      if (usual === undefined) throw new Skipped("no choice context was answered");
      const { operation, request } = usual;
      const { ids } = request;
      for (const [what, form] of [
        ["without a body", { isEmpty: true }],
        ["with {}", {}],
        ["with metadata", { body: { meta: { "example.com/reason": "text" } } }],
        ["with metadata under values", { body: { meta: { values: {} } } }],
        ["with a charset", { headers: { "content-type": "application/json; charset=utf-8" } }],
      ] as const) {
        const exchange = await registry.call(operation, { ids, ...form });
        if (exchange.status !== 200)
          throw new Violation(`${what} the status is ${exchange.status}, otherwise 200`, exchange);
      }
    },
  },
];
