import { expect, test } from "vitest";
import { search } from "./query.ts";
import { DEFAULT_WEIGHTS, RankIndex } from "./rank.ts";
import { deferredSetting } from "./setting.ts";
import { entry } from "./testing.ts";

const entries = [
  entry("notebook_edit", "Changes one cell of a notebook.", "jupyter notebook cell edit"),
  entry("send", "Sends words to another process.", "message another process"),
  entry("mcp__slack__send", "Sends a message to a Slack channel."),
  entry("mcp__slack__list", "Lists channels."),
];
const stock = {
  entries,
  index: new RankIndex(entries),
  loaded: new Set(["view", "bash"]),
  servers: ["slack"],
};
const ask = (query: string, limit = 5) => search(stock, query, limit, DEFAULT_WEIGHTS);
const names = (query: string, limit = 5) => {
  const found = ask(query, limit);
  return found.kind === "text" ? found.names : found.message;
};

test.each([
  ["select:send,NotebookEdit", ["send", "notebook_edit"]],
  ["notebook jupyter", ["notebook_edit"]],
  ["discover:slack channel", ["mcp__slack__send", "mcp__slack__list"]],
  ["+slack send", ["mcp__slack__send", "mcp__slack__list"]],
  ["mcp__slack", ["mcp__slack__list", "mcp__slack__send"]],
  ["mcp__slack__*", ["mcp__slack__list", "mcp__slack__send"]],
  ["select:mcp__slack,send", ["mcp__slack__list", "mcp__slack__send", "send"]],
  ["SendMessage", ["send"]],
  ["weather", []],
  ["select:view", "view is already loaded: call it directly"],
  ["Read", "view is already loaded: call it directly"],
  ["!?", "the query has no word to look for"],
  ["select:", "select: names no tool"],
])("search(%j)", (query, expected) => {
  const found = names(query);
  expect(Array.isArray(found) ? [...found].sort() : found).toEqual(
    Array.isArray(expected) ? [...expected].sort() : expected,
  );
});

test("search() gives schemas, says what is missing and near, and where nothing fits names the servers", () => {
  expect(ask("select:send,sned")).toEqual({
    kind: "text",
    names: ["send"],
    text: 'Call these with tool_call {tool, params}:\n\nsend: Sends words to another process.\nparams: {"type":"object"}\n\nno such tool: sned. Similar: send',
  });
  expect(ask("weather")).toMatchObject({ text: "No tool fits. Mounted servers: slack." });
  expect(names("slack", 1)).toHaveLength(1);
  for (const query of ["mcp__mute", "select:mcp__mute"])
    expect(search({ ...stock, servers: ["mute"] }, query, 5, DEFAULT_WEIGHTS)).toMatchObject({
      text: "the MCP server mute has no tools that can be called now",
    });
});

test.each([
  [{}, { kind: "on" }],
  [{ CRUX_TOOL_SEARCH: "true" }, { kind: "on" }],
  [{ CRUX_TOOL_SEARCH: "false" }, { kind: "off" }],
  [{ CRUX_TOOL_SEARCH: "auto" }, { kind: "auto", percent: 10 }],
  [{ CRUX_TOOL_SEARCH: "auto:25" }, { kind: "auto", percent: 25 }],
  [{ CRUX_TOOL_SEARCH: "auto:0" }, { kind: "on" }],
  [{ CRUX_TOOL_SEARCH: "auto:100" }, { kind: "off" }],
  [{ CRUX_TOOL_SEARCH: "auto:101" }, { kind: "on" }],
  [{ CRUX_TOOL_SEARCH: "maybe" }, { kind: "on" }],
  [{ CRUX_TOOL_SEARCH: "true", CRUX_DISABLE_EXPERIMENTAL: "1" }, { kind: "off" }],
])("deferredSetting(%j)", (env, deferral) => {
  expect(deferredSetting(env).deferral).toEqual(deferral);
});

test("deferredSetting() takes weights that are numbers", () => {
  const env = {
    CRUX_TOOL_SEARCH_WEIGHT_KEYWORD: "1",
    CRUX_TOOL_SEARCH_WEIGHT_TFIDF: "x",
    CRUX_TOOL_SEARCH_MIN_SCORE: "0",
  };
  expect(deferredSetting(env).weights).toEqual({ keyword: 1, tfIdf: 0.6, minScore: 0 });
});
