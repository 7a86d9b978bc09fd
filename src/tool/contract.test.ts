/** What holds for every tool. */
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { O_RDONLY, O_RDWR } from "../abi/device.ts";
import { TOOL_ALIASES } from "../abi/tool.ts";
import bashText from "./bash/bash.md";
import { bash } from "./bash/bash.ts";
import editText from "./edit/edit.md";
import { edit } from "./edit/edit.ts";
import globText from "./glob/glob.md";
import { glob } from "./glob/glob.ts";
import grepText from "./grep/grep.md";
import { grep } from "./grep/grep.ts";
import lsText from "./ls/ls.md";
import { ls } from "./ls/ls.ts";
import multiEditText from "./multi_edit/multi_edit.md";
import { multiEdit } from "./multi_edit/multi_edit.ts";
import notebookEditText from "./notebook_edit/notebook_edit.md";
import { notebookEdit } from "./notebook_edit/notebook_edit.ts";
import { Bench, testScope, textOf } from "./testing/bench.ts";
import type { Tool } from "./tool.ts";
import viewText from "./view/view.md";
import { view } from "./view/view.ts";
import writeText from "./write/write.md";
import { write } from "./write/write.ts";

/** Each tool with its description file, arguments that work on the files of `prepared`, and its row of the table of flags. */
const cases = [
  { tool: bash, text: bashText, args: { command: "true" }, effectClass: "once", parallel: false },
  {
    tool: edit,
    text: editText,
    args: { file_path: "a.txt", old_string: "one", new_string: "1" },
    effectClass: "probe",
    parallel: false,
  },
  { tool: glob, text: globText, args: { pattern: "*.txt" }, effectClass: "none", parallel: true },
  {
    tool: grep,
    text: grepText,
    args: { pattern: "two", mode: "files" },
    effectClass: "none",
    parallel: true,
  },
  { tool: ls, text: lsText, args: {}, effectClass: "none", parallel: true },
  {
    tool: multiEdit,
    text: multiEditText,
    args: { file_path: "a.txt", edits: [{ old_string: "one", new_string: "1" }] },
    effectClass: "probe",
    parallel: false,
  },
  {
    tool: notebookEdit,
    text: notebookEditText,
    args: { notebook_path: "n.ipynb", cell_id: "c", new_source: "x" },
    effectClass: "probe",
    parallel: false,
  },
  { tool: view, text: viewText, args: { file_path: "missing.txt" }, effectClass: "none", parallel: true },
  {
    tool: write,
    text: writeText,
    args: { file_path: "d/new.txt", content: "x" },
    effectClass: "probe",
    parallel: false,
  },
] as const;
const tools: readonly Tool[] = cases.map((one) => one.tool);

function bench(): Bench {
  const made = new Bench(tools);
  onTestFinished(() => made[Symbol.dispose]());
  made.put("a.txt", "one\ntwo\n");
  made.put("b.txt", "two\n");
  made.put("n.ipynb", '{"cells":[{"cell_type":"raw","id":"c","source":"a"}],"nbformat":4}');
  return made;
}

/** What is changed must have been viewed. */
async function see(made: Bench): Promise<void> {
  for (const file_path of ["a.txt", "n.ipynb"]) await made.call("view", { file_path });
}

const scope = testScope("/w");

