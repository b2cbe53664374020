/**
 * A turn of the event loop: what has come by all connections is read first, and
 * small requests are answered behind that, one after the other. Between two
 * readings of sockets everything that answers a request has to be fetched anew into
 * the processor's caches; so it is fetched once for several.
 */

/** So many answers wait for each other at most. */
const MOST = 16;

let answers: (() => void)[] = [];
let ends: (() => void)[] = [];
let hasBegun = false;

/** Gives an answer at the end of this turn, or when enough others wait. It must not throw. */
export function behindReading(answer: () => void): void {
  begin();
  if (answers.push(answer) >= MOST) giveAnswers();
}

/** Calls back when all that was read in this turn has been answered. */
export function whenAnswered(end: () => void): void {
  begin();
  ends.push(end);
}

function begin(): void {
  if (hasBegun) return;
  hasBegun = true;
  setImmediate(finish);
}

function finish(): void {
  hasBegun = false;
  giveAnswers();
  const all = ends;
  ends = [];
  for (const end of all) end();
}

function giveAnswers(): void {
  const all = answers;
  answers = [];
  for (const answer of all) answer();
}
