/** Whether a field has a JSON object or nothing. If not, the browser says so at the field. */
export function isObjectText(input: HTMLTextAreaElement): boolean {
  const problem = problemOf(input.value.trim());
  input.setCustomValidity(problem);
  input.addEventListener("input", () => input.setCustomValidity(""), { once: true });
  return problem === "" || input.reportValidity();
}

function problemOf(text: string): string {
  if (text === "") return "";
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null && !Array.isArray(value) ? "" : "It must be a JSON object.";
  } catch (error) {
    return `It must be JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}
