import type { Call } from "../fixtures/protocols.js";
import type { Deployment } from "./deployment.js";
import { type HttpResponse, isNotModified, type Kept, parseKept } from "./documented-client.js";
import type { History } from "./history.js";

/** Answers whose tags are checked against later changes, for each request. */
const MAX_ANSWERS = 4;

interface Tagged {
  readonly call: Call;
  readonly answers: readonly Kept[];
}

/** Answers whose tags have not changed since. They must be the same. */
export class TaggedAnswers {
  /** By request. */
  readonly #tagged = new Map<string, Tagged>();

  note(key: string, call: Call, { status, headers, body }: HttpResponse): void {
    const kept = status === 200 && !isNotModified(headers) ? parseKept(key, body, headers) : undefined;
    if (kept === undefined) return;
    const answers = [...(this.#tagged.get(key)?.answers ?? []), kept].slice(-MAX_ANSWERS);
    this.#tagged.set(key, { call, answers });
  }

  /** Of another generation, nothing is known. */
  clear(): void {
    this.#tagged.clear();
  }

  /** Throws an Error if one has changed and none of its tags has, before its time is over. */
  async check(deployment: Deployment, history: History): Promise<void> {
    const generation = await deployment.generation();
    for (const [key, { call, answers }] of this.#tagged) {
      const left: Kept[] = [];
      for (const kept of answers) {
        // A replica that has not seen a restore yet still answers from the state before: offsets do not compare.
        if (kept.generation !== generation) continue;
        const changed = await deployment.changedSince(kept.offset);
        if (changed === undefined || [...changed].some(kept.hasTag)) continue;
        if (deployment.clocks.now() * 1000 >= kept.validUntil) continue;
        left.push(kept);
        const now = await history.answer(history.latest, call);
        if (now !== kept.body)
          throw new Error(`no tag of an answer has changed, but it has: ${key}\nwas ${kept.body}\nnow ${now}`);
      }
      this.#tagged.set(key, { call, answers: left });
    }
  }
}
