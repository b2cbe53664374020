import { indexKey } from "../../../domain/template.js";

/** How many keys are kept of each sort: they are long, and to put one together costs more than to look it up. */
const MOST = 10_000;
/** Whoever asks chooses the values: longer ones than a ledger has are not kept. */
const LONGEST = 300;

/** The keys under which the rules look, one for each way of asking. */
export const indexKeys = {
  factory: ofOne("factory"),
  service: ofOne("service"),
  instrument: ofTwo("instrument", "first"),
  instruments: ofOne("instruments"),
  transferRule: ofOne("transfer-rule"),
  appReward: ofOne("app-reward"),
  featuredAppRight: ofOne("featured-app-right"),
  /** By holder and issuer. */
  credential: ofTwo("credential", "second"),
  /** By receiver and admin. */
  preapproval: ofTwo("preapproval", "second"),
  supply: ofTwo("supply", "first"),
};

/** Most questions are about one registrar, one provider and one issuer: what was asked for last is not looked up. */
function ofOne(index: string): (value: string) => string {
  const known = new Map<string, string>();
  let last = "";
  let lastMade = indexKey(index, last);
  return (value) => {
    if (value === last) return lastMade;
    if (value.length > LONGEST) return indexKey(index, value);
    let made = known.get(value);
    if (made === undefined) {
      made = indexKey(index, value);
      if (known.size >= MOST) known.clear();
      known.set(value, made);
    }
    last = value;
    lastMade = made;
    return made;
  };
}

/** `common` is that of the two values which most questions share. */
function ofTwo(index: string, common: "first" | "second"): (first: string, second: string) => string {
  const known = new Map<string, Map<string, string>>();
  let size = 0;
  let last = "";
  let ofLast = new Map<string, string>();
  return (first, second) => {
    if (first.length + second.length > 2 * LONGEST) return indexKey(index, first, second);
    const [shared, other] = common === "first" ? [first, second] : [second, first];
    if (shared !== last) {
      ofLast = known.get(shared) ?? new Map<string, string>();
      last = shared;
    }
    const found = ofLast.get(other);
    if (found !== undefined) return found;
    if (size >= MOST) {
      known.clear();
      ofLast.clear();
      size = 0;
    }
    const made = indexKey(index, first, second);
    known.set(shared, ofLast.set(other, made));
    size++;
    return made;
  };
}
