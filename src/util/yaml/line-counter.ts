/** A function from an offset of the text to its line, from 1, which searches in the offsets of all line ends. */
export function lineCounter(text: string): (offset: number) => number {
  const ends: number[] = [];
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) ends.push(end);
  return (offset) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}
