import { get, pathWith } from "../api.js";
import { h } from "../dom.js";
import { shortOperation } from "../format.js";
import type { Contract, StoredContract } from "../messages.js";
import { badge, empty, explainLink, definitionList, id, jsonBlock, section, timeOf } from "../parts.js";
import { lookup } from "../lookup.js";
import type { View } from "../view.js";

export const contract: View = {
  name: "contract",
  title: "Contract",
  intro: "A contract by its id, as this process stores it.",
  show: (stage) =>
    lookup<StoredContract>(stage, {
      view: "contract",
      label: "Contract id",
      read: (cid, signal) => get(pathWith("console/contracts", cid), signal),
      render,
    }),
};

function render({
  contract: stored,
  payload,
  views = {},
  archived = false,
  calls = [],
}: StoredContract): readonly Node[] {
  if (stored === undefined)
    return [
      empty(
        archived
          ? "It is archived."
          : "It is not stored here: it is unknown, of no template that is read, or archived.",
      ),
    ];
  return [
    contractFacts(stored, archived),
    section(
      "Requests about it",
      calls.length === 0
        ? empty("None that can be explained.")
        : h(
            "ul",
            {},
            ...calls.map((call) =>
              h("li", {}, h("a", { href: explainLink(call) }, `Explain ${shortOperation(call.operation ?? "")}`)),
            ),
          ),
    ),
    ...Object.entries(views).map(([interfaceId, view]) => {
      const title = `View of ${interfaceId.slice(interfaceId.indexOf(":") + 1)}`;
      return section(title, jsonBlock(title, view, true));
    }),
    section(
      "Create arguments",
      payload === undefined ? empty("They are not stored.") : jsonBlock("Create arguments", payload, true),
    ),
  ];
}

function contractFacts(stored: Contract, archived: boolean): HTMLElement {
  const {
    contractId = "",
    template,
    packageId = "",
    packageName = "",
    packageVersion = "",
    synchronizer = "",
    createdAt,
  } = stored;
  return definitionList(
    ["Contract id", id(contractId, "contract id")],
    ["State", archived ? badge("archived", "bad") : badge("active", "good")],
    ["Template", template],
    ["Package", `${packageName} ${packageVersion}`.trim()],
    ["Package id", packageId !== "" && id(packageId, "package id")],
    ["Synchronizer", synchronizer === "" ? "between two: it is being reassigned" : id(synchronizer, "synchronizer")],
    ["Created", createdAt !== undefined && timeOf(createdAt)],
  );
}
