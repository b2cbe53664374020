/**
 * A pass-through registry, which queries the participant for each request. It
 * serves the accept context only, as efficiently as it can: keep-alive, no
 * template that is not needed, independent queries in parallel.
 */
import { fastify } from "fastify";
import { provider } from "../registries/services.js";
import type { Target } from "../servers/target.js";
import { findById, findByTemplate } from "./find-contracts.js";
import { buildResponse } from "./build-response.js";
import { Participant } from "./participant-client.js";

const MAX_PARAM_LENGTH = 64 * 1024;
const PATH =
  "/api/token-standard/v0/registrars/:registrar/registry/transfer-instruction/v1/:offer/choice-contexts/accept";

export function startPassthrough({
  participant: url,
  byId,
}: Extract<Target, { server: "passthrough" }>): Promise<string> {
  const participant = new Participant(url, provider);
  const find = byId ? findById : findByTemplate;
  const server = fastify({ routerOptions: { maxParamLength: MAX_PARAM_LENGTH } });
  server.post<{ Params: { offer: string }; Body: { excludeDebugFields?: boolean } }>(PATH, async (request, reply) => {
    const contracts = await find(participant, request.params.offer);
    const response =
      contracts === undefined ? undefined : buildResponse(contracts, request.body.excludeDebugFields ?? false);
    return response ?? reply.code(404).send({ error: "the offer or a contract that it needs was not found" });
  });
  return server.listen({ port: 0, host: "127.0.0.1" });
}
