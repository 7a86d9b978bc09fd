import { expect, it } from "vitest";
import { besideOf } from "./parts.ts";

const tokens = (value: unknown) => Math.ceil(JSON.stringify(value).length / 4);
const tool = (name: string, description: string) => ({ name, description, inputSchema: {} });

it("besideOf() sums what a request has beside its messages by parts, and counts what stays once", () => {
  let reads = 0;
  const bash = {
    ...tool("bash", ""),
    get description() {
      reads++;
      return "d".repeat(400);
    },
  };
  const [log, view] = [tool("mcp__git__log", "m".repeat(80)), tool("view", "v".repeat(40))];
  const tools = [bash, log, view];
  const sections = [
    { part: "memory", text: "n".repeat(40) },
    { part: "memory", text: "n".repeat(20) },
  ] as const;
  const system = [{ text: "s".repeat(100), zone: "static" }] as const;
  const first = besideOf({ system, tools, sections });
  const all = tokens(tool("bash", "d".repeat(400))) + tokens(view);
  expect(first).toEqual({ system: tokens(system), tools: all, mcp: tokens(log), memory: 15 });
  const longer = [{ text: "s".repeat(200), zone: "static" }] as const;
  const more = besideOf({ system: longer, tools: [...tools], sections });
  expect(more).toEqual({ ...first, system: tokens(longer) });
  expect(reads).toBe(1);
  const few = besideOf({ system, tools: [view], sections: [] });
  expect(few).toEqual({ system: tokens(system), tools: tokens(view) });
});
