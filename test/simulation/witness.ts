/** Compares what followers hold, and what their feeds tell, with what was committed to the log. */
import { type Contract, newestFirst, packageIdOf } from "../../src/domain/contract.js";
import { type Template, unreadableTemplate } from "../../src/domain/template.js";
import { idHash, registrarHash, sumHash, type Tag, tagOf, touchedLookups } from "../../src/state/lookup-hash.js";
import type { ChangeFeed, View } from "../../src/state/port.js";
import type { Random } from "../ingest/database/random.js";
import { type Committed, sumsOf } from "../state/array-log.js";

/** At how many earlier positions a client resumes, each time that a follower has moved. */
const RESUMED = 4;

interface Seen {
  readonly contracts: readonly Contract[];
  /** The ids that are known to be archived, each with its registrar, or nothing. */
  readonly archived: ReadonlyMap<string, string>;
  readonly sums: ReadonlyMap<string, bigint>;
  readonly counts: ReadonlyMap<string, number>;
}

export class Witness {
  readonly #templates: readonly Template[];
  readonly #random: Random;
  /** What was committed at a generation and an offset: of several histories, if both the ledger and the log were restored. */
  readonly #commits = new Map<string, Committed[]>();
  readonly #before = new WeakMap<Committed, Committed>();
  readonly #results = new WeakMap<Committed, ReadonlyMap<Tag, string>>();
  /** Where clients have been. */
  readonly #positions: Committed[] = [];
  readonly #archivedIds = new Set<string>();
  readonly #sumNames = new Set<string>();
  readonly #registrars = new Set<string>();
  readonly counts = { states: 0, resumed: 0, reset: 0 };

  constructor(templates: readonly Template[], random: Random) {
    this.#templates = templates.flatMap((template) => [template, unreadableTemplate(template)]);
    this.#random = random;
  }

  committed(commit: Committed, before: Committed | undefined): void {
    const key = keyOf(commit);
    this.#commits.set(key, [...(this.#commits.get(key) ?? []), commit]);
    if (before !== undefined) this.#before.set(commit, before);
    for (const id of commit.archived.keys()) this.#archivedIds.add(id);
    for (const { supply } of [...commit.contracts.values(), ...commit.counted.values()]) {
      if (supply !== undefined) this.#sumNames.add(supply.sum);
    }
    for (const { template, fields } of commit.contracts.values()) {
      const registrar = template.registrarOf?.(fields);
      if (registrar !== undefined) this.#registrars.add(registrar);
    }
  }

