import { h } from "./dom.js";

/** What a view may use until the user leaves it. */
export interface Stage {
  /** Where the view is. Its heading is there already. */
  readonly main: HTMLElement;
  /** The parameters of the route. */
  readonly query: URLSearchParams;
  /** Aborted when the user leaves the view. */
  readonly signal: AbortSignal;
  /** Shows an error in place of `region`; asks for the token if that is what is wrong. */
  fail(region: HTMLElement, error: unknown): void;
}

export interface View {
  readonly name: string;
  readonly title: string;
  /** A sentence under the heading. */
  readonly intro: string;
  show(stage: Stage): void;
}

/** A text field with its label. */
export function field(label: string, attributes: Readonly<Record<string, string | number | boolean | undefined>>) {
  const input = h("input", { type: "text", autocomplete: "off", spellcheck: "false", ...attributes });
  return { input, row: h("p", { class: "field" }, h("label", { for: input.id }, label), input) };
}

/** A text field of several lines with its label. */
export function area(label: string, attributes: Readonly<Record<string, string | number | boolean | undefined>>) {
  const input = h("textarea", { autocomplete: "off", spellcheck: "false", rows: 6, ...attributes });
  return { input, row: h("p", { class: "field" }, h("label", { for: input.id }, label), input) };
}

/** Calls `run` when a form is sent, by button or by key. */
export function onSubmit(form: HTMLFormElement, run: () => void): void {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
}
