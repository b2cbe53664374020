/** Reads the value of an option. Throws an error that says what it must be. */
export function parseInteger(option: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new Error(`${option} must be an integer from ${min} to ${max}, but is ${text}`);
}
