/** Recorded flows, run again by other parties at other times, with the answers of services, which are to equal the recorded ones. */
import { isDeepStrictEqual } from "node:util";
import { type Context, readContext } from "../../test/fidelity/contexts.js";
import { NO_META } from "./instrument.js";
import { type Ledger, RejectedError } from "./ledger.js";
import type { Ask, Recording, Step, Submission } from "./recorded-flows.js";
import { pause, RefusedError, type Service } from "./service.js";

/** A recording takes a minute or two. Its times are moved to so long before now, so that none is ahead of the ledger's. */
const EARLIER_MS = 300_000;
/** How soon a package that is uploaded is served. */
const SERVED_MS = 35_000;
/** How soon the mirror knows that a contract is archived. */
export const FOLLOWED_MS = 10_000;
const POLL_MS = 200;
const ID = /\b00[0-9a-f]{130,}|[\w-]+::1220[0-9a-f]{64}/g;
const TIME = /\b\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** What the ledger reads of an answer. */
const readable = ({ factoryId, transferKind, values, disclosed }: Context): object => ({
  factoryId,
  transferKind,
  values,
  disclosed: disclosed.map(({ contractId }) => contractId).toSorted(),
});

const contractIn = (path: string): string => /\/([^/]+)\/choice-contexts\//.exec(path)?.[1] ?? "";

export const nameOf = (step: Step): string[] =>
  "command" in step ? [] : [step.path.replace(/.*\/registry\/([^/]+)\/(v.).*\/([^/]+)$/, "$1 $2 $3")];

/** Ids and times of a recording in those of this run. */
export class Renames {
  readonly #ids: Map<string, string>;
  readonly #laterMs: number;

  /** `partyOf` gives the party of this run for a recorded one. */
  constructor({ parties, begun }: Recording, partyOf: (recorded: string, index: number) => string) {
    this.#ids = new Map(parties.map((party, index) => [party, partyOf(party, index)]));
    this.#laterMs = Date.now() - begun - EARLIER_MS;
  }

  add(recorded: string, id: string): void {
    this.#ids.set(recorded, id);
  }

  in<T>(value: T): T {
    const text = JSON.stringify(value)
      .replace(ID, (id) => this.#ids.get(id) ?? id)
      .replace(TIME, (time) => new Date(Date.parse(time) + this.#laterMs).toISOString());
    return JSON.parse(text) as T;
  }
}

/** The flows of one run. Each service is asked; what the first answers is submitted. */
export class Replay {
  readonly #renames: Renames;
  /** By the contract on which the choice is exercised. */
  readonly #answers = new Map<string, Context>();
  /** When each service first answered, in milliseconds since 1970. */
  readonly servedAt: number[] = [];
  #equal = 0;
  #accepted = 0;
  #rejected = 0;

  /** `parties` are those of this run, in the order of the recording's. */
  constructor(
    readonly ledger: Ledger,
    readonly services: readonly Service[],
    recording: Recording,
    parties: readonly string[],
  ) {
    this.#renames = new Renames(recording, (_recorded, index) => parties[index] ?? "");
  }

  get summary(): string {
    return `${this.#equal} equal answers, ${this.#accepted} choices accepted, ${this.#rejected} rejected as recorded`;
  }

  /** Throws where an answer differs, after the other steps, or where the ledger decides otherwise. */
  async run(steps: readonly Step[]): Promise<void> {
    const unequal: string[] = [];
    for (const step of steps)
      if ("command" in step) await this.#submit(step);
      else unequal.push(...(await this.#ask(step)));
    if (unequal.length > 0) throw new Error(unequal.join("\n"));
  }

  async #ask(step: Ask): Promise<string[]> {
    const { path, body, status, answer: recorded } = this.#renames.in(step);
    const expected = status === 200 ? readable(readContext(recorded)) : undefined;
    const waits = status !== 200 ? FOLLOWED_MS : this.#equal === 0 ? SERVED_MS : 0;
    const answers = await Promise.all(
      this.services.map(async (service, index) => {
        const answer = await answerWithin(waits, service, { path, body }, status === 200);
        if (!(answer instanceof RefusedError)) this.servedAt[index] ??= Date.now();
        return answer;
      }),
    );
    const [first] = answers;
    if (first instanceof RefusedError || first === undefined) this.#answers.delete(contractIn(path));
    else this.#answers.set(first.factoryId ?? contractIn(path), first);
    const unequal = answers
      .map((answer) => (answer instanceof RefusedError ? answer.message : readable(answer)))
      .filter((answer) => (expected === undefined ? typeof answer === "object" : !isDeepStrictEqual(answer, expected)));
    if (unequal.length === 0) this.#equal++;
    return unequal.map(
      (answer) => `${path}: ${JSON.stringify(answer)} instead of ${JSON.stringify(expected ?? status)}`,
    );
  }

  async #submit(step: Submission): Promise<void> {
    const { actAs, command, isAccepted, isBare } = this.#renames.in(step);
    const answer = this.#answers.get(command.contractId ?? "");
    const isOfStandard = command.templateId.startsWith("#splice-api-token-");
    const extraArgs = { context: { values: answer?.values ?? {} }, meta: NO_META };
    const argument = isOfStandard ? { ...command.argument, extraArgs } : command.argument;
    try {
      const created = await this.ledger.submit(actAs, { ...command, argument }, isBare ? [] : answer?.disclosed);
      for (const [entity, ids] of Object.entries(step.created))
        ids.forEach((id, index) => this.#renames.add(id, created[entity]?.[index] ?? id));
    } catch (error) {
      if (isAccepted || !(error instanceof RejectedError)) throw error;
      this.#rejected++;
      return;
    }
    if (!isAccepted) throw new Error(`${command.choice} is accepted, other than recorded`);
    if (isOfStandard) this.#accepted++;
  }
}

/** Asks until it is served, or refused, as it should be, at most for `waits` milliseconds. */
export async function answerWithin(
  waits: number,
  service: Service,
  { path, body }: Pick<Ask, "path" | "body">,
  isServed: boolean,
): Promise<Context | RefusedError> {
  for (const since = Date.now(); ; await pause(POLL_MS)) {
    const answer = await service.ask(path, body).catch((error: unknown) => {
      if (error instanceof RefusedError) return error;
      throw error;
    });
    if (answer instanceof RefusedError !== isServed || Date.now() - since > waits) return answer;
  }
}
