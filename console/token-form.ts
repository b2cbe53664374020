import { h } from "./dom.js";
import { notice } from "./parts.js";
import { readToken, writeToken } from "./token.js";
import { field, onSubmit } from "./view.js";

/** Asks for the operator's token. `sentence` is why the service refused the request. */
export function tokenForm(sentence: string, onToken: () => void) {
  // Of type password, so that nobody reads it from the screen.
  const { input, row } = field("Token", { id: "token", type: "password", required: true, pattern: "[!-~]+" });
  const form = h("form", { class: "form narrow" }, row, h("p", {}, h("button", { type: "submit" }, "Continue")));
  onSubmit(form, () => {
    writeToken(input.value.trim());
    onToken();
  });
  const nodes = [
    h("h1", { tabindex: -1 }, "Token required"),
    h(
      "p",
      { class: "intro" },
      "The operator's port needs the token of OFFLEDGER_OPERATOR_TOKEN_FILE. This tab keeps it until it is closed.",
    ),
    ...(readToken() === undefined ? [] : [notice("bad", h("p", {}, sentence))]),
    form,
  ];
  return { nodes, input };
}