  /** What is wrong with a follower that has just moved; undefined if nothing is. */
  moved(view: View, feed: ChangeFeed, isOfLedger: (commit: Committed) => boolean): string | undefined {
    this.counts.states++;
    const key = keyOf(view);
    const made = this.#commits.get(key) ?? [];
    const text = this.#textOfView(view);
    const commit = made.findLast((one) => this.#textOf(one) === text);
    const [expected] = made;
    if (expected === undefined) return `it is at ${key}, where nothing was committed`;
    if (commit === undefined) return `at ${key} it has\n${text}\nbut committed was\n${this.#textOf(expected)}`;
    if (feed.position?.generation !== view.generation || feed.position.offset !== view.offset)
      return `its feed is at ${JSON.stringify(feed.position)}, and its state at ${key}`;
    const wrong = this.#resume(commit, feed, isOfLedger);
    if (!this.#positions.includes(commit)) this.#positions.push(commit);
    return wrong;
  }

  /** Clients resume at positions where they were, with this follower or another. */
  #resume(now: Committed, feed: ChangeFeed, isOfLedger: (commit: Committed) => boolean): string | undefined {
    const before = this.#before.get(now);
    const some = Array.from({ length: RESUMED }, () => this.#positions[this.#random.below(this.#positions.length)]);
    for (const from of [before, ...some]) {
      if (from === undefined || from.offset > now.offset) continue;
      // Both the log and the ledger were restored: what is between them is of another history.
      if (!this.#leadsTo(from, now) && !(isOfLedger(from) && isOfLedger(now))) continue;
      const changes = feed.since({ generation: String(from.generation), offset: from.offset, asOf: from.asOf });
      if (changes === undefined) {
        this.counts.reset++;
        continue;
      }
      this.counts.resumed++;
      const isTold = (tag: Tag) => changes.some(({ tags }) => tags.has(tag));
      const [old, current] = [this.#resultsOf(from), this.#resultsOf(now)];
      const missed = [...new Set([...old.keys(), ...current.keys()])].find(
        (tag) => old.get(tag) !== current.get(tag) && !isTold(tag),
      );
      if (missed !== undefined)
        return `a client that resumes at ${keyOf(from)} is not told at ${keyOf(now)} that ${old.get(missed) ?? "nothing"} is now ${current.get(missed) ?? "nothing"}`;
    }
    return undefined;
  }

  #leadsTo(from: Committed, to: Committed): boolean {
    for (let at: Committed | undefined = to; at !== undefined; at = this.#before.get(at)) if (at === from) return true;
    return false;
  }

  #textOfView(view: View): string {
    const contracts = this.#templates.flatMap((template) => view.all(template));
    for (const contract of contracts) {
      const { template, contractId, indexKeys } = contract;
      const isFound = [view.byId(template, contractId), ...indexKeys.map((key) => view.byKey(template, key))]
        .flat()
        .includes(contract);
      if (!isFound) return `${contractId} is listed, but not found`;
      for (const key of indexKeys) {
        const expected = contracts.filter((one) => one.template === template && one.indexKeys.includes(key));
        if (text(view.byKey(template, key)) !== text(expected.toSorted(newestFirst))) return `${key} finds others`;
      }
    }
    const counts = view.templateCounts().map(({ template, packageId, count }) => {
      return [`${packageId} ${template.packageName} ${template.qualifiedName}`, count] as const;
    });
    const names = [...this.#sumNames];
    const sums = view.sums(names);
    return describe({
      contracts,
      archived: this.#graves((id, registrar) => view.wasArchived(id, registrar)),
      sums: new Map(names.map((name, index) => [name, sums[index] ?? 0n])),
      counts: new Map(counts),
    });
  }

  #graves(wasArchived: (contractId: string, registrar?: string) => boolean): ReadonlyMap<string, string> {
    const graves = [...this.#archivedIds].filter((id) => wasArchived(id));
    return new Map(graves.map((id) => [id, [...this.#registrars].filter((one) => wasArchived(id, one)).join(" ")]));
  }

  #textOf(commit: Committed): string {
    const contracts = [...commit.contracts.values()];
    const counts = new Map<string, number>();
    for (const { templateId, template } of contracts) {
      const name = `${packageIdOf(templateId)} ${template.packageName} ${template.qualifiedName}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    const sums = sumsOf(commit);
    return describe({
      contracts: this.#templates.flatMap((template) =>
        contracts.filter((one) => one.template === template).toSorted(newestFirst),
      ),
      archived: this.#graves((id, registrar) =>
        registrar === undefined ? commit.archived.has(id) : commit.archived.get(id) === registrarHash(registrar),
      ),
      sums: new Map([...this.#sumNames].map((name) => [name, sums.get(sumHash(name)) ?? 0n])),
      counts,
    });
  }

  /** What each lookup finds, by its tag. */
  #resultsOf(commit: Committed): ReadonlyMap<Tag, string> {
    const known = this.#results.get(commit);
    if (known !== undefined) return known;
    const results = new Map<Tag, string>();
    const add = (tag: Tag, found: string) => results.set(tag, `${results.get(tag) ?? ""}${found}; `);
    for (const contract of [...commit.contracts.values()].toSorted(newestFirst)) {
      for (const hash of touchedLookups(contract)) add(tagOf(hash), line(contract));
    }
    for (const [id, registrar] of commit.archived) add(tagOf(idHash(id)), `${id} archived ${registrar ?? ""}`);
    for (const [sum, amount] of sumsOf(commit)) add(tagOf(sum), `sum ${amount}`);
    this.#results.set(commit, results);
    return results;
  }
}

const keyOf = ({ generation, offset }: { readonly generation: string | number; readonly offset: number }): string =>
  `${generation} ${offset}`;

function describe({ contracts, archived, sums, counts }: Seen): string {
  const sorted = (entries: Iterable<readonly [string, unknown]>) =>
    [...entries]
      .map(([name, value]) => `${name} ${String(value)}`)
      .toSorted()
      .join(", ");
  return [text(contracts), sorted(archived), sorted(sums), sorted(counts)].join("\n");
}

const text = (contracts: readonly Contract[]): string => contracts.map(line).join("; ");

const line = ({ contractId, synchronizerId, reassignmentCounter, fields, templateId }: Contract): string =>
  `${contractId} ${synchronizerId ?? "between"} ${reassignmentCounter} ${templateId} ${JSON.stringify(fields)}`;
