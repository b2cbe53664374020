import { key } from "../../../store/store.js";

/** How many keys are kept of each sort: they are long, and to put one together costs more than to look it up. */
const MOST = 10_000;
/** Whoever asks chooses the values: longer ones than a ledger has are not kept. */
const LONGEST = 300;

/** The keys under which the rules look, one for each way of asking. */
export const keys = {
  factory: ofOne("factory"),
  service: ofOne("service"),
  instrument: ofTwo("instrument"),
  instruments: ofOne("instruments"),
  transferRule: ofOne("transfer-rule"),
  appReward: ofOne("app-reward"),
  featuredAppRight: ofOne("featured-app-right"),
  /** By holder and issuer. */
  credential: ofTwo("credential"),
  /** By receiver and admin. */
  preapproval: ofTwo("preapproval"),
  supply: ofTwo("supply"),
};

function ofOne(index: string): (value: string) => string {
  const known = new Map<string, string>();
  return (value) => {
    if (value.length > LONGEST) return key(index, value);
    let made = known.get(value);
    if (made === undefined) {
      made = key(index, value);
      if (known.size >= MOST) known.clear();
      known.set(value, made);
    }
    return made;
  };
}

function ofTwo(index: string): (first: string, second: string) => string {
  const known = new Map<string, Map<string, string>>();
  let size = 0;
  return (first, second) => {
    if (first.length + second.length > 2 * LONGEST) return key(index, first, second);
    let ofFirst = known.get(first);
    const found = ofFirst?.get(second);
    if (found !== undefined) return found;
    if (size >= MOST) {
      known.clear();
      size = 0;
      ofFirst = undefined;
    }
    if (ofFirst === undefined) known.set(first, (ofFirst = new Map()));
    const made = key(index, first, second);
    ofFirst.set(second, made);
    size++;
    return made;
  };
}