describe.each(cases)("$tool.name", ({ tool, text, args, effectClass, parallel }) => {
  const examples = [...text.matchAll(/```json\n([\s\S]*?)```/g)].map((match) => match[1] ?? "");

  test("description has examples, and each is a call", () => {
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples)
      expect(tool.bind(JSON.parse(example), scope).effects.length).toBeGreaterThan(0);
  });

  test("description names the parameters, defaults and limits of the code", () => {
    expect(text.split("\n").length).toBeLessThanOrEqual(40);
    const properties = Object.keys(tool.inputSchema.properties as object);
    const listed = [...text.matchAll(/^- ((?:`\w+`(?:, )?)+):/gm)].flatMap((m) =>
      (m[1] ?? "").replaceAll("`", "").split(", "),
    );
    expect(listed.sort()).toEqual([...properties].sort());
    for (const [name, schema] of Object.entries(fullProperties(tool))) {
      const line =
        text.split("\n").find((row) => row.startsWith("- ") && row.split(":")[0]?.includes(`\`${name}\``)) ??
        "";
      for (const limit of limitsOf(schema)) expect(line, `${name}: ${limit}`).toContain(limit);
    }
  });

  test("model-facing text and schema are terse", () => {
    expect(tool.description).not.toBe("");
    expect(Buffer.byteLength(tool.description)).toBeLessThanOrEqual(500);
    expect(JSON.stringify(tool.inputSchema)).not.toMatch(
      /\$schema|additionalProperties|9007199254740991|"default"/,
    );
  });

  test("plan: effects are pure data, flags as in the table", async () => {
    const made = bench();
    const [first, second] = [await made.plan(tool.name, args), await made.plan(tool.name, args)];
    expect(structuredClone(first.effects)).toEqual(second.effects);
    expect(JSON.parse(JSON.stringify(first.effects))).toEqual(first.effects);
    expect(made.asked).toEqual([]);
    expect(first).toMatchObject({ tool: tool.name, effectClass, parallel });
    expect(first.view?.operation).not.toMatch(/\n|^$/);
  });

  test("unknown key: INVALID with the known ones", async () => {
    const known = Object.keys(tool.inputSchema.properties as object).join(", ");
    await expect(bench().plan(tool.name, { ...args, lines: 1 })).rejects.toMatchObject({
      code: "INVALID",
      message: `${tool.name}: unknown key "lines". Known: ${known}`,
    });
  });

  test("missing argument: INVALID naming it", async () => {
    for (const name of (tool.inputSchema.required ?? []) as string[]) {
      const rest = Object.fromEntries(Object.entries(args).filter(([key]) => key !== name));
      await expect(bench().plan(tool.name, { ...rest, [name]: null })).rejects.toMatchObject({
        code: "INVALID",
        message: `${tool.name}: ${name} is required`,
      });
    }
  });

  test.each(["", "{", "[]", "null", '"x"', "\xff"])("no JSON object (%j): INVALID", async (data) => {
    await expect(bench().plan(tool.name, data)).rejects.toMatchObject({ code: "INVALID" });
  });

  test("run stays within its effects, and gives a result", async () => {
    const made = bench();
    await see(made);
    made.asked = [];
    const result = await made.call(tool.name, args);
    expect(made.asked.length).toBeGreaterThan(0);
    expect(result.error?.code).not.toBe("PERMISSION");
    expect(result.ok).toBe(tool.name !== "view");
    if (result.ok) expect(tool.meta?.safeParse(result.meta).error).toBeUndefined();
    expect(result.content).toHaveLength(1);
    expect(textOf(result)).not.toBe("");
    if (!result.ok)
      expect(textOf(result)).toContain(`Error [${result.error?.code}]: ${result.error?.message}`);
  });

  test("prepare stays within what only reads", async () => {
    const made = bench();
    await see(made);
    await made
      .prepare(tool.name, args)
      .catch((error: { code: string }) => expect(error.code).toBe("NOT_FOUND"));
  });

  test("a cancelled call ends with CANCELLED, as data", async () => {
    if (tool.interrupt === "block") return;
    const result = await bench().call(tool.name, args, AbortSignal.abort());
    expect(result).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
  });

  test("stat and open by name and alias", async () => {
    const { device, caller } = bench();
    const alias = Object.entries(TOOL_ALIASES).find(([, name]) => name === tool.name)?.[0] ?? tool.name;
    for (const name of [tool.name, alias])
      expect(await device.stat?.(`/${name}`, caller)).toMatchObject({
        name: tool.name,
        tool: { name: tool.name, parallel },
      });
    await expect(device.open(`/${tool.name}`, O_RDONLY, caller)).rejects.toMatchObject({ code: "INVALID" });
    await (await device.open(`/${alias}`, O_RDWR, caller)).close();
  });
});

test("all schemas and descriptions together leave room for a prompt in 8,000 bytes", () => {
  const specs = tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    input_schema: inputSchema,
  }));
  const sizes = specs.map((spec) => `${spec.name} ${Buffer.byteLength(JSON.stringify(spec))}`);
  expect(Buffer.byteLength(JSON.stringify(specs)), sizes.join(", ")).toBeLessThanOrEqual(5200);
});

function fullProperties(tool: Tool): Record<string, Record<string, unknown>> {
  return (z.toJSONSchema(tool.args, { io: "input" }).properties ?? {}) as Record<
    string,
    Record<string, unknown>
  >;
}

/** Numbers and words that the description must repeat; long strings are told in words of their own. */
function limitsOf(schema: Record<string, unknown>): string[] {
  const { minimum, maximum, default: usual, enum: choices, maxLength } = schema;
  const numbers = [
    minimum,
    maximum,
    usual,
    typeof maxLength === "number" && maxLength < 1_000_000 ? maxLength : undefined,
  ];
  const small = numbers.filter(
    (n): n is number => typeof n === "number" && Math.abs(n) < Number.MAX_SAFE_INTEGER && n !== 0,
  );
  return [...small.map(String), ...(Array.isArray(choices) ? choices.map((choice) => `\`${choice}\``) : [])];
}
