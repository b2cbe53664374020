/** Most names recur, but callers choose those of a map. */
const MAX_NAMES = 10_000;
const MAX_NAME_LENGTH = 300;

/** Remembers the result of `make` for each name, up to a bound. A name beyond the bound is computed each time. */
export function boundedMemoize<T>(make: (name: string) => T): (name: string) => T {
  const cache = new Map<string, T>();
  return (name) => {
    let value = cache.get(name);
    if (value === undefined) {
      value = make(name);
      if (cache.size < MAX_NAMES && name.length <= MAX_NAME_LENGTH) cache.set(name, value);
    }
    return value;
  };
}

/** Keeps the last result, for calls that repeat with the same object, which must not change. */
export function memoizeLast<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  let last: { readonly key: K; readonly value: V } | undefined;
  return (key) => {
    if (last?.key !== key) last = { key, value: compute(key) };
    return last.value;
  };
}
