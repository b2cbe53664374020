/** The views of interfaces that a participant shows of a contract. */
import { SharedStrings } from "../domain/shared-strings.js";
import { partsOf, type Template } from "../domain/template.js";
import { packViews, type ShownContract, TOKEN_INTERFACES, type TokenInterface } from "../domain/token-interfaces.js";
import type { JsonObject, JsonValue } from "../util/json.js";
import { fieldsOf, requireObject, requireString } from "./json-fields.js";

/** A view that the participant could not compute. */
export class ViewFailure extends Error {
  override readonly name = "ViewFailure";

  /**
   * `choice`: what failed for a package that the participant has chosen when the stream was opened: on another stream it may
   * choose another. The interface, and the name of the contract's package. Undefined for a failure of the template itself.
   */
  constructor(
    message: string,
    readonly choice: string | undefined,
  ) {
    super(message);
  }
}

/**
 * The participant computes views with the latest package that is vetted, which it chooses once for each stream: none may have
 * been, or one that is older than the contract. A template's own failure, as DAML_FAILURE, is the same on every stream.
 */
const OF_CHOICE =
  /^(?:NO_VETTED_INTERFACE_IMPLEMENTATION_PACKAGE|NOT_CONNECTED_TO_ANY_SYNCHRONIZER|COMMAND_PREPROCESSING_FAILED)\(/;

interface InterfaceView {
  /** `packageId:Module:Interface`. */
  readonly interfaceId: string;
  readonly view: JsonObject;
}

function viewsIn({ interfaceViews = [] }: JsonObject): InterfaceView[] {
  if (!Array.isArray(interfaceViews)) throw new Error("interfaceViews must be a list");
  return interfaceViews.map((one) => {
    const view = requireObject(one, "interfaceViews[]");
    return { interfaceId: requireString(view, "interfaceId"), view };
  });
}

/** `Module:Interface`. */
const nameOf = (interfaceId: string): string => interfaceId.slice(interfaceId.indexOf(":") + 1);

const interfaces: ReadonlyMap<string, TokenInterface> = new Map(
  TOKEN_INTERFACES.map((one) => [one.qualifiedName, one]),
);

/** The names of the interfaces that a created event shows, as `Module:Interface`. */
export const viewNamesIn = (event: JsonObject): ReadonlySet<string> =>
  new Set(viewsIn(event).map(({ interfaceId }) => nameOf(interfaceId)));

/**
 * Throws a ViewFailure that names a view which the participant could not compute, and an Error that names one whose interface is
 * not the published one.
 */
export function shownOf(event: JsonObject, strings: SharedStrings): ShownContract {
  const views = new Map<TokenInterface, JsonObject>();
  for (const { interfaceId, view } of viewsIn(event)) {
    const known = interfaces.get(nameOf(interfaceId));
    if (known === undefined) continue;
    if (interfaceId !== `${known.packageId}:${known.qualifiedName}`)
      throw new Error(`interface ${interfaceId} is not the published one, of package ${known.packageId}`);
    const { code, message } = fieldsOf(view.viewStatus);
    if (code !== undefined && code !== 0)
      throw new ViewFailure(
        `the participant could not compute the view of ${interfaceId}: ${JSON.stringify({ code, message })}`,
        typeof message === "string" && OF_CHOICE.test(message)
          ? `${interfaceId} of ${requireString(event, "packageName")}`
          : undefined,
      );
    views.set(known, strings.shareIn(requireObject(view.viewValue, `the view of ${interfaceId}`)) as JsonObject);
  }
  return { views };
}

/** Whether a view of a created event fails for a choice. */
export function failsFor(created: JsonValue, choice: string): boolean {
  try {
    shownOf(requireObject(created, "createdEvent"), new SharedStrings());
    return false;
  } catch (error) {
    return error instanceof ViewFailure && error.choice === choice;
  }
}

/** What a body keeps of them: those that its templates read, which is the later version where a contract shows both. */
export function viewsText(template: Template, { views }: ShownContract, payload: JsonObject): string {
  const read = new Map<TokenInterface, JsonObject>();
  for (const { interfaces: named = [] } of partsOf(template)) {
    const shown = named.filter((one) => views.has(one));
    for (const one of shown) {
      const isLatest = shown.every(({ kind, version }) => kind !== one.kind || version <= one.version);
      const view = views.get(one);
      if (isLatest && view !== undefined) read.set(one, view);
    }
  }
  return packViews(read, payload);
}
