import { expect, test } from "vitest";
import { en } from "../cli/screen/words/en.ts";
import { type Editing, edited, NEW, replaced } from "./editor/edit.ts";
import { Suggestions } from "./suggestions.ts";

test("a command that ↑ brings back from the history offers nothing, so that ↑ goes on; typed, it does", () => {
  const key = (name: string) => ({ kind: "key", name }) as const;
  const app = {
    editing: { ...NEW, history: ["/keys", "/help", "hello"] } as Editing,
    ...{ skills: [], cwd: "/", words: en, changed: () => {}, do: () => {} },
  };
  using suggestions = new Suggestions(app);
  const up = () => {
    if (!suggestions.move("up")) app.editing = edited(app.editing, key("up")) ?? app.editing;
    return app.editing.buffer.text;
  };
  expect([up(), up(), up()]).toEqual(["/keys", "/help", "hello"]);
  app.editing = replaced(app.editing, "/key");
  expect(suggestions.offers().items.map(({ name }) => name)).toEqual(["keys"]);
  app.editing = edited(app.editing, { kind: "text", text: "s" }) ?? app.editing;
  expect(suggestions.offers().items).toHaveLength(1);
});
