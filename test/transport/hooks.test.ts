/** Hooks of root plugins run for every request by each protocol. */
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { BurnService } from "../../gen/offledger/burn/v0/burn_service_pb.js";
import { createServer, type Server } from "../../src/transport/server.js";
import { onIssuance } from "../fixtures/calls/operations.js";
import { bindPartial } from "../fixtures/partial-service.js";
import { type Form, forms, requestForms, sendForm } from "../fixtures/requests-in-forms.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";
import { until } from "../fixtures/wait.js";

const getBurnOfferCancelContext = () => ({ values: [], disclosed: [] });

describe("a plugin that a guard registers takes part in the lifecycle of every request", () => {
  const call = onIssuance("burn", "offer", "cancel", "a");
  const binding = bindPartial(BurnService, { getBurnOfferCancelContext });
  const none = { onRequest: 0, preHandler: 0, onSend: 0, onResponse: 0 };
  const counts = { ...none };
  let server: Server;
  let url: string;

  async function plugin(instance: FastifyInstance): Promise<void> {
    instance.addHook("onRequest", async (_request, reply) => {
      counts.onRequest++;
      reply.header("x-seen", "yes");
    });
    instance.addHook("preHandler", async () => void counts.preHandler++);
    instance.addHook("onSend", async (_request, reply) => {
      counts.onSend++;
      reply.header("x-sent", "yes");
    });
    instance.addHook("onResponse", async () => void counts.onResponse++);
  }
  beforeAll(async () => {
    server = await createServer([binding], { ...TEST_SERVER_OPTIONS, plugins: [plugin] });
    url = await server.listen("127.0.0.1", 0);
  });
  afterAll(() => server.close(100));

  test.each<Form>(forms)("%s", async (form) => {
    Object.assign(counts, none);
    const { headers } = await sendForm(url, form, requestForms[form](call));
    await until("the response is over", () => counts.onResponse > 0);
    expect(counts).toEqual({ onRequest: 1, preHandler: 1, onSend: 1, onResponse: 1 });
    expect([headers["x-seen"], headers["x-sent"]]).toEqual(["yes", "yes"]);
  });

  test.each<Form>(["REST", "Connect JSON", "gRPC", "gRPC-Web"])("onSend runs on a rejection over %s", async (form) => {
    const admission = { ...TEST_SERVER_OPTIONS.admission, maxPathBytes: 1 };
    const limited = await createServer([binding], { ...TEST_SERVER_OPTIONS, admission, firstPlugin: plugin });
    onTestFinished(() => limited.close(100));
    const base = await limited.listen("127.0.0.1", 0);
    const { headers } = await sendForm(base, form, requestForms[form](call));
    expect(headers["x-sent"]).toBe("yes");
  });
});
