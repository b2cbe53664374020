/** How many names are remembered, and how long they may be: most come again and again, those of a map may be anything. */
const MOST_NAMES = 10_000;
const LONGEST_NAME = 300;

/** Remembers what is made of names. */
export function boundedMemoize<T>(make: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>();
  return (name) => {
    let made = known.get(name);
    if (made === undefined) {
      made = make(name);
      if (known.size < MOST_NAMES && name.length <= LONGEST_NAME) known.set(name, made);
    }
    return made;
  };
}
