/** What a setting names cannot be used. The message names the variable, and says what is wrong with it. */
export class SettingError extends Error {
  constructor(variable: string, takes: string, reason: string) {
    super(`${variable} takes ${takes}: ${reason}`);
    this.name = "SettingError";
  }
}
