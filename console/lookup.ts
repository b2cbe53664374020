/** Views with a form for an id, and what is known of it. */
import { announce } from "./announce.js";
import { h } from "./dom.js";
import { patch } from "./patch.js";
import { link, navigate } from "./route.js";
import { field, onSubmit, type Stage } from "./view.js";

export interface Lookup<T> {
  readonly view: string;
  readonly label: string;
  readonly read: (id: string, signal: AbortSignal) => Promise<T>;
  readonly render: (value: T, id: string) => readonly Node[];
}

/** Shows the form; and the result for the id in the route, if it has one. */
export function lookup<T>(stage: Stage, { view, label, read, render }: Lookup<T>): void {
  const id = stage.query.get("id") ?? "";
  const { input, row } = field(label, { id: "lookup", value: id, required: true });
  const form = h("form", { class: "form", role: "search" }, row, h("p", {}, h("button", { type: "submit" }, "Show")));
  onSubmit(form, () => navigate(link(view, { id: input.value.trim() })));
  const region = h("div", { class: "result" });
  stage.main.append(form, region);
  if (id === "") return;
  patch(region, [h("p", { class: "empty" }, "Loading…")]);
  read(id, stage.signal).then(
    (value) => {
      patch(region, render(value, id));
      announce("The result is shown");
    },
    (error: unknown) => {
      if (!stage.signal.aborted) stage.fail(region, error);
    },
  );
}
