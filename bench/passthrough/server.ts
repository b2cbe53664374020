/**
 * A registry without a mirror, which asks the participant anew for each request.
 * It has one operation, accepting a transfer, and is made as well as such a one
 * can be: kept connections, no template that is not needed, questions at the
 * same time where none waits for another.
 */
import { fastify } from "fastify";
import { provider } from "../registries/services.js";
import type { Target } from "../servers/target.js";
import { findById, findByTemplate } from "./find-contracts.js";
import { answerOf } from "./build-response.js";
import { Participant } from "./participant-client.js";

const MAX_PARAM_LENGTH = 64 * 1024;
const PATH =
  "/api/token-standard/v0/registrars/:registrar/registry/transfer-instruction/v1/:offer/choice-contexts/accept";

export function startQuerying({ participant: url, byId }: Extract<Target, { server: "querying" }>): Promise<string> {
  const participant = new Participant(url, provider);
  const find = byId ? findById : findByTemplate;
  const server = fastify({ routerOptions: { maxParamLength: MAX_PARAM_LENGTH } });
  server.post<{ Params: { offer: string }; Body: { excludeDebugFields?: boolean } }>(PATH, async (request, reply) => {
    const found = await find(participant, request.params.offer);
    const answer = found === undefined ? undefined : answerOf(found, request.body.excludeDebugFields ?? false);
    return answer ?? reply.code(404).send({ error: "it is not known, or something that it needs is not there" });
  });
  return server.listen({ port: 0, host: "127.0.0.1" });
}
