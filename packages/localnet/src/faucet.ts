/** A faucet: mints bounded amounts for whoever asks, by `POST /faucet` or its page. For development only. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { SetUpError } from "./error.js";
import { LedgerError } from "./participant.js";
import { checkAmount, type Mint } from "./token.js";
import { unitsOf } from "./wallet.js";

export interface FaucetOptions {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
  readonly instruments: readonly string[];
  /** The largest amount of one request, as a decimal. */
  readonly max: string;
  /** Mints for a party, by its id or its hint, and says what became of it. Throws SetUpError or LedgerError. */
  readonly mint: (mint: Mint) => Promise<string>;
  readonly report: (step: string, did: string, changed: boolean) => void;
}

const MAX_BODY_BYTES = 4_096;
/** Each is minted after the one before. */
const MAX_WAITING = 16;

/** What the request has wrong, with its status. */
class RequestError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Starts it. Throws SetUpError if the port is taken. */
export async function startFaucet(options: FaucetOptions): Promise<Server & { readonly url: string }> {
  const faucet = new Faucet(options);
  const server = createServer((request, response) => void faucet.answer(request, response));
  const { host, port } = options;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === "EADDRINUSE";
      const what = isTaken ? "is taken: choose another with --port" : `cannot be listened on: ${error.message}`;
      reject(new SetUpError(`${host}:${port} ${what}`));
    });
    server.listen(port, host, resolve);
  });
  const { port: listening } = server.address() as AddressInfo;
  return Object.assign(server, { url: `http://${host.includes(":") ? `[${host}]` : host}:${listening}` });
}

class Faucet {
  readonly #options: FaucetOptions;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(options: FaucetOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isForm = (request.headers["content-type"] ?? "").startsWith("application/x-www-form-urlencoded");
    const [path] = (request.url ?? "").split("?");
    try {
      if (path !== "/" && path !== "/faucet") throw new RequestError(404, "there is only /faucet");
      if (request.method === "GET") {
        send(response, 200, this.#page(""), "text/html");
        return;
      }
      if (request.method !== "POST" || path !== "/faucet") throw new RequestError(405, "GET the page, or POST /faucet");
      const mint = this.#mintOf(await fieldsOf(request, isForm));
      const did = await this.#inTurn(mint);
      this.#options.report(`${mint.amount} ${mint.instrument} for ${mint.receiver}`, did, true);
      if (isForm)
        send(response, 200, this.#page(`${mint.amount} ${mint.instrument} for ${mint.receiver}: ${did}`), "text/html");
      else send(response, 200, JSON.stringify({ ...mint, result: did }), "application/json");
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const status = error instanceof RequestError ? error.status : error instanceof SetUpError ? 400 : 502;
      const isExpected = status !== 502 || error instanceof LedgerError;
      if (!isExpected) this.#options.report("faucet", `defect: ${message}`, false);
      if (isForm) send(response, status, this.#page(message), "text/html");
      else send(response, status, JSON.stringify({ error: message }), "application/json");
    }
  }

  #mintOf(fields: Readonly<Record<string, unknown>>): Mint {
    const text = (name: string): string => {
      const value = fields[name];
      if (typeof value === "string" && value !== "") return value;
      throw new RequestError(400, `${name} is missing: send party, instrument and amount, as texts`);
    };
    const { instruments, max } = this.#options;
    const [receiver, instrument, amount] = [text("party"), text("instrument"), checkAmount(text("amount"))];
    if (!instruments.includes(instrument))
      throw new RequestError(400, `there is no instrument ${instrument}: there are ${instruments.join(", ")}`);
    if (unitsOf(amount) > unitsOf(max))
      throw new RequestError(400, `${amount} is above ${max}, the most for one request`);
    return { receiver, instrument, amount };
  }

  /** One after the other: each asks the registry for what the one before has made. */
  async #inTurn(mint: Mint): Promise<string> {
    if (this.#waiting >= MAX_WAITING) throw new RequestError(429, "too many requests wait: try again in a few seconds");
    this.#waiting++;
    const turn = this.#last.then(() => this.#options.mint(mint));
    this.#last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      this.#waiting--;
    }
  }

  #page(message: string): string {
    const { instruments, max } = this.#options;
    const options = instruments.map((id) => `<option>${escape(id)}</option>`).join("");
    return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Faucet</title>
<meta name="viewport" content="width=device-width"><style>body{font:1rem sans-serif;max-width:30rem;margin:3rem auto;padding:0 1rem}
label{display:block;margin:.8rem 0}input,select{font:inherit;width:100%;box-sizing:border-box}</style>
<h1>Faucet</h1><p>For development: it mints at most ${escape(max)} at once.</p>
<form method="post" action="/faucet"><label>Party <input name="party" required></label>
<label>Instrument <select name="instrument">${options}</select></label>
<label>Amount <input name="amount" value="1.0" required inputmode="decimal"></label><button>Mint</button></form>
<p role="status">${escape(message)}</p></html>`;
  }
}

const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

async function fieldsOf(request: IncomingMessage, isForm: boolean): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new RequestError(413, `the body is longer than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  if (isForm) return Object.fromEntries(new URLSearchParams(text));
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch {
    // Told below.
  }
  throw new RequestError(400, "the body must be a JSON object with party, instrument and amount");
}

function send(response: ServerResponse, status: number, body: string, type: string): void {
  response.writeHead(status, {
    "content-type": `${type}; charset=utf-8`,
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
    "x-content-type-options": "nosniff",
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}
