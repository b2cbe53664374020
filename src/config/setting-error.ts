import { type Checked, readOperatorFile } from "../util/operator-file.js";

/** The value of a setting cannot be used, such as a file that does not exist. The message names the variable. */
export class SettingError extends Error {
  /** `accepts` follows "must be"; `reason` says what is wrong with the value. */
  constructor(variable: string, accepts: string, reason: string) {
    super(`${variable} must be ${accepts}: ${reason}`);
    this.name = "SettingError";
  }
}

/** Reads the file of a setting. Throws SettingError with every problem, its line and column. */
export async function readSettingFile<T>(
  variable: string,
  accepts: string,
  path: string,
  check: (value: unknown) => Checked<T>,
): Promise<T> {
  const { value, problems } = await readOperatorFile(path, check);
  if (problems === undefined) return value;
  throw new SettingError(variable, accepts, `\n${problems.join("\n")}`);
}
