import { expect, test } from "vitest";
import type { AnyValue, NamedValue } from "../../../src/registry/sdk/registry.js";
import { contextReply } from "../../../src/service/messages/context-reply.js";
import { contextDigest } from "../../../src/transport/caching/digest.js";

const text = (value: string): AnyValue => ({ tag: "AV_Text", value });
const id = (value: string): AnyValue => ({ tag: "AV_ContractId", value });
const list = (...value: AnyValue[]): AnyValue => ({ tag: "AV_List", value });
const map = (...value: NamedValue[]): AnyValue => ({ tag: "AV_Map", value });
const named = (name: string, value: AnyValue, alias?: string): NamedValue => ({ name, alias, value });

const different: NamedValue[][] = [
  [],
  [named("a", text(""))],
  [named("a", text("")), named("a", text(""))],
  [named("a", text("b"))],
  [named("b", text("b"))],
  [named("a", text("b"), "b")],
  [named("a", text("b"), "a")],
  [named("a", text("b")), named("b", text("b"))],
  [named("b", text("b")), named("a", text("b"))],
  [named("a", id("b"))],
  [named("a", list())],
  [named("a", list(text("b")))],
  [named("a", list(list(text("b"))))],
  [named("a", list(text("b"), text("b")))],
  [named("a", list(list(text("b")), text("b")))],
  [named("a", list(list(text("b"), text("b"))))],
  [named("a", map())],
  [named("a", map(named("a", text("b"))))],
  [named("a", map()), named("a", text("b"))],
  [named("a", { tag: "AV_Bool", value: true })],
  [named("a", { tag: "AV_Bool", value: false })],
  [named("a", { tag: "AV_Party", value: "b" })],
  [named("a", text(" AV_Text 1:b"))],
  [named("a", text("1:b AV_Text"))],
];

const digest = (values: NamedValue[], isPlain = true): string =>
  contextDigest(contextReply({ values, disclosed: [] }, isPlain));

test("different values have different digests, and equal values the same", () => {
  const digests = different.map((values) => digest(values));
  expect(new Set(digests).size).toBe(different.length);
  expect(different.map((values) => digest(structuredClone(values)))).toEqual(digests);
  expect(digest([], false)).not.toBe(digest([]));
});
