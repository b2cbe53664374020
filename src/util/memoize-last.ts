/** Keeps the last result, for calls that repeat with the same object, which must not change. */
export function memoizeLast<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  let last: { readonly key: K; readonly value: V } | undefined;
  return (key) => {
    if (last?.key !== key) last = { key, value: compute(key) };
    return last.value;
  };
}
