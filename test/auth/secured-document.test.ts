/** The OpenAPI document where tokens are required: it says which operations need one, and that they answer 401. */
import type { JsonValue } from "@bufbuild/protobuf";
import { Ajv } from "ajv";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exampleRequests, fetchDocument, sendExample } from "../fixtures/openapi-examples.js";
import { AUDIENCE, ISSUER, JwksServer, Key, NOW } from "../fixtures/issuer.js";
import { OpenApi } from "../fixtures/openapi.js";
import { type Running, serveFile } from "../fixtures/run-service.js";
import { openApi30 } from "../openapi/openapi-3.0.js";

const key = await Key.make("first");
const publisher = new JwksServer([key]);
const METADATA = "offledger.metadata.v1.MetadataService";

let all: Running;
let some: Running;
beforeAll(async () => {
  await publisher.open();
  const config = { authJwksUrl: publisher.url, authIssuer: ISSUER, authAudience: AUDIENCE };
  all = await serveFile(undefined, { now: NOW, config });
  some = await serveFile(undefined, { now: NOW, config: { ...config, authOperations: [METADATA] } });
});
afterAll(async () => {
  await all.close();
  await some.close();
  await publisher.close();
});

const read = async ({ url }: Running): Promise<OpenApi> => new OpenApi(await fetchDocument(url));
const securedRoutes = (api: OpenApi): string[] =>
  [...api.operations].filter(([, { security }]) => security !== undefined).map(([route]) => route);

describe("the document", () => {
  test("is valid, and declares the scheme of the published document", async () => {
    const { document } = await read(all);
    const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false });
    ajv.validate(openApi30, document);
    expect(ajv.errors ?? []).toEqual([]);
    expect(document.components).toMatchObject({
      securitySchemes: { BearerAuth: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
    });
  });

  test("requires a token for all operations but health and the document itself, or for the configured ones", async () => {
    const api = await read(all);
    const open = [...api.operations.keys()].filter((route) => !securedRoutes(api).includes(route));
    expect(open.toSorted()).toEqual(["GET /api/utilities/v0/openapi", "GET /livez", "GET /readyz"]);
    const routes = securedRoutes(await read(some));
    expect(routes.filter((route) => route.includes("/metadata/v1/"))).toHaveLength(3);
    expect(routes).toHaveLength(3);
  });

  test("refers to each response that it declares", async () => {
    for (const running of [all, some]) {
      const { document } = await read(running);
      const used = new Set(JSON.stringify(document.paths).match(/(?<=#\/components\/responses\/)\w+/g));
      expect(Object.keys(document.components.responses ?? {}).toSorted()).toEqual([...used].toSorted());
    }
  });

  test("says which operations answer 401 without a token, and how", async () => {
    const api = await read(all);
    const token = `Bearer ${await key.sign()}`;
    const wrong: string[] = [];
    for (const request of exampleRequests(api)) {
      const { security } = api.operation(request.route);
      const response = await sendExample(all.url, request);
      const body = (await response.json()) as JsonValue;
      if ((response.status === 401) !== (security !== undefined)) wrong.push(`${request.route}: ${response.status}`);
      if (security === undefined) continue;
      wrong.push(...api.validate(request.route, 401, body).map((what) => `${request.route}: ${what}`));
      for (const name of Object.keys(api.response(request.route, 401)?.headers ?? {})) {
        expect(response.headers.get(name)).not.toBeNull();
      }
      const headers = { authorization: token, "content-type": "application/json" };
      const accepted = await sendExample(all.url, request, { headers });
      await accepted.arrayBuffer();
      if (accepted.status === 401) wrong.push(`${request.route}: 401 with a token`);
    }
    expect(wrong).toEqual([]);
  });
});
