/** The value of a setting cannot be used, such as a file that does not exist. The message names the variable. */
export class SettingError extends Error {
  /** `accepts` follows "must be"; `reason` says what is wrong with the value. */
  constructor(variable: string, accepts: string, reason: string) {
    super(`${variable} must be ${accepts}: ${reason}`);
    this.name = "SettingError";
  }
}
